"""Modules in contexts of other bindings packages; tests skip where the package is not installed."""

from importlib import import_module

import pytest

#: Packages of other versions of MLIR than the one in use; the last can hold a Python dialect.
PACKAGES = ("jaxlib.mlir", "iree.compiler", "numba_cuda_mlir._mlir")


def bindings(package):
    """Return the module `ir` of a package; skip the test if it is not installed."""
    return pytest.importorskip(f"{package}.ir", reason=f"{package} is not installed")


def new_context(package, allow_unregistered=True):
    """Return a context of a package, with its dialects."""
    ir = bindings(package)
    context = ir.Context()
    if package == "jaxlib.mlir":
        # jax registers these when it makes a context.
        registry = ir.DialectRegistry()
        import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
        context.append_dialect_registry(registry)
    context.allow_unregistered_dialects = allow_unregistered
    return context


def parse_in(package, text, **options):
    """Return a text as a module of a package."""
    return bindings(package).Module.parse(text, new_context(package, **options))
