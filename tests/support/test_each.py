"""Failures of cases that run as one test (tests/support/each.py)."""

import pytest
from each import for_each


@pytest.fixture
def limit():
    return 3


def test_every_case_runs_and_failing_cases_are_named():
    ran = []

    @for_each("number", range(6), "n{}".format)
    def test(number, limit):
        ran.append(number)
        assert number < limit, number

    with pytest.raises(AssertionError, match="4") as failed:
        test(limit=4)
    assert ran == [*range(6)]
    assert failed.value.__notes__ == ["2 of 6 fail: n4, n5"]


@pytest.mark.parametrize("factor", [1, 2])
@for_each("number", range(3))
def test_other_arguments_remain_fixtures_and_parameters(factor, number, limit):
    assert factor * number < factor * limit


def test_no_cases_are_refused():
    with pytest.raises(AssertionError):
        for_each("number", [])
