"""Copies that transpose data, on the emulator: every byte of a tile, and products of such tiles."""

from dataclasses import replace

import pytest
from each import for_each
from mma_cases import MIXES
from relayouts import ELEMENTS, SWIZZLES, Filled, TransposingMma

import mlir_smem
from mlir_smem.runtime import run_on_cpu

#: Tiles of either majorness, with indices permuted or not, copied in less than one round and in many.
TILES = [
    case
    for name in ELEMENTS
    for swizzle in SWIZZLES
    for case in (
        Filled(name, swizzle),
        Filled(name, swizzle, lines=8, columns=True),
        Filled(name, swizzle, lines=136, permuted=True, threads=256),
        Filled(name, swizzle, lines=24, columns=True, permuted=True),
    )
]

#: Subtiles that begin at a swizzle pattern, at a line within one, and at a 16-byte unit within a line.
SUBTILES = [
    replace(case, run_time=run_time)
    for swizzle in SWIZZLES
    for run_time in (False, True)
    for case in (
        Filled("f8E4M3FN", swizzle, start=(64, 128), permuted=True),
        Filled("i8", swizzle, start=(37, 0), columns=True),
        Filled("tf32", swizzle, lines=24, along=4, start=(3, 4)),
        Filled("i1", swizzle, lines=32, along=128, start=(5, 128)),
    )
]

LARGE = [
    Filled("f8E4M3FN", lines=lines, along=along, threads=threads)
    for lines in (40, 200, 256)
    for along in (128, 384)
    for threads in (128, 384)
]


@pytest.mark.parametrize("case", [*TILES, *SUBTILES, *LARGE], ids=str)
def test_copied_bytes_are_at_the_places_of_the_layout(case):
    compiled = case.compile(emit="nvvm")
    case.check(run_on_cpu(compiled, "fill", case.inputs(), ["D"], (1,))["D"])


@for_each("case", [*TILES, *LARGE])
def test_no_bank_conflict_is_predicted(case):
    assert case.wavefronts().conflicts == 0


PRODUCTS = [
    TransposingMma(*mix, n=n, a_swizzle=a, b_swizzle=b)
    for mix in MIXES
    for n, a, b in ((128, "auto", "auto"), (16, "32B", "none"), (8, "64B", "128B"))
]


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_product_of_m_and_n_major_data_is_exact(case):
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    case.check(run_on_cpu(compiled, "product", case.arguments(), ["D"], (1,))["D"], case.inputs())


@for_each("case", [p for p in PRODUCTS if p.a_swizzle != "auto"])
def test_no_bank_conflict_is_predicted_for_a_product(case):
    assert case.wavefronts().conflicts == 0
