"""Kernels with one op removed, duplicated or moved, and kernels by the choices that make them."""

from random import Random

import pytest

from fuzz import programs
from fuzz.generated.choices import RandomChoices, ReadChoices
from fuzz.generated.edits import duplications, moves, omissions
from fuzz.generated.kernels import check_and_lower, emulate_kernel
from fuzz.generated.pipelines import PipelineCase
from fuzz.programs import gemm_of, kernel_of

TEXT = """\
%pipeline = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, \
consumers = 1 : i32} : () -> !pipeline
scf.for %i = %c0 to %n step %c1 {
  %slot = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
  "smem.copy"(%A, %a) : (!A, !a) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %on = "smem.wait"(%d) {pending = 0 : i32} : (!running) -> !running
}
"""


def line_changes(new):
    """Return the removed and the added lines."""
    before, after = TEXT.splitlines(), new.splitlines()
    removed = [line.strip() for line in before if line not in after]
    return removed, [line.strip() for line in after if line not in before and line]


def test_each_synchronisation_is_removed_once():
    edited = omissions(TEXT)
    assert list(edited) == ["consumer_wait 1", "fence 1", "gpu.barrier 1", "wait 1"]
    assert line_changes(edited["fence 1"]) == (['"smem.fence"() : () -> ()'], [])
    assert line_changes(edited["gpu.barrier 1"]) == (["gpu.barrier"], [])


def test_a_wait_that_returns_a_stage_is_replaced_by_its_computation():
    removed, new = line_changes(omissions(TEXT)["consumer_wait 1"])
    assert removed == ['%slot = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index']
    assert new == [
        "%count_of_slot = arith.constant 3 : index",
        "%slot = arith.remui %i, %count_of_slot : index",
    ]


def test_a_wait_for_mma_leaves_one_more_pending():
    _, new = line_changes(omissions(TEXT)["wait 1"])
    assert new == ['%on = "smem.wait"(%d) {pending = 1 : i32} : (!running) -> !running']


def test_ops_are_duplicated():
    edited = duplications(TEXT)
    assert list(edited) == ["copy 1 twice", "fence 1 twice", "gpu.barrier 1 twice"]
    assert edited["copy 1 twice"].count('"smem.copy"') == 2


def test_ops_are_moved_later():
    edited = moves(TEXT)
    assert list(edited) == ["copy 1 later", "fence 1 later", "gpu.barrier 1 later"]
    lines = edited["copy 1 later"].splitlines()
    assert [line.split('"')[1] for line in lines[3:5]] == ["smem.fence", "smem.copy"]


def test_choices_are_read_as_they_were_drawn():
    drawn = RandomChoices(Random(1))
    items = {"a": (1, 2, 3), "b": ((1, 1), (2, 1)), "c": ("x", "y")}
    chosen = {name: drawn(name, values) for name, values in items.items()}
    read = ReadChoices(drawn.text)
    assert {name: read(name, values) for name, values in items.items()} == chosen


def test_simplest_kernel_is_a_gemm():
    assert kernel_of(ReadChoices("")).text == gemm_of(ReadChoices("")).text


def test_a_missing_choice_is_the_first_item():
    read = ReadChoices("a = 9\n")
    assert read("a", (1, 2)) == 1
    assert read("b", ("x", "y")) == "x"


@pytest.mark.parametrize("seed", range(24))
def test_a_pipeline_is_right(seed):
    random = Random(seed)
    pipeline = next(
        p for p in iter(lambda: PipelineCase.draw(RandomChoices(random)), None) if p.fits
    )
    kernel = pipeline.kernel()
    lowering = check_and_lower(kernel)
    assert lowering.check.evaluation != "wrong", lowering.check.messages
    assert emulate_kernel(lowering.compiled, kernel) == ""


@pytest.mark.parametrize("edit", ["without", "doubled", "moved"])
def test_each_edit_can_be_chosen(edit):
    choose = ReadChoices(f"edit = '{edit}'")
    chosen, op, kernel = programs._draw_edited(choose)
    assert chosen == edit
    assert op
    assert kernel.text != kernel_of(choose).text
