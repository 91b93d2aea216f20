"""Transposing copies on the chip: every byte of a tile, an mma of the tiles, and the emulator's result.

`predicted_wavefronts` is the expected number of wavefronts of the copies' stores; ncu counts them as
`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum`. `Filled` kernels also clear the tile, which adds
one wavefront for each 32 bytes; `TransposingMma` kernels have no other stores to shared memory.

    pytest tests/gpu/test_transposing.py -n 8 --record FILE
"""

from dataclasses import replace

import numpy as np
import pytest
from mma_cases import MIXES
from relayouts import ELEMENTS, SWIZZLES, Filled, TransposingMma

import mlir_smem
from mlir_smem.runtime import run_on_cpu, run_on_gpu

TILES = [
    case
    for name in ELEMENTS
    for swizzle in SWIZZLES
    for columns in (False, True)
    for permuted in (False, True)
    for case in (
        Filled(name, swizzle, columns=columns, permuted=permuted),
        Filled(name, swizzle, lines=8, columns=columns, permuted=permuted),
        Filled(name, swizzle, lines=200, columns=columns, permuted=permuted, threads=256),
    )
]

PARTS = [
    replace(case, run_time=run_time)
    for swizzle in SWIZZLES
    for run_time in (False, True)
    for case in (
        Filled("f8E4M3FN", swizzle, start=(64, 128), permuted=True),
        Filled("i8", swizzle, start=(37, 0), columns=True),
        Filled("bf16", swizzle, start=(9, 64)),
        Filled("tf32", swizzle, lines=24, along=4, start=(3, 4)),
        Filled("i1", swizzle, lines=32, along=128, start=(5, 128)),
    )
]


@pytest.mark.parametrize("case", [*TILES, *PARTS], ids=str)
def test_every_byte_is_where_the_layout_has_it(case, record_property):
    inputs = case.inputs()
    measured = run_on_gpu(case.compile(), "fill", inputs, ["D"], (1,))["D"]
    case.check(measured)
    if case.start is None:
        record_property("predicted_wavefronts", case.wavefronts().wavefronts)


PRODUCTS = [
    TransposingMma(*mix, n=n, a_swizzle=a, b_swizzle=b)
    for mix in MIXES
    for n, a, b in (
        (128, "128B", "128B"),
        (64, "64B", "32B"),
        (16, "32B", "none"),
        (8, "none", "64B"),
        (256, "128B", "64B"),
    )
]


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_a_product_of_m_and_n_major_data_is_right(case, record_property):
    inputs, arguments = case.inputs(), case.arguments()
    measured = run_on_gpu(mlir_smem.compile(case.text), "product", arguments, ["D"], (1,))["D"]
    record_property("part_of_bound", round(case.check(measured, inputs), 4))
    record_property("predicted_wavefronts", case.wavefronts().wavefronts)
    lowered = mlir_smem.compile(case.text, emit="nvvm")
    emulated = run_on_cpu(lowered, "product", arguments, ["D"], (1,))["D"]
    assert (emulated.view(np.uint8) == measured.view(np.uint8)).all()
