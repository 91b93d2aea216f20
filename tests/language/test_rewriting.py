"""Rewritten functions do what they did on Python's values: the tests of Python's library still pass."""

import importlib
import io
import unittest
from types import FunctionType

import pytest

from mlir_smem.language.control.statements import Statements
from mlir_smem.language.rewriting import rewrite

#: Modules in Python, with many branches and jumps, and quick tests (those of `copy` collect garbage).
MODULES = ("fnmatch", "graphlib", "shlex", "textwrap")


@pytest.mark.parametrize("name", MODULES)
def test_a_rewritten_library_passes_its_tests(name, monkeypatch):
    module = importlib.import_module(name)
    tests = pytest.importorskip(f"test.test_{name}", reason="no tests of Python")
    statements, count = Statements(rewrite.__code__), 0
    for owner in (module, *vars(module).values()):
        if owner is not module and getattr(owner, "__module__", None) != name:
            continue
        for key, function in list(getattr(owner, "__dict__", {}).items()):
            if isinstance(function, FunctionType) and function.__module__ == name:
                rewritten = rewrite(function, statements)
                count += rewritten is not function
                monkeypatch.setattr(owner, key, rewritten)
    assert count > 3
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    outcome = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert outcome.testsRun > 10
    assert not outcome.failures and not outcome.errors


def test_lines_and_closures_stay():
    step = 3

    def count(x, *, limit=10):
        """Count."""
        if x > limit:
            return x
        return x + step

    rewritten = rewrite(count, Statements(count.__code__))
    assert rewritten is not count
    assert [rewritten(1), rewritten(11), rewritten(4, limit=2)] == [4, 11, 4]
    code, before = rewritten.__code__, count.__code__
    assert (code.co_filename, code.co_firstlineno) == (before.co_filename, before.co_firstlineno)
    assert (code.co_name, code.co_qualname) == (before.co_name, before.co_qualname)
    lines = {line for _, _, line in code.co_lines() if line}
    assert lines <= {line for _, _, line in before.co_lines() if line}


def test_what_is_not_rewritten():
    def generate(x):
        if x:
            yield x

    namespace = {}
    exec("def f(x):\n    return 1 if x else 2", namespace)
    for function in (generate, namespace["f"], rewrite):
        assert rewrite(function, Statements(generate.__code__)) is function
