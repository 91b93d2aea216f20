"""Each seeded fault is found by the static checker or by the emulator; correct kernels have no faults."""

import runpy
from pathlib import Path

import pytest
from seeded_faults.bases import NAMES, base
from seeded_faults.catalogue import FAULTS
from seeded_faults.evaluations import Evaluation, evaluation

from fuzz.generated.kernels import check_and_lower, emulate_kernel

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "faults.py"))
PAGE = (DOCS / "faults.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_correct_kernels_have_no_faults(name):
    kernel = base(name)
    checked_kernel = check_and_lower(kernel)
    assert checked_kernel.check.evaluation == "proven"
    assert emulate_kernel(checked_kernel.compiled, kernel) == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_faults_are_found_as_the_page_states(fault):
    fault_evaluation = evaluation(fault)
    assert fault_evaluation.is_noticed
    assert SCRIPT["row"](fault, fault_evaluation) in PAGE.splitlines(), "run `make docs`"


def test_page_lists_every_fault():
    introduction, rows = SCRIPT["INTRODUCTION"], len(FAULTS)
    assert PAGE.startswith(introduction)
    listed = PAGE.removeprefix(introduction + "\n").splitlines()
    assert [row.split(" | ")[0] for row in listed[:rows]] == [f"| {f.name}" for f in FAULTS]
    assert listed[rows:] == ["", f"{rows} faults."]


def test_at_least_30_faults_with_unique_names():
    assert len(FAULTS) >= 30
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_remark_alone_does_not_find_a_fault():
    assert not Evaluation("remark", "").is_noticed
    assert not Evaluation("", "").is_noticed
