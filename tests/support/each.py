"""Many alike cases as one test: pytest spends more on a test than most of them take."""

import functools
import inspect

import pytest


def for_each(argument, cases, name_of=str):
    """Makes a test of one case a test that runs all.

    The first failure is raised when all have run, with the names of the cases that fail.

    Args:
        argument: the test's argument that is the case; others stay fixtures and parameters.
        cases: what it is in turn.
        name_of: the name of a case.
    """
    assert cases

    def over(test):
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

    return over
