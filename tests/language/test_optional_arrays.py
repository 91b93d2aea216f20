"""Arguments that are None: the parameter is None in the kernel, and is no argument of its code."""

import sys
import types
from ctypes import c_int64

import numpy as np
import pytest
from stand_in import Tensor, parameters

import mlir_smem.language as sl
from mlir_smem.language.call.errors import CallError
from mlir_smem.runtime import readers, streams

F = sl.f32


@sl.kernel("(M,64), (64), (), (M,64)")
def add_bias(X, bias, scale, Y):
    row = sl.grid(sl.cdiv(sl.multiple_of(X.shape[0], 64), 64)) * 64
    x = sl.load(X[row : row + 64, :])
    if bias is not None:
        x = x + sl.load(bias, axis=0)
    sl.store(x if scale is None else x * scale, Y[row : row + 64, :])


X, BIAS = np.ones((128, 64), np.float32), np.arange(64, dtype=np.float32)


@pytest.mark.parametrize("bias", [BIAS, None], ids=["bias", "no bias"])
@pytest.mark.parametrize("scale", [0.5, None])
def test_a_call_on_the_emulator(bias, scale):
    for x in (X, X[:64]):
        y = np.zeros_like(x)
        add_bias(x, bias, scale, y, on="cpu")
        expected = (x + (0 if bias is None else bias)) * (1 if scale is None else scale)
        assert (y == expected).all()
        add_bias[1](x, bias, scale, y, on="cpu")


def test_it_is_no_argument_of_the_code():
    text = add_bias.mlir(F, None, None, F)
    assert text.count("smem.name") == 2 and '"bias"' not in text
    assert add_bias.mlir(F, F, F, F).count("smem.name") == 4
    assert add_bias.check(F, None, F, F) == ()
    manifest = add_bias.compile(F, None, None, F, emit="ptx").manifest["kernels"][0]
    assert [argument["name"] for argument in manifest["arguments"]] == ["X", "Y"]


def test_what_is_no_array_is_still_refused():
    y = np.zeros_like(X)
    with pytest.raises(CallError, match="M is 128 in X but 64 in Y"):
        add_bias(X, None, 1.0, y[:64], on="cpu")
    with pytest.raises(CallError, match=r"X is \[64\]|X has 1 dimensions; expected 2"):
        add_bias(BIAS, None, 1.0, y, on="cpu")
    with pytest.raises(CallError, match=r"takes 4 arguments \(X, bias, scale, Y\), not 3"):
        add_bias(X, None, y, on="cpu")
    with pytest.raises(sl.TraceError, match="add_bias takes 4 arguments"):
        add_bias.mlir(F, None, F)


def test_an_array_that_the_kernel_needs():
    with pytest.raises(sl.TraceError) as caught:
        add_bias(X, None, 1.0, None, on="cpu")
    assert caught.value.message == "bias or Y is None in this call, and is used as a value"
    assert caught.value.position.line == add_bias.function.__code__.co_firstlineno + 6


def test_types_that_the_signature_fixes():
    @sl.kernel("(64,64):bf16, (64):f32, (64,64):f32")
    def kernel(A, bias, C):
        x = sl.load(A)
        sl.store(x if bias is None else x + sl.load(bias, axis=0), C)

    assert kernel.mlir().count("smem.name") == 3
    assert kernel.mlir(sl.bf16, None, F).count("smem.name") == 2


@pytest.fixture
def launches(gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(readers, "_BY_CLASS", {})
    raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 0)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=raw))
    monkeypatch.setattr(Tensor, "__module__", "torch")
    return gpu.launches


def test_a_launch(launches):
    x, y, array = Tensor((128, 64)), Tensor((128, 64), pointer=0x2000), [c_int64] * 7
    prepared = add_bias.prepare(x, None, None, y)
    for start in (prepared.launch, *[lambda: add_bias(x, None, None, y)] * 2):
        start()
        packed = [p.value for p in parameters(launches[-1], *array, *array)]
        assert (packed[0], packed[7], launches[-1].gridDimX) == (0x1000, 0x2000, 2)
