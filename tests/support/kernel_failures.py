"""The error of tracing a kernel that has a mistake."""

import inspect

import pytest

import mlir_smem.language as sl

F = sl.f32


def failure(function, signature="(M,64), (M,64)", types=(F, F), **options):
    """Trace a function, and return its error, whose position is in the function."""
    options.setdefault("sync", "manual")
    with pytest.raises(sl.TraceError) as caught:
        sl.kernel(signature, **options)(function).trace(*types)
    error = caught.value
    lines, first = inspect.getsourcelines(function)
    assert error.position is not None, error
    assert error.position.file == function.__code__.co_filename
    assert first <= error.position.line < first + len(lines)
    marked = [lines[error.position.line - first]]
    assert "\n" not in error.message
    return error.message, marked[0].strip(), str(error)
