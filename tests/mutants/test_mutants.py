"""Mutants are edits of what they name, and those that lit noticed it still notices."""

import ast
import json
import os
import random

import pytest

from mutants.applied import patch
from mutants.edits import ROOT, mutants_of
from mutants.explained import EXPLAINED
from mutants.judges import LIT, Judges

RECORD = json.loads((ROOT / "benchmarks" / "results" / "mutants.json").read_text())["mutants"]

#: Mutants of functions that lit noticed, a few.
NOTICED = random.Random(0).sample(
    [row for row in RECORD if row["function"] and row["noticed"][LIT] in Judges().lit], 24
)


def _mutant(row):
    """The mutant of a row of the record, at the line where its place is today; None if it is no more."""
    file, _, rest = row["mutant"].partition(":")
    what = rest.partition(": ")[2].rpartition(" [")[0]
    return next((m for m in mutants_of(file) if m.what == what and m.function), None)


def _in_fork(work):
    """Whether work returns something true in a process of its own."""
    pid = os.fork()
    if not pid:
        try:
            os._exit(not work())
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("row", NOTICED, ids=lambda row: row["mutant"])
def test_lit_notices_a_mutant(row):
    mutant, judges = _mutant(row), Judges()
    if mutant is None:
        pytest.skip("the code has changed: run tests/mutants/run.py anew")
    assert judges.passes(row["noticed"][LIT])

    def passes():
        if not patch(mutant):
            os._exit(3)
        return judges.passes(row["noticed"][LIT])

    assert not _in_fork(passes)


def test_the_bits_of_a_descriptor_are_all_flipped():
    bits = {
        m.what.rpartition(" ")[2] for m in mutants_of("ir/matrix_descriptors.py") if " ^ " in m.what
    }
    assert {str(1 << bit) for bit in range(64)} <= bits


@pytest.mark.parametrize("file", ["layout/swizzle.py", "layout/tcgen05/descriptor.py"])
def test_every_mutant_compiles_and_is_another_program(file):
    before = ast.dump(ast.parse((ROOT / file).read_text()))
    for mutant in mutants_of(file):
        assert ast.dump(mutant.tree()) != before, mutant.name
        mutant.code()


def test_what_is_explained_is_in_the_record():
    names = {row["mutant"].partition(":")[0] + ": " for row in RECORD}
    assert all(any(key.startswith(name) for name in names) for key in EXPLAINED)
