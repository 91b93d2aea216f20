"""Manifests of short kernels."""

import json

from programs import kernel, module

import mlir_smem


def kernels(*functions):
    """Return the manifest's kernels; check that the manifest is JSON data."""
    manifest = mlir_smem.compile(module(*functions), emit="nvvm").manifest
    assert json.loads(json.dumps(manifest)) == manifest
    return manifest["kernels"]


def arguments(text):
    """Return the manifest's entries of a kernel's arguments."""
    return kernels(kernel("", arguments=text))[0]["arguments"]


def at_the_kernel(error):
    """Return the message of an error at the kernel's location."""
    place, message = str(error.value).split(": ", 1)
    assert place == "2:3"
    return message
