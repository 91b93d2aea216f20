"""The choice of a layout: preferences, refusals of uses, and explanations."""

from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import operands

from mlir_smem.layout import (
    ELEMENTS,
    Multiple,
    PathElement,
    Relayout,
    Role,
    Swizzle,
    Transfer,
    TransferUse,
    choose,
    element,
    mma_tiles,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.choice import evaluate
from mlir_smem.layout.path import follow
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.uses import LayoutEvaluation
from mlir_smem.layout.wgmma import WgmmaInstruction

BF16 = element("bf16")
TF32 = element("tf32")
WGMMA = WgmmaInstruction()
A = WGMMA.use("mma A", Role.A)
B = WGMMA.use("mma B", Role.B)
tile = partial(tile_of_atoms, BF16)


# Preferences.


@pytest.mark.parametrize(
    "columns, swizzle",
    [
        (256, Swizzle.B128),
        (64, Swizzle.B128),
        (96, Swizzle.B64),
        (48, Swizzle.B32),
        (8, Swizzle.NONE),
    ],
)
def test_the_widest_swizzle_that_divides_the_tile(columns, swizzle):
    picked = choose(BF16, (64, columns), [], contiguous=1).picked
    assert picked.layout == tile((64, columns), 1, swizzle)


def test_a_wider_swizzle_before_columns_contiguous():
    assert choose(BF16, (64, 96), []).picked.layout == tile((64, 96), 0, Swizzle.B128)


def test_columns_before_rows_and_across_before_along():
    names = [c.name for c in choose(BF16, (128, 128), []).candidates]
    assert names[:4] == [
        "swizzle 128B, row-major, atoms across",
        "swizzle 128B, row-major, atoms along",
        "swizzle 128B, column-major, atoms across",
        "swizzle 128B, column-major, atoms along",
    ]


def test_every_swizzle_direction_and_order_is_considered():
    assert len(choose(BF16, (128, 128), []).candidates) == 4 * 2 * 2


def test_the_same_layout_is_considered_once():
    names = [c.name for c in choose(BF16, (64, 64), []).candidates if "128B" in c.name]
    assert names == [
        "swizzle 128B, row-major, atoms across",
        "swizzle 128B, column-major, atoms across",
    ]


def test_max_swizzle():
    choice = choose(BF16, (64, 64), [], max_swizzle=Swizzle.B64)
    assert choice.picked.layout.swizzle is Swizzle.B64
    assert all(c.layout.swizzle is not Swizzle.B128 for c in choice.candidates)


@pytest.mark.parametrize("contiguous", [0, 1])
def test_contiguous(contiguous):
    choice = choose(BF16, (64, 64), [], contiguous=contiguous)
    assert choice.picked.layout.contiguous_dim == contiguous
    assert len({c.layout.contiguous_dim for c in choice.candidates}) == 1


def test_stages():
    assert choose(BF16, (4, 64, 64), []).picked.layout == tile((4, 64, 64), 1, Swizzle.B128)


def test_nothing_divides_the_tile():
    choice = choose(BF16, (60, 60), [])
    assert choice.picked is None
    assert choice.candidates[0].refusal == (
        "the tile: its contiguous extent of 60 elements is no multiple of the atom's 64: 480 bytes "
        "would be padding"
    )


# Evaluations by uses.


@given(operands(), st.lists(st.sampled_from([A, B]), max_size=2))
def test_what_is_picked_suits_every_use(operand, uses):
    layout = operand.oriented_tile
    picked = choose(layout.element, layout.shape, uses).picked
    if picked:
        assert all(mma_tiles(picked.layout, use.role) for use in uses)


@given(operands())
def test_a_tile_that_an_mma_can_read_gets_a_layout(operand):
    layout = operand.oriented_tile
    use = WGMMA.use("mma", operand.role)
    assert choose(layout.element, layout.shape, [use]).picked


def test_a_use_that_allows_only_one_direction_decides_it():
    assert choose(TF32, (64, 64), [A]).picked.layout.contiguous_dim == 1
    assert choose(TF32, (64, 64), [B]).picked.layout.contiguous_dim == 0


def test_uses_that_contradict_each_other_leave_nothing():
    choice = choose(TF32, (64, 64), [A, B])
    assert choice.picked is None
    assert {c.refusal.split(",")[0] for c in choice.candidates} == {
        "mma B: the tile is N-major",
        "mma A: the tile is M-major",
    }


def test_global_data_decides_the_direction():
    copy = TransferUse("copy", Transfer(BF16, (64, 64), 0, 128))
    choice = choose(BF16, (64, 64), [copy])
    assert choice.picked.layout.contiguous_dim == 0
    assert choice.candidates[0].refusal == (
        "copy: the data in global memory is column-major, but the tile is row-major; smem.copy with "
        "the unit attribute relayout transposes it"
    )


def test_a_given_layout_is_evaluated():
    evaluation = evaluate(parse_layout("Swizzle<3,4,3> o (64,64):(72,1)", BF16), [A])
    assert not evaluation.is_accepted
    assert evaluation.name == "Swizzle<3,4,3> o (64,64):(72,1)"
    assert evaluation.refusal.startswith("mma A: the MMA tile of 64x16 at (0, 0): ")


def test_a_given_layout_is_accepted():
    evaluation = evaluate(tile((64, 64), 1, Swizzle.B128), [A])
    assert evaluation.is_accepted
    assert evaluation.refusal == ""


def test_a_staged_tile_is_not_copied_whole():
    evaluation = TransferUse("copy", Transfer(BF16, (64, 64), 1, 128)).evaluate(
        tile((4, 64, 64), 1, Swizzle.B128)
    )
    assert not evaluation.accepted


def test_bank_conflicts_are_reported_but_not_refused():
    # Lines of 1024 bytes begin in the same bank, and threads have too few of a line each.
    use = TransferUse("copy", Transfer(BF16, (64, 8), 1, 128))
    evaluation = use.evaluate(parse_layout("(64,8):(512,1)", BF16, (64, 8)))
    assert (evaluation.accepted, evaluation.reason) == (
        True,
        "bank conflicts: 32 passes where 4 would do",
    )


@pytest.mark.parametrize("swizzle", WIDEST_FIRST)
@pytest.mark.parametrize("contiguous", [0, 1])
@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
def test_copies_to_canonical_layouts_have_no_bank_conflicts(element_type, contiguous, swizzle):
    atom = swizzle.atom_elements(element_type)
    shape = (64, 4 * atom) if contiguous else (4 * atom, 64)
    use = TransferUse("copy", Transfer(element_type, shape, contiguous, 128))
    assert (
        use.evaluate(tile_of_atoms(element_type, shape, contiguous, swizzle)).reason
        == "no bank conflicts"
    )


# Subtiles of tiles.


def test_a_path_leads_to_a_subtile_of_a_stage():
    staged = tile((4, 128, 128), 1, Swizzle.B128)
    subtile = follow(staged, (PathElement((2,), None), PathElement((64, 64), (64, 64))))
    assert subtile.layout == staged.slice((2, 64, 64), (1, 64, 64)).layout.stage(0).layout
    assert subtile.offset == staged.slice((2, 64, 64), (1, 64, 64)).offset


def test_a_path_keeps_every_run_time_start():
    staged = tile((4, 128, 128), 1, Swizzle.B128)
    subtile = follow(
        staged, (PathElement((Multiple(1),), None), PathElement((Multiple(64), 64), (64, 64)))
    )
    assert subtile.offset == 128 * 64
    assert [(t.dim, t.stride) for t in subtile.terms] == [(0, 128 * 128), (0, 64)]


def test_a_use_of_a_subtile_leaves_the_tile_its_atoms():
    use = WGMMA.use("mma A", Role.A, (PathElement((0, Multiple(16)), (64, 16)),))
    assert choose(BF16, (64, 64), [use]).picked.layout == tile((64, 64), 1, Swizzle.B128)


@pytest.mark.parametrize(
    "use",
    [
        partial(WGMMA.use, "use", Role.B),
        partial(TransferUse, "use", Transfer(BF16, (64, 64), 1, 128)),
    ],
    ids=["operand", "transfer"],
)
@pytest.mark.parametrize(
    "step, reason",
    [
        (PathElement((0, 96), (64, 64)), "elements 96 to 159 are not inside dimension 1 of 128"),
        (
            PathElement((0, 4), (64, 16)),
            "the subtile begins 4 elements of bf16 or a multiple of that into",
        ),
        (
            PathElement((0, Multiple(4)), (64, 4)),
            "the subtile begins 4 elements of bf16 or a multiple of",
        ),
    ],
)
def test_subtiles_that_cannot_be_used(use, step, reason):
    evaluation = use(path=(step,)).evaluate(tile((64, 128), 1, Swizzle.B128))
    assert not evaluation.accepted
    assert evaluation.reason.startswith(reason)


def test_a_subtile_that_cuts_a_wide_atom_gets_a_narrower_one():
    use = WGMMA.use("mma B", Role.B, (PathElement((0, Multiple(32)), (64, 64)),))
    choice = choose(BF16, (64, 128), [use], contiguous=1)
    assert choice.picked.layout.swizzle is Swizzle.B64
    assert "cuts an atom" in choice.candidates[0].refusal


# Subtiles that cut atoms.


def test_a_static_cut_costs_nothing_and_leaves_the_widest_swizzle():
    use = WGMMA.use("mma A", Role.A, (PathElement((0, 48), (64, 64)),))
    choice = choose(BF16, (64, 128), [use], contiguous=1)
    assert choice.picked.layout.swizzle is Swizzle.B128
    assert not choice.picked.cost.in_loop


@pytest.mark.parametrize("exhaustive", [False, True])
def test_descriptors_computed_at_run_time_are_avoided(exhaustive):
    use = WGMMA.use("mma A", Role.A, (PathElement((0, Multiple(32)), (64, 64)),))
    choice = choose(BF16, (64, 128), [use], contiguous=1, exhaustive=exhaustive)
    assert choice.picked.layout.swizzle is Swizzle.B64
    assert choice.explain().splitlines()[0] == (
        "possible swizzle 128B, row-major, atoms across: mma A: K-major, Swizzle<3,4,3> o "
        "((8,m),(T,2k)):((8T,SBO),(1,T)), by 4 descriptors computed at run time; the picked one "
        "costs less"
    )


@pytest.mark.parametrize("exhaustive", [False, True])
def test_descriptors_computed_at_run_time_are_better_than_no_layout(exhaustive):
    # The other use takes the widest swizzle only.
    wide = SimpleNamespace(
        what="the other use",
        evaluate=lambda layout: LayoutEvaluation(layout.swizzle is Swizzle.B128, ""),
    )
    use = WGMMA.use("mma A", Role.A, (PathElement((0, Multiple(32)), (64, 64)),))
    choice = choose(BF16, (64, 128), [wide, use], contiguous=1, exhaustive=exhaustive)
    assert choice.picked is choice.candidates[0]
    assert choice.picked.cost.in_loop


def test_a_copy_to_a_subtile_that_cuts_atoms_is_not_avoided():
    copy = TransferUse(
        "copy", Transfer(BF16, (64, 64), 1, 128), (PathElement((0, Multiple(8)), (64, 64)),)
    )
    assert choose(BF16, (64, 128), [copy]).picked.layout == tile((64, 128), 1, Swizzle.B128)


# Explanations.


def test_explain_has_a_line_for_each_candidate():
    staged = (2, 64, 32)
    stage = (PathElement((0,), None),)
    use = WGMMA.use("mma A", Role.A, stage)
    copy = TransferUse("copy", Transfer(TF32, (64, 32), 1, 128), stage)
    choice = choose(TF32, staged, [use, copy], max_swizzle=Swizzle.B64)
    assert choice.explain().splitlines()[:4] == [
        "picked   swizzle 64B, row-major, atoms across: mma A: K-major, Swizzle<2,4,3> o "
        "((8,m),(T,2k)):((4T,SBO),(1,T)); copy: no bank conflicts",
        "possible swizzle 64B, row-major, atoms along: the picked one is preferred",
        "refused  swizzle 64B, column-major, atoms across: mma A: the tile is M-major, but wgmma "
        "reads tf32 K-major only (MN-major is for 16-bit types); a copy can make it K-major "
        "(smem.copy with the unit attribute relayout), and tcgen05 (sm_100) can read it so",
        "refused  swizzle 64B, column-major, atoms along: mma A: the tile is M-major, but wgmma "
        "reads tf32 K-major only (MN-major is for 16-bit types); a copy can make it K-major "
        "(smem.copy with the unit attribute relayout), and tcgen05 (sm_100) can read it so",
    ]


def test_explain_a_tile_that_nothing_uses():
    assert choose(BF16, (8, 32), [], Swizzle.B64, contiguous=1).explain().splitlines() == [
        "picked   swizzle 64B, row-major, atoms across: nothing uses the tile",
        "possible swizzle 32B, row-major, atoms across: the picked one is preferred",
        "possible swizzle none, row-major, atoms across: the picked one is preferred",
    ]


def test_explain_padding():
    assert choose(BF16, (8, 24), [], Swizzle.B32, contiguous=1).explain().splitlines() == [
        "refused  swizzle 32B, row-major, atoms across: the tile: its contiguous extent of 24 "
        "elements is no multiple of the atom's 16: 128 bytes would be padding",
        "picked   swizzle none, row-major, atoms across: nothing uses the tile",
    ]


def test_the_first_that_is_accepted_ends_a_search_that_is_not_exhaustive():
    every, first = (choose(element("bf16"), (64, 64), (), exhaustive=e) for e in (True, False))
    assert first.picked == every.picked
    assert first.candidates == every.candidates[: len(first.candidates)]
    assert len(first.candidates) < len(every.candidates)


# Copies that may transpose data.


def test_data_is_transposed_if_the_mma_needs_the_other_majorness():
    e4m3 = element("e4m3")
    uses = [
        WGMMA.use("mma A", Role.A),
        TransferUse("copy", Relayout(e4m3, (64, 128), 0, 128)),
    ]
    choice = choose(e4m3, (64, 128), uses)
    assert choice.picked.layout.contiguous_dim == 1
    assert choice.picked.layout.swizzle is Swizzle.B128
    assert choice.picked.cost.transposed
    assert choice.picked.evaluations[2] == (
        "copy",
        LayoutEvaluation(True, "transposed in registers, no bank conflicts", transposed=True),
    )


@pytest.mark.parametrize("exhaustive", [True, False])
def test_data_is_not_transposed_where_it_need_not_be(exhaustive):
    # Row-major layouts come first, and 128 bytes before 64: both would transpose the data.
    uses = [
        WGMMA.use("mma B", Role.B),
        TransferUse("copy", Relayout(BF16, (64, 32), 1, 128)),
    ]
    choice = choose(BF16, (64, 32), uses, exhaustive=exhaustive)
    assert choice.candidates[1].is_accepted and choice.candidates[1].cost.transposed
    assert choice.picked.layout.contiguous_dim == 1
    assert choice.picked.layout.swizzle is Swizzle.B64
    assert not choice.picked.cost.transposed


def test_what_is_wrong_with_a_tile_that_is_to_be_transposed():
    e4m3 = element("e4m3")
    use = TransferUse("copy", Relayout(e4m3, (62, 128), 0, 128))
    choice = choose(e4m3, (62, 128), [use], contiguous=1)
    assert choice.picked is None
    assert choice.candidates[0].refusal == (
        "copy: e4m3 is transposed in blocks of 4 or more elements of global memory; the tile has "
        "62 rows"
    )
