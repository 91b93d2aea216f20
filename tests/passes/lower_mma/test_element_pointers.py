"""Addresses of fragments in tiles: stores and loads of each thread are compared byte by byte."""

import numpy as np
import pytest
from accessed_subtiles import AccessKernel, accumulator_of
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from relayouts import ELEMENTS
from tile_layouts import any_layout

from mlir_smem.layout import (
    LayoutError,
    Multiple,
    PathElement,
    Swizzle,
    element,
    instruction_k,
    tile_of_atoms,
)
from mlir_smem.layout.fragment_access import a_fragment_access, accumulator_access
from mlir_smem.layout.path import follow
from mlir_smem.runtime import run_on_cpu

#: (access, element type of the tile, accumulator)
STORES = [
    *(("store", name, "f32") for name in ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")),
    *(("store", name, "f16") for name in ("f32", "f16", "f8E4M3FN")),
    *(("store", name, "i32") for name in ("i8", "ui8")),
]
LOADS = [*(("load", name, "f32") for name in ("f32", "f16", "bf16")), ("load", "f16", "f16")]
MULTIPLIED = [
    ("multiply", name, accumulator_of(name))
    for name in ("f16", "bf16", "tf32", "f8E4M3FN", "i8", "ui8", "i1")
]

STEPS = (1, 2, 4, 8, 16, 24, 32, 64)


def begins(case, layout, shape, steps):
    """Whether a subtile may begin at any multiple of these steps."""
    try:
        subtile = follow(layout, [PathElement(tuple(map(Multiple, steps)), shape)])
        choose = a_fragment_access if case[0] == "multiply" else accumulator_access
        return subtile.multiple % choose(subtile.layout).vector == 0
    except LayoutError:
        return False


@st.composite
def accesses(draw, cases):
    """Draw a subtile of a tile of any layout at any legal start, and an access to it."""
    case = draw(st.sampled_from(cases))
    type_ = element(ELEMENTS[case[1]][0])
    if case[0] == "multiply":
        columns = instruction_k(type_) * (1 if type_.bits < 8 else draw(st.integers(1, 2)))
    else:
        columns = draw(st.sampled_from([8, 16, 24, 48]))
    shape = (64 * draw(st.integers(1, 2)), columns)
    along = 1 if type_.bits == 1 else draw(st.integers(0, 1))
    whole = tuple(n + draw(st.sampled_from([0, 8, 32, 64])) for n in shape)
    if type_.bits == 1:
        whole = (whole[0], columns * draw(st.integers(1, 2)))
    layout = draw(any_layout(type_, whole, along))
    # Atoms of 32 bytes are not a layout of b1 operands.
    assume(type_.bits > 1 or layout.swizzle is not Swizzle.B128_ATOM_32B)
    # If no other start is legal, the subtile begins at the first element.
    pairs = [
        (row, column)
        for row in (*STEPS, whole[0])
        for column in (*STEPS, type_.unit, whole[1])
        if begins(case, layout, shape, (row, column))
    ]
    multiples = draw(st.sampled_from(pairs)) if pairs else whole
    starts = tuple(
        draw(st.integers(0, (n - size) // step)) * step
        for n, size, step in zip(whole, shape, multiples, strict=True)
    )
    steps = tuple(step if draw(st.booleans()) and pairs else 0 for step in multiples)
    return AccessKernel(*case, layout, shape, starts, steps)


def check(case):
    result = run_on_cpu(case.compile(emit="nvvm"), "access", case.inputs(), ["D"], (1,))["D"]
    wrong = np.flatnonzero(result != case.expected_output())
    assert wrong.size == 0, f"{wrong.size} of {result.size} are wrong"


@settings(max_examples=60)
@given(accesses(STORES))
def test_accumulators_are_stored_to_the_addresses_of_the_layout(case):
    note(str(case))
    check(case)


@given(accesses(LOADS))
def test_accumulators_are_loaded_from_the_addresses_of_the_layout(case):
    note(str(case))
    check(case)


@settings(max_examples=40)
@given(accesses(MULTIPLIED))
def test_a_fragments_are_loaded_from_the_addresses_of_the_layout(case):
    note(str(case))
    check(case)


@pytest.mark.parametrize("column, step", [(24, 0), (40, 8), (56, 8), (184, 8)])
@pytest.mark.parametrize("swizzle", Swizzle, ids=str)
@pytest.mark.parametrize("how", ["store", "load", "multiply"])
def test_subtiles_that_cut_atoms(how, swizzle, column, step):
    layout = tile_of_atoms(element("bf16"), (96, 256), 1, swizzle)
    check(
        AccessKernel(how, "bf16", "f32", layout, (64, 64), (13, column), (1 if step else 0, step))
    )


# The cost of addresses.


@pytest.mark.parametrize("swizzle", Swizzle, ids=str)
@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize("how, name", [("store", "f32"), ("store", "bf16"), ("load", "bf16")])
def test_the_swizzle_is_computed_once_and_then_stepped(how, name, along, swizzle):
    layout = tile_of_atoms(element(ELEMENTS[name][0]), (128, 128), along, swizzle)
    lowered = AccessKernel(how, name, "f32", layout, (128, 128), (0, 0)).compile(emit="nvvm").nvvm
    # The shift of the line number to the bits of the unit is emitted once.
    assert lowered.count("arith.shrui") == (swizzle is not Swizzle.NONE)
