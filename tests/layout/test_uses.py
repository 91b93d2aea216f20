"""Tiles that fragments are loaded from and stored to: evaluation of layouts, and the choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.layout import (
    Multiple,
    PathElement,
    Relayout,
    Role,
    Swizzle,
    Transfer,
    TransferUse,
    choose,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.choice import evaluate
from mlir_smem.layout.fragment_access import a_fragment_access, accumulator_access
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.uses import FragmentUse, LayoutEvaluation, MemoryUse
from mlir_smem.layout.wgmma import WgmmaInstruction

BF16, TF32, E4M3, B1 = (element(name) for name in ("bf16", "tf32", "e4m3", "b1"))
LOAD = FragmentUse("the load", a_fragment_access)
STORE = FragmentUse("the store", accumulator_access)


class Rated:
    """A use that accepts every layout, with the given number of conflicts for each swizzle."""

    def __init__(self, description, **conflicts):
        self.what = description
        self._conflicts = {Swizzle[name]: count for name, count in conflicts.items()}

    def evaluate(self, layout):
        count = self._conflicts.get(layout.swizzle, 0)
        return LayoutEvaluation(True, f"{count} too many" if count else "fine", conflicts=count)


# The evaluation by one use.


@pytest.mark.parametrize(
    "use, layout, evaluation",
    [
        (
            LOAD,
            tile_of_atoms(BF16, (64, 64), 1, Swizzle.B128),
            LayoutEvaluation(True, "8x8 matrices, no bank conflicts"),
        ),
        (
            LOAD,
            tile_of_atoms(BF16, (64, 64), 0, Swizzle.B64),
            LayoutEvaluation(True, "8x8 matrices, transposed, no bank conflicts"),
        ),
        (
            LOAD,
            tile_of_atoms(TF32, (64, 32), 0, Swizzle.B128),
            LayoutEvaluation(
                True,
                "1 element at a time, bank conflicts: 2 passes where 1 would do",
                conflicts=1,
            ),
        ),
        (
            STORE,
            tile_of_atoms(TF32, (64, 32), 1, Swizzle.B128),
            LayoutEvaluation(
                True,
                "2 elements at a time, bank conflicts: 4 passes where 2 would do",
                conflicts=2,
            ),
        ),
        (
            LOAD,
            tile_of_atoms(B1, (128, 256), 0, Swizzle.NONE),
            LayoutEvaluation(
                False,
                "registers hold 32 elements of b1 along k, which must be adjacent in memory; "
                "expected contiguous rows at multiples of 32 elements",
            ),
        ),
        (
            STORE,
            tile_of_atoms(BF16, (2, 64, 64), 1, Swizzle.B128),
            LayoutEvaluation(False, "a tile of rank 3 is accessed one stage at a time"),
        ),
    ],
)
def test_evaluation_of_a_layout(use, layout, evaluation):
    assert use.evaluate(layout) == evaluation


@pytest.mark.parametrize(
    "step, reason",
    [
        (PathElement((0, 96), (64, 64)), "elements 96 to 159 are not inside dimension 1 of 128"),
        (
            PathElement((0, Multiple(4)), (64, 4)),
            "the subtile begins 4 elements of bf16 or a multiple of that into the tile; tensor cores and "
            "16-byte accesses need multiples of 16 bytes",
        ),
    ],
)
def test_subtiles_that_cannot_be_accessed(step, reason):
    for access in (a_fragment_access, accumulator_access):
        evaluation = FragmentUse("use", access, (step,)).evaluate(
            tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128)
        )
        assert evaluation == LayoutEvaluation(False, reason)


def test_a_subtile_is_evaluated_by_its_own_layout():
    # The starts are multiples of 8 elements along the contiguous dimension.
    whole = tile_of_atoms(BF16, (128, 64), 0, Swizzle.B128)
    for start, reason in (
        (64, "8x8 matrices, transposed"),
        (Multiple(8), "8x8 matrices, transposed"),
    ):
        use = FragmentUse("use", a_fragment_access, (PathElement((start, 0), (64, 64)),))
        assert use.evaluate(whole).reason.startswith(reason)
    staged = tile_of_atoms(BF16, (2, 64, 64), 1, Swizzle.B128)
    stage = FragmentUse("use", accumulator_access, (PathElement((Multiple(1),), None),))
    assert stage.evaluate(staged) == LayoutEvaluation(True, "8x8 matrices, no bank conflicts")


def test_a_given_layout_is_not_refused_for_its_conflicts():
    evaluation = evaluate(parse_layout("(64,64):(64,1)", BF16), [LOAD])
    assert evaluation.is_accepted
    assert evaluation.cost == (False, False, 28)


# Which is chosen.


@pytest.mark.parametrize(
    "element_type, uses, contiguous, swizzle",
    [
        # Accesses to 16-bit elements have no conflicts: the widest.
        (BF16, [LOAD, STORE], 1, Swizzle.B128),
        (BF16, [LOAD, STORE], 0, Swizzle.B128),
        (TF32, [LOAD], 1, Swizzle.B128),
        (TF32, [LOAD], 0, Swizzle.B32),
        (TF32, [STORE], 1, Swizzle.B32),
        (TF32, [STORE], 0, Swizzle.B128),
        # All of them have the same conflicts: the widest.
        (E4M3, [LOAD], 0, Swizzle.B128),
        # The load has no conflicts in any, so the store decides.
        (TF32, [LOAD, STORE], 1, Swizzle.B32),
    ],
)
def test_fewest_conflicts_then_the_widest_swizzle(element_type, uses, contiguous, swizzle):
    picked = choose(element_type, (128, 128), uses, contiguous=contiguous).picked
    assert picked is not None
    assert picked.layout == tile_of_atoms(element_type, (128, 128), contiguous, swizzle)


def test_an_accumulator_in_columns_before_one_with_conflicts():
    # Row-major comes first, but column-major in the widest swizzle has no conflicts.
    picked = choose(TF32, (128, 128), [STORE]).picked
    assert picked is not None
    assert picked.layout == tile_of_atoms(TF32, (128, 128), 0, Swizzle.B128)


def test_conflicts_of_all_uses_count_together():
    one, other = Rated("one", B128=3, B64=1), Rated("other", B128=1, B64=2, B32=5, NONE=5)
    picked = choose(BF16, (64, 64), [one, other], contiguous=1).picked
    assert picked is not None
    assert (picked.layout.swizzle, picked.cost.conflicts) == (Swizzle.B64, 3)


@given(st.fixed_dictionaries({s.name: st.integers(0, 3) for s in WIDEST_FIRST}), st.booleans())
def test_the_first_of_those_with_fewest_conflicts(conflicts, exhaustive):
    choice = choose(
        BF16, (64, 64), [Rated("use", **conflicts)], contiguous=1, exhaustive=exhaustive
    )
    assert choice.picked is not None
    least = min(conflicts.values())
    widest = next(s for s in ("B128", "B64", "B32", "NONE") if conflicts[s] == least)
    assert choice.picked.layout.swizzle is Swizzle[widest]
    if exhaustive:
        assert len({c.layout.swizzle for c in choice.candidates}) == 4


def test_conflicts_are_better_than_data_that_is_transposed():
    # Global memory is row-major; the store has fewer conflicts in a column-major tile.
    copy = TransferUse("the copy", Relayout(TF32, (64, 64), 1, 128))
    store = FragmentUse("the store", accumulator_access)
    choice = choose(TF32, (64, 64), [copy, store], max_swizzle=Swizzle.B128)
    assert choice.picked is not None
    assert choice.picked.layout.contiguous_dim == 1
    assert not choice.picked.cost.transposed
    column_major = next(c for c in choice.candidates if c.layout.contiguous_dim == 0)
    assert column_major.is_accepted
    assert column_major.cost.transposed and column_major.cost > choice.picked.cost


def test_conflicts_are_better_than_descriptors_that_are_computed_at_run_time():
    mma = WgmmaInstruction().use("mma A", Role.A, (PathElement((0, Multiple(16)), (64, 32)),))
    rated = Rated("the store", B32=9, NONE=9)
    choice = choose(BF16, (64, 128), [mma, rated], contiguous=1)
    assert choice.picked is not None
    # Starts of 16 elements cut the atoms of 64 and of 32, but not those of 16.
    assert (choice.picked.layout.swizzle, choice.picked.cost) == (Swizzle.B32, (False, False, 9))


def test_a_use_that_refuses_counts_more_than_any_conflict():
    copy = TransferUse("the copy", Transfer(TF32, (64, 64), 0, 128))
    choice = choose(TF32, (64, 64), [LOAD, copy], max_swizzle=Swizzle.B32)
    assert choice.picked is not None
    assert choice.picked.layout.contiguous_dim == 0


# How it is explained.


def test_the_cost_of_another_layout_is_reported():
    explained = choose(TF32, (64, 64), [LOAD], contiguous=0).explain().splitlines()
    assert explained == [
        "possible swizzle 128B, column-major, atoms across: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
        "possible swizzle 128B, column-major, atoms along: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
        "possible swizzle 64B, column-major, atoms across: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
        "possible swizzle 64B, column-major, atoms along: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
        "picked   swizzle 32B, column-major, atoms across: the load: 1 element at a time, no bank "
        "conflicts",
        "possible swizzle 32B, column-major, atoms along: the picked one is preferred",
        "possible swizzle none, column-major, atoms across: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
        "possible swizzle none, column-major, atoms along: the load: 1 element at a time, bank "
        "conflicts: 2 passes where 1 would do; the picked one costs less",
    ]


def line_of(choice, swizzle):
    """The line that explains a swizzle's first candidate."""
    return next(line for line in choice.explain().splitlines() if f"swizzle {swizzle}," in line)


def test_the_named_use_is_one_that_makes_the_cost_higher():
    fine, bad = Rated("fine", NONE=1), Rated("bad", B128=2)
    choice = choose(BF16, (64, 64), [fine, bad], contiguous=1)
    assert line_of(choice, Swizzle.B128) == (
        "possible swizzle 128B, row-major, atoms across: bad: 2 too many; the picked one costs less"
    )
    assert line_of(choice, Swizzle.NONE) == (
        "possible swizzle none, row-major, atoms across: fine: 1 too many; the picked one costs less"
    )


def test_a_use_that_has_the_same_conflicts_everywhere_is_not_named():
    same, bad = Rated("same", B128=1, B64=1, B32=1, NONE=1), Rated("bad", B128=2)
    choice = choose(BF16, (64, 64), [same, bad], contiguous=1)
    assert line_of(choice, Swizzle.B128).endswith(": bad: 2 too many; the picked one costs less")


def test_the_first_difference_in_cost_is_reported():
    # Transposed, and with conflicts: the transposition is the first difference.
    copy = TransferUse("the copy", Relayout(TF32, (64, 64), 1, 128))
    choice = choose(TF32, (64, 64), [Rated("other", B64=1), copy])
    line = next(
        line for line in choice.explain().splitlines() if "swizzle 64B, column-major" in line
    )
    assert line.startswith(
        "possible swizzle 64B, column-major, atoms across: the copy: transposed in registers"
    )


@pytest.mark.parametrize(
    "size, alignment, refusal",
    [
        (8192, 1024, None),
        (None, None, None),
        (8191, 1024, "the layout needs 8192 bytes, but it has 8191"),
        (
            None,
            512,
            "swizzle 128B begins at multiples of 1024 bytes, but it begins at multiples of 512",
        ),
    ],
)
def test_memory_bounds_the_layout(size, alignment, refusal):
    layout = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B128)
    evaluation = MemoryUse("the memory", size, alignment).evaluate(layout)
    assert evaluation.accepted == (refusal is None)
    assert refusal is None or evaluation.reason == refusal
