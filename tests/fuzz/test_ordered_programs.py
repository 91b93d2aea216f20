"""Programs of `fuzz.ordered`: text and interpreter agree, and `fuzz.sync` tells wrong from right."""

from dataclasses import replace
from random import Random

import pytest

from fuzz.frame import Wrong
from fuzz.generated.choices import RandomChoices, ReadChoices
from fuzz.generated.kernels import check_and_lower, emulate_kernel
from fuzz.generated.program_order import sync_of
from fuzz.ordered.draw import draw
from fuzz.ordered.kernels import kernels_of
from fuzz.ordered.program import If, bodies
from fuzz.ordered.text import text_of
from fuzz.sync import mutants, outcome, synchronize
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.passes import insert_sync

_SEEDS = range(40)

#: A copy to a tile, an mma of it, a store to the tile, a load of it, and a loop around all that.
_MATMUL = "stages of 0 = 2\nstages of 1 = 2\n0 is = 'matmul'\n0 B = 1\n0 trips = 3\n"


def program_of(seed):
    """A random program."""
    return draw(RandomChoices(Random(seed)))


def statements_of(body):
    """Yield the statements of a body, and those within them."""
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from statements_of(inner)


def without(text, line, which):
    """A text without one of the lines that contain something."""
    lines = text.splitlines()
    matches = [number for number, text_line in enumerate(lines) if line in text_line]
    return "\n".join(
        text_line for number, text_line in enumerate(lines) if number != matches[which]
    )


@pytest.mark.parametrize("seed", _SEEDS)
def test_everything_after_every_op_computes_what_the_interpreter_does(seed):
    kernels = kernels_of(program_of(seed), ordered=True)
    lowering = check_and_lower(kernels[0])
    assert lowering.check.evaluation != "wrong"
    assert [emulate_kernel(lowering.compiled, kernel) for kernel in kernels] == ["", ""]


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_a_proven_program_is_left_alone(seed):
    kernel = kernels_of(program_of(seed), ordered=True)[0]
    proven = check_and_lower(kernel).check.evaluation == "proven"
    with new_context():
        before = str(ir.Module.parse(kernel.text))
    assert not proven or synchronize(kernel.text)[1] == before


def test_programs_have_no_synchronization_unless_it_is_given():
    with new_context():
        counts = [len(sync_of(ir.Module.parse(text_of(program_of(seed))))) for seed in _SEEDS]
    assert counts.count(0) > len(_SEEDS) / 2


def test_each_kind_of_statement_is_drawn():
    kinds = {
        type(statement).__name__
        for n in range(200)
        for statement in statements_of(program_of(n).body)
    }
    assert kinds == {
        *("Copy", "Mma", "Load", "LoadGlobal", "Fill", "Map", "Convert", "Store", "Output"),
        *("BulkStore", "WriteMemory", "ReadMemory", "OrderingOp", "For", "If"),
    }


def test_choices_make_the_same_program_again():
    drawn = RandomChoices(Random(3))
    assert draw(drawn) == draw(ReadChoices(drawn.text))


def test_branches_have_results():
    branches = [
        statement
        for seed in range(200)
        for statement in statements_of(program_of(seed).body)
        if isinstance(statement, If) and statement.results
    ]
    assert branches


@pytest.mark.parametrize(
    "line", ["gpu.barrier", "smem.copy_wait", "smem.fence", "smem.copy_commit"]
)
def test_the_emulator_objects_to_a_program_without_what_it_needs(line):
    kernel = kernels_of(draw(ReadChoices(_MATMUL)))[0]
    synchronized = synchronize(kernel.text)[1]
    seen = [
        emulate_kernel(check_and_lower(replace(kernel, text=text)).compiled, kernel)
        for text in (synchronized, without(synchronized, line, -1))
    ]
    assert seen[0] == ""
    assert seen[1]


def test_synchronization_that_is_not_needed_survives():
    text = text_of(draw(ReadChoices(_MATMUL)), ordered=True)
    assert any(mutant.proven and "without" in mutant.description for mutant in mutants(text))


def test_inserted_synchronization_does_not_survive():
    inserted = outcome(f"ordered = True\n{_MATMUL}", Random(0))
    assert inserted.kind == "inserted"
    assert inserted.mutants["the checker"] > 5
    assert not inserted.survivors


@pytest.mark.parametrize("missing", ["gpu.barrier", "smem.wait"])
def test_a_pass_that_inserts_too_little_is_found(missing, monkeypatch):
    def insert(function):
        inserted = insert_sync.insert(function)
        left_out = [
            need for need in inserted if need.op.name == missing and not need.makes_readable
        ]
        for need in left_out:
            need.erase()
        return [need for need in inserted if need not in left_out]

    monkeypatch.setattr("fuzz.sync.insert", insert)
    with pytest.raises(Wrong, match=r"not proven|inserts twice"):
        outcome(f"ordered = True\n{_MATMUL}")
