"""Cases that are run as one test fail as tests do (tests/support/each.py)."""

import pytest
from each import for_each


@pytest.fixture
def limit():
    return 3


def test_every_case_runs_and_those_that_fail_are_named():
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
def test_other_arguments_are_fixtures_and_parameters(factor, number, limit):
    assert factor * number < factor * limit


def test_a_test_of_no_cases_is_none():
    with pytest.raises(AssertionError):
        for_each("number", [])
