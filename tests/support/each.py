"""Similar cases as one test, because pytest's overhead for a test exceeds the time of most cases."""

import functools
import inspect

import pytest


def for_each(argument, cases, name_of=str):
    """Make a test of one case a test that runs all cases.

    When all cases have run, the first failure is raised, with a note that names every case that failed.

    Args:
        argument: the test's argument for the case; the others remain fixtures and parameters.
        cases: the values of that argument.
        name_of: a function that returns the name of a case.
    """
    assert cases

    def decorate(test):
        @functools.wraps(test)
        def run(**others):
            failed, first = [], None
            for case in cases:
                try:
                    test(**{argument: case}, **others)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(name_of(case))
                    first = first or error
            if first:
                first.add_note(f"{len(failed)} of {len(cases)} fail: {', '.join(failed)}")
                raise first

        signature = inspect.signature(test)
        others = [p for name, p in signature.parameters.items() if name != argument]
        run.__signature__ = signature.replace(parameters=others)
        return run

    return decorate
