"""The manifests of kernels that are written in a line."""

import json

from programs import kernel, module

import mlir_smem


def kernels(*functions):
    """The manifest of kernels; it must be data that JSON can hold."""
    manifest = mlir_smem.compile(module(*functions), emit="nvvm").manifest
    assert json.loads(json.dumps(manifest)) == manifest
    return manifest["kernels"]


def arguments(text):
    """What the manifest says of a kernel's arguments."""
    return kernels(kernel("", arguments=text))[0]["arguments"]


def at_the_kernel(error):
    """The message of an error that is located at the kernel."""
    place, message = str(error.value).split(": ", 1)
    assert place == "2:3"
    return message
