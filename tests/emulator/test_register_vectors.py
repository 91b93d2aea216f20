"""Registers of fragments as vectors: the order of their elements, and the way there and back."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem
from mlir_smem.layout import ARCHS, a_fragment_coordinates, accumulator_coordinates, element
from mlir_smem.runtime import run_on_cpu

ACCUMULATORS = {"f32": np.float32, "f16": np.float16, "i32": np.int32}
SHAPES = [(64, 8), (64, 96), (128, 48), (192, 16), (256, 8)]
SM_90, SM_100 = "sm_90a", "sm_100a"


def run(text, inputs, out, arch=SM_90):
    lowered = mlir_smem.compile(text, emit="nvvm", arch=arch)
    return run_on_cpu(lowered, "kernel", inputs, [out], (1, 1, 1))[out]


def kernel(arguments, body):
    return f"""
gpu.module @kernels {{
  gpu.func @kernel({arguments}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %thread = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {body}
    gpu.return
  }}
}}
"""


def to_registers(m, n, type_):
    count = m * n // 128
    fragment = f"!smem.fragment<tensor<{m}x{n}x{type_}>, #smem.accumulator>"
    matrix, vectors = f"memref<{m}x{n}x{type_}>", f"memref<128x{count}x{type_}>"
    vector = f"vector<{count}x{type_}>"
    return kernel(
        f'%A: {matrix} {{smem.name = "A"}}, %O: {vectors} {{smem.name = "O"}}',
        f"""
    %f = "smem.load"(%A) : ({matrix}) -> {fragment}
    %v = "smem.to_registers"(%f) : ({fragment}) -> {vector}
    vector.store %v, %O[%thread, %c0] : {vectors}, {vector}
    """,
    )


def from_registers(m, n, type_):
    count = m * n // 128
    fragment = f"!smem.fragment<tensor<{m}x{n}x{type_}>, #smem.accumulator>"
    matrix, vectors = f"memref<{m}x{n}x{type_}>", f"memref<128x{count}x{type_}>"
    vector = f"vector<{count}x{type_}>"
    return kernel(
        f'%V: {vectors} {{smem.name = "V"}}, %O: {matrix} {{smem.name = "O"}}',
        f"""
    %v = vector.load %V[%thread, %c0] : {vectors}, {vector}
    %f = "smem.from_registers"(%v) : ({vector}) -> {fragment}
    "smem.store"(%f, %O) : ({fragment}, {matrix}) -> ()
    """,
    )


def matrix_of(m, n, dtype):
    """A matrix whose elements are all different, as far as the type allows."""
    return (np.arange(m * n).reshape(m, n) % 2048).astype(dtype)


@pytest.mark.parametrize("arch", [SM_90, SM_100])
@pytest.mark.parametrize("type_", ACCUMULATORS)
@pytest.mark.parametrize("m, n", SHAPES)
def test_accumulators_have_the_documented_order(m, n, type_, arch):
    matrix = matrix_of(m, n, ACCUMULATORS[type_])
    row, column = np.moveaxis(accumulator_coordinates(m, n, ARCHS[arch[:-1]]), -1, 0)
    vectors = matrix[row, column]
    assert (run(to_registers(m, n, type_), {"A": matrix}, "O", arch) == vectors).all()
    assert (run(from_registers(m, n, type_), {"V": vectors}, "O", arch) == matrix).all()


#: By the MLIR type of A: the type of the vector's elements, those of B and D, and NumPy's type of A.
FRAGMENTS = {
    "bf16": ("bf16", "bf16", "f32", ml_dtypes.bfloat16),
    "f16": ("f16", "f16", "f16", np.float16),
    "tf32": ("f32", "tf32", "f32", np.float32),
    "f8E4M3FN": ("f8E4M3FN", "f8E4M3FN", "f32", ml_dtypes.float8_e4m3fn),
    "i8": ("i8", "ui8", "i32", np.int8),
    "ui8": ("i8", "ui8", "i32", np.uint8),
}


def product(m, n, k, a, arch):
    """D = A * B, where A comes as a vector for each thread; the accumulator starts as C, also as one."""
    held, b, d, _ = FRAGMENTS[a]
    of_b = {"tf32": "f32"}.get(b, b)
    fragment = f"!smem.fragment<tensor<{m}x{k}x{a}>, #smem.a_fragment>"
    vector = f"vector<{m * k // 128}x{held}>"
    vectors = f"memref<128x{m * k // 128}x{held}>"
    tile = f"!smem.tile<tensor<{k}x{n}x{b}>, #smem.auto>"
    source = f"memref<{k}x{n}x{of_b}, strided<[1, {k}]>>"
    ready = f"!smem.fragment<tensor<{m}x{n}x{d}>, #smem.accumulator>"
    flying = f"!smem.fragment<tensor<{m}x{n}x{d}>, #smem.in_flight>"
    c_vector, c_vectors = f"vector<{m * n // 128}x{d}>", f"memref<128x{m * n // 128}x{d}>"
    return kernel(
        f'%A: {vectors} {{smem.name = "A"}}, %B: {source} {{smem.name = "B"}}, '
        f'%C: {c_vectors} {{smem.name = "C"}}, %O: {c_vectors} {{smem.name = "O"}}',
        f"""
    %b = "smem.alloc"() : () -> {tile}
    "smem.copy"(%B, %b) : ({source}, {tile}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %v = vector.load %A[%thread, %c0] : {vectors}, {vector}
    %a = "smem.from_registers"(%v) : ({vector}) -> {fragment}
    %w = vector.load %C[%thread, %c0] : {c_vectors}, {c_vector}
    %c = "smem.from_registers"(%w) : ({c_vector}) -> {ready}
    %d = "smem.mma"(%a, %b, %c) : ({fragment}, {tile}, {ready}) -> {flying}
    %e = "smem.wait"(%d) {{pending = 0 : i32}} : ({flying}) -> {ready}
    %o = "smem.to_registers"(%e) : ({ready}) -> {c_vector}
    vector.store %o, %O[%thread, %c0] : {c_vectors}, {c_vector}
    """,
    )


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize("arch, a", [*((SM_90, a) for a in FRAGMENTS), (SM_100, "bf16")])
def test_vectors_are_multiplied(a, m, arch):
    held, b, d, dtype = FRAGMENTS[a]
    of, row = element({"i8": "s8", "ui8": "u8", "f8E4M3FN": "e4m3"}.get(a, a)), ARCHS[arch[:-1]]
    n, k = 32, 64
    random = np.random.default_rng(0)
    left = random.integers(0, 4, (m, k)).astype(dtype)
    right = random.integers(0, 4, (k, n)).astype(np.uint8 if b == "ui8" else dtype)
    first = random.integers(0, 8, (m, n)).astype(ACCUMULATORS[d])
    rows, columns = np.moveaxis(a_fragment_coordinates(m, k, of, row), -1, 0)
    at = tuple(np.moveaxis(accumulator_coordinates(m, n, row), -1, 0))
    vectors = left[rows, columns].view(np.int8) if held == "i8" else left[rows, columns]
    given = {"A": vectors, "B": np.asfortranarray(right), "C": first[at]}
    found = run(product(m, n, k, a, arch), given, "O", arch)
    assert (found == (left.astype(np.float64) @ right.astype(np.float64) + first)[at]).all()


def test_bits_are_held_in_words():
    m, k = 128, 256
    ready = f"!smem.fragment<tensor<{m}x{k}xi32>, #smem.accumulator>"
    bits = f"!smem.fragment<tensor<{m}x{k}xi1>, #smem.a_fragment>"
    matrix, words, vector = f"memref<{m}x{k}xi32>", "memref<128x8xi32>", "vector<8xi32>"
    text = kernel(
        f'%A: {matrix} {{smem.name = "A"}}, %O: {words} {{smem.name = "O"}}',
        f"""
    %f = "smem.load"(%A) : ({matrix}) -> {ready}
    %b = "smem.convert"(%f) : ({ready}) -> {bits}
    %v = "smem.to_registers"(%b) : ({bits}) -> {vector}
    %again = "smem.from_registers"(%v) : ({vector}) -> {bits}
    %w = "smem.to_registers"(%again) : ({bits}) -> {vector}
    vector.store %w, %O[%thread, %c0] : {words}, {vector}
    """,
    )
    given = np.random.default_rng(0).integers(0, 2, (m, k)).astype(np.int32)
    found = run(text, {"A": given}, "O")
    row, column = np.moveaxis(a_fragment_coordinates(m, k, element("b1")), -1, 0)
    held = (found.view(np.uint32)[:, :, None] >> np.arange(32, dtype=np.uint32) & 1).reshape(
        128, -1
    )
    assert (held == given[row, column]).all()
