"""Each seeded fault is found, by the static checker or by the emulator; correct kernels are silent."""

import pytest
from faults.bases import NAMES, base
from faults.catalogue import FAULTS
from faults.verdicts import Verdict, check, emulated, lower, verdict


@pytest.mark.parametrize("name", NAMES)
def test_a_correct_kernel_raises_nothing(name):
    kernel = base(name)
    assert check(kernel.text, kernel) == ""
    assert emulated(lower(kernel.text, kernel), kernel) == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(fault):
    assert verdict(fault).found


def test_there_are_faults_of_every_kind():
    assert len(FAULTS) >= 30
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_remark_alone_finds_nothing():
    assert not Verdict("remark", "").found
    assert not Verdict("", "").found
