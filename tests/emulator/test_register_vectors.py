"""Registers of fragments as vectors: the order of their elements, and the way there and back."""

import numpy as np
import pytest
from host_kernels import ACCUMULATORS, FRAGMENTS, VectorProduct, kernel

import mlir_smem
from mlir_smem.layout import ARCHS, a_fragment_coordinates, accumulator_coordinates, element
from mlir_smem.runtime import run_on_cpu

SHAPES = [(64, 8), (64, 96), (128, 48), (192, 16), (256, 8)]
SM_90, SM_100 = "sm_90a", "sm_100a"


def run(text, inputs, out, arch=SM_90):
    lowered = mlir_smem.compile(text, emit="nvvm", arch=arch)
    return run_on_cpu(lowered, "kernel", inputs, [out], (1, 1, 1))[out]


def types(m, n, type_):
    """An accumulator, its vector in a thread, and the memrefs of both."""
    count = m * n // 128
    return (
        f"!smem.fragment<tensor<{m}x{n}x{type_}>, #smem.accumulator>",
        f"vector<{count}x{type_}>",
        f"memref<{m}x{n}x{type_}>",
        f"memref<128x{count}x{type_}>",
    )


def to_registers(m, n, type_):
    fragment, vector, matrix, vectors = types(m, n, type_)
    return kernel(
        f'%A: {matrix} {{smem.name = "A"}}, %O: {vectors} {{smem.name = "O"}}',
        f"""
    %f = "smem.load"(%A) : ({matrix}) -> {fragment}
    %v = "smem.to_registers"(%f) : ({fragment}) -> {vector}
    vector.store %v, %O[%thread, %c0] : {vectors}, {vector}
    """,
    )


def from_registers(m, n, type_):
    fragment, vector, matrix, vectors = types(m, n, type_)
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


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize("arch, a", [*((SM_90, a) for a in FRAGMENTS), (SM_100, "bf16")])
def test_vectors_are_multiplied(a, m, arch):
    case = VectorProduct(m, a, arch)
    inputs = case.inputs()
    assert (run(case.text, inputs, "O", arch) == case.exact(inputs)).all()


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
    numbers = np.random.default_rng(0).integers(0, 2, (m, k)).astype(np.int32)
    packed = run(text, {"A": numbers}, "O")
    row, column = np.moveaxis(a_fragment_coordinates(m, k, element("b1")), -1, 0)
    unpacked = (packed.view(np.uint32)[:, :, None] >> np.arange(32, dtype=np.uint32) & 1).reshape(
        128, -1
    )
    assert (unpacked == numbers[row, column]).all()
