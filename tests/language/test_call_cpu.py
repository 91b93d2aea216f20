"""Calls on the emulator: results in the given arrays, what is traced again, and what is refused."""

import re
import threading

import ml_dtypes
import numpy as np
import pytest
import text_kernels
from text_kernels import make

import mlir_smem.language as sl
from mlir_smem.codegen import CompileError
from mlir_smem.language.call.errors import CallError
from mlir_smem.runtime import LaunchError


def arrays(size=256, dtype=np.float32):
    return np.arange(size).astype(dtype), np.zeros(size, np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_results_are_in_the_given_arrays(dtype):
    (x, y), scaled = arrays(dtype=dtype), make()
    assert scaled(x, 1.5, y, on="cpu") is None
    assert np.array_equal(y, 3 * x.astype(np.float32))


def test_a_grid_that_is_given():
    (x, y), scaled = arrays(), make()
    scaled[1](x, 1.0, y, on="cpu", grid=False)
    assert np.array_equal(y[:128], 2 * x[:128]) and not y[128:].any()
    scaled[np.int64(2), 1](x, 1.0, y, on="cpu", grid=False)
    assert np.array_equal(y, 2 * x)


def test_other_shapes_are_not_traced_again():
    scaled = make()
    for size in (128, 256, 512):
        x, y = arrays(size)
        scaled(x, 1.0, y, on="cpu")
        assert np.array_equal(y, 2 * x)
    assert scaled.traces == 1


def test_other_types_and_constants_are_traced_again():
    (x, y), (h, _), scaled = arrays(), arrays(dtype=np.float16), make()
    for source, constants in ((x, {}), (h, {}), (x, {"block": 64}), (x, {}), (x, {"block": 64})):
        scaled(source, 1.0, y, on="cpu", **constants)
        assert np.array_equal(y, 2 * x)
    assert scaled.traces == 3


def test_a_global_that_changed_is_traced_again(monkeypatch):
    (x, y), scaled = arrays(), make()
    for factor in (2.0, 3.0, 3.0, 2.0):
        monkeypatch.setattr(text_kernels, "FACTOR", factor)
        scaled(x, 1.0, y, on="cpu")
        assert np.array_equal(y, factor * x)
    assert scaled.traces == 3
    # The fourth call found the IR of the first.
    assert len(scaled._calls._by_text) == 2


def test_threads_trace_once():
    scaled, outcomes = make(), []

    def run():
        x, y = arrays()
        scaled(x, 1.0, y, on="cpu")
        outcomes.append(np.array_equal(y, 2 * x))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 4
    assert scaled.traces == 1


TAKES = "\n  scaled takes X (M), a ():f32, Y (M):f32; given: "

X, Y = arrays()

REFUSED = {
    "two arguments": (
        (X, 1.0),
        "scaled takes 3 arguments (X, a, Y), not 2",
        "X float32[256], a 1.0",
    ),
    "four arguments": (
        (X, 1.0, Y, Y),
        "scaled takes 3 arguments (X, a, Y), not 4",
        "X float32[256], a 1.0, Y float32[256], ? float32[256]",
    ),
    "a matrix": (
        (np.zeros((2, 128), "f4"), 1.0, Y),
        "X has 2 dimensions; expected 1",
        "X float32[2, 128], a 1.0, Y float32[256]",
    ),
    "no array": (
        ([1.0], 1.0, Y),
        "X is [1.0]; expected an array of (M)",
        "X [1.0], a 1.0, Y float32[256]",
    ),
    "an array for a number": (
        (X, X, Y),
        "a is float32[256]; expected a number",
        "X float32[256], a float32[256], Y float32[256]",
    ),
    "extents that disagree": (
        (X, 1.0, np.zeros(128, "f4")),
        "M is 256 in X but 128 in Y",
        "X float32[256], a 1.0, Y float32[128]",
    ),
    "an extent that is no multiple": (
        (X[:100], 1.0, Y[:100]),
        "M is 100; expected a positive multiple of 128",
        "X float32[100], a 1.0, Y float32[100]",
    ),
    "another fixed element type": (
        (X, 1.0, np.zeros(256, "f2")),
        "Y has elements of float16; expected f32",
        "X float32[256], a 1.0, Y float16[256]",
    ),
    "elements that have no type": (
        (np.zeros(256, "c8"), 1.0, Y),
        "X is complex64[256]; expected elements of a type of the language",
        "X complex64[256], a 1.0, Y float32[256]",
    ),
    "a text for a number": (
        (X, "1", Y),
        "a is '1', which is not of type f32",
        "X float32[256], a '1', Y float32[256]",
    ),
    "strides": (
        (X[::2], 1.0, Y[::2]),
        "X has the strides [2]; the kernel takes [1] (elements)",
        "X float32[128], a 1.0, Y float32[128]",
    ),
}


@pytest.mark.parametrize("arguments, message, shown", REFUSED.values(), ids=REFUSED)
def test_arguments_that_do_not_fit(arguments, message, shown):
    with pytest.raises(CallError) as error:
        make()(*arguments, on="cpu")
    assert str(error.value) == message + TAKES + shown


def test_an_array_of_another_library():
    class Tensor:
        shape, dtype = (256,), np.dtype("f4")

    with pytest.raises(
        CallError, match=r"^X is test_call_cpu\.Tensor; the emulator takes NumPy arr"
    ):
        make()(Tensor(), 1.0, Y, on="cpu")


def test_a_kernel_without_a_grid():
    with pytest.raises(CallError) as error:
        make()(X, 1.0, Y, on="cpu", grid=False)
    assert str(error.value).startswith(
        "scaled declares no grid; begin it with sl.grid(...), or call scaled[grid](...)\n"
    )


def test_a_place_that_there_is_not():
    with pytest.raises(LaunchError) as error:
        make()(X, 1.0, Y, on="tpu")
    assert str(error.value) == "on is 'tpu'; expected 'gpu' or 'cpu'"


def test_a_stream_on_the_emulator():
    with pytest.raises(LaunchError) as error:
        make()[2](X, 1.0, Y, on="cpu", stream=7)
    assert str(error.value) == "stream is 7, but the emulator has no streams"


def test_an_architecture_on_a_gpu():
    with pytest.raises(LaunchError) as error:
        make()(X, 1.0, Y, arch="sm_100a")
    assert str(error.value) == (
        "arch is 'sm_100a', but a GPU has its own; with on=\"cpu\" it is emulated"
    )


def test_an_architecture_that_is_emulated():
    (x, y), scaled = arrays(), make()
    scaled(x, 1.0, y, on="cpu", arch="sm_100a")
    assert np.array_equal(y, 2 * x)
    with pytest.raises(CompileError, match="sm_12"):
        scaled(x, 1.0, y, on="cpu", arch="sm_12")


def test_old_traces_are_dropped(monkeypatch):
    monkeypatch.setattr("mlir_smem.language.call.calls._TRACED", 4)
    (x, y), scaled = arrays(), make()
    for block in (8, 16, 32, 64, 128, 256, 8, 256):
        scaled(x, 1.0, y, on="cpu", block=block)
        assert np.array_equal(y, 2 * x)
    assert len(scaled._calls._traced) <= 4 and len(scaled._calls._by_text) <= 4
    assert scaled.traces == 7


@pytest.mark.parametrize("grid", [0, -1, (), (1, 2, 3, 4), 1.5, ("x",), (2, 0)], ids=repr)
def test_a_grid_that_is_none(grid):
    with pytest.raises(LaunchError) as error:
        make()[grid]
    assert str(error.value) == f"a grid has one to three positive extents, not {grid!r}"


def test_a_long_argument_is_shortened():
    with pytest.raises(CallError) as error:
        make()([1.0] * 100, 1.0, Y, on="cpu")
    assert str(error.value).startswith("X is [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1...; expected")


def test_an_array_without_strides_in_the_signature_is_dense():
    @sl.kernel("(M,64), (M,64):(?,1)", sync="manual")
    def double(X, Y):
        row = sl.grid(sl.cdiv(sl.multiple_of(X.shape[0], 64), 64)) * 64
        sl.store(sl.load(X[row : row + 64, :]) * 2.0, Y[row : row + 64, :])

    x = np.arange(128 * 64, dtype=np.float32).reshape(128, 64)
    wide = np.zeros((128, 96), np.float32)
    double(x, wide[:, :64], on="cpu")
    assert np.array_equal(wide[:, :64], 2 * x)
    assert not wide[:, 64:].any()
    message = re.escape(
        "X has the strides [96, 1]; expected a contiguous array, or a signature with strides, "
        "(M,64):(?,1)"
    )
    with pytest.raises(sl.CallError, match=message):
        double(wide[:, :64], x, on="cpu")
