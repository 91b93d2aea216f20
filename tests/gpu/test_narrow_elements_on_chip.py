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


@sl.kernel("(M,N):(1,?):e4m3, (M,N):(1,?):e4m3, (64,32):e4m3, (64,32):bf16, (2,64,32):bf16")
def edges(X, D, C, Y, P):
    """Loads and stores over the edges, of bytes in columns; an fma and a quotient of bf16."""
    x = sl.load(X[sl.ds(0, 64), sl.ds(0, 32)], sl.e4m3, other=3)
    sl.store(x, C[:, :])
    sl.store(x, D[sl.ds(0, 64), sl.ds(0, 32)], rows=X.shape[0] - 1, columns=X.shape[1])
    y = sl.load(Y[:, :], sl.bf16)
    sl.store(y * y + 1.5, P[0, :, :])
    sl.store(y / 3.0, P[1, :, :])


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


def test_edges_and_arithmetic_of_bf16():
    e4m3, bf16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
    inputs = {
        "X": RNG.standard_normal((18, 50)).astype(e4m3).T,
        "D": np.zeros((18, 50), e4m3).T,
        "C": np.zeros((64, 32), e4m3),
        "Y": RNG.standard_normal((64, 32)).astype(bf16),
        "P": np.zeros((2, 64, 32), bf16),
    }
    measured = _agree(edges, inputs, ["C", "D", "P"])
    assert measured["C"][:50, :18].tobytes() == inputs["X"].tobytes()


@pytest.mark.parametrize("m, n, k", [(192, 16, 256), (512, 16, 4096)])
def test_the_example(m, n, k):
    w, s, x, product = operands(m, n, k)
    inputs = {"W": w, "S": s, "X": x, "C": np.zeros((m, n), np.float32)}
    measured = run_on_gpu(int4_matmul.compile(*inputs.values()), None, inputs, ["C"])["C"]
    assert np.array_equal(measured, product)
