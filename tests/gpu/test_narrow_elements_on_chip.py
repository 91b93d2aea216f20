"""Fragments of 8 and 4 bits on the chip: byte for byte what the emulator computes."""

import ml_dtypes
import numpy as np
import pytest
from int4_weights import operands

import mlir_smem.language as sl
from mlir_smem.examples.int4_matmul import int4_matmul
from mlir_smem.layout import pack_nibbles
from mlir_smem.runtime import run_on_cpu, run_on_gpu

RNG = np.random.default_rng(5)


@sl.kernel("(64,32):u8, (64,32):e4m3, (6,64,32), (2,64,64):bf16, (64,64):bf16, (64,64):i8")
def conversions(W, X, R, N, T, B):
    """Every way of elements through registers: packed, converted, cast, interleaved."""
    w, x, tile = sl.load(W[:, :]), sl.load(X[:, :], sl.e4m3), sl.alloc((64, 32), sl.u8)
    results = [
        *(w.to(sl.f32), (w >> 3) * 5, w.bitcast(sl.i8), x.to(sl.f32), x.to(sl.f16), w.to(sl.bf16)),
    ]
    for i, result in enumerate(results):
        sl.store(result.to(sl.f32), R[i, :, :])
    sl.copy(W[:, :], tile)
    sl.store(sl.load(tile.bitcast(sl.i4)).to(sl.bf16) * 0.5, N[0, :, :])
    sl.store(sl.load(tile.bitcast(sl.u4, interleaved=True)).to(sl.bf16), N[1, :, :])
    sl.store(sl.interleave(w & 15, w >> 4).to(sl.bf16), T[:, :])
    sl.store(sl.interleave(w.to(sl.f32), x.to(sl.f32)).to(sl.i8), B[:, :])


@sl.kernel("(64,32):i8, (32,40):(1,32):i8, (64,40):f32, (64,40):i8")
def integer_product(A, B, C, D):
    a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, 40), B.dtype)
    sl.copy(A[:, :], a)
    sl.copy(B[:, :], b)
    acc = sl.mma(a, b)
    sl.store(acc.to(sl.f32) * 0.5, C[:, :])
    sl.store(acc.to(sl.i8), D[:, :])


def _agree(kernel, inputs, outputs):
    types = [inputs[parameter] for parameter in kernel.parameters]
    emulated = run_on_cpu(kernel.compile(*types, emit="nvvm"), None, inputs, outputs, (1,))
    measured = run_on_gpu(kernel.compile(*types), None, inputs, outputs, (1,))
    for output in outputs:
        on_chip, expected = (np.asarray(arrays[output]) for arrays in (measured, emulated))
        assert on_chip.tobytes() == expected.tobytes(), output
    return measured


def test_conversions():
    q = RNG.integers(0, 16, (64, 64))
    inputs = {
        "W": pack_nibbles(q),
        "X": np.arange(64 * 32).astype(np.uint8).reshape(64, 32).view(ml_dtypes.float8_e4m3fn),
        "R": np.zeros((6, 64, 32), np.float32),
        "N": np.zeros((2, 64, 64), ml_dtypes.bfloat16),
        "T": np.zeros((64, 64), ml_dtypes.bfloat16),
        "B": np.zeros((64, 64), np.int8),
    }
    inputs["X"] = np.where(np.isnan(inputs["X"]), inputs["X"].dtype.type(1), inputs["X"])
    measured = _agree(conversions, inputs, ["R", "N", "T", "B"])
    assert np.array_equal(measured["T"].astype(np.int64), q)


def test_an_integer_product_is_converted_and_stored():
    inputs = {
        "A": RNG.integers(-128, 128, (64, 32)).astype(np.int8),
        "B": RNG.integers(-128, 128, (40, 32)).astype(np.int8).T,
        "C": np.zeros((64, 40), np.float32),
        "D": np.zeros((64, 40), np.int8),
    }
    _agree(integer_product, inputs, ["C", "D"])


@pytest.mark.parametrize("m, n, k", [(128, 16, 128), (512, 16, 4096)])
def test_the_example(m, n, k):
    w, s, x, product = operands(m, n, k)
    inputs = {"W": w, "S": s, "X": x, "C": np.zeros((m, n), np.float32)}
    measured = run_on_gpu(int4_matmul.compile(*inputs.values()), None, inputs, ["C"])["C"]
    assert np.array_equal(measured, product)
