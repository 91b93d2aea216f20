"""lit runs the commands as forks of its own processes, which behave as processes of their own."""

import os
import signal
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

FORKED = Path(__file__).parents[2] / "lit_tests" / "forked.py"


@pytest.fixture
def forked():
    spec = util.spec_from_file_location("forked", FORKED)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(forked, *words, text=None):
    pipe = subprocess.PIPE
    environment = {"PATH": os.environ["PATH"], "WORD": "here"}
    with forked.Popen(
        list(words), stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd="/", text=True
    ) as process:
        return *process.communicate(text), process.returncode


def report():
    print(sys.argv, os.environ["WORD"], os.getcwd(), sys.stdin.read())
    print("an error", file=sys.stderr)
    raise SystemExit(3)


def test_a_command_has_its_streams_arguments_environment_and_folder(forked):
    forked.register(["true", "report"], report)
    output = "['report', '-x'] here / text\n"
    assert run(forked, "true", "report", "-x", text="text") == (output, "an error\n", 3)


def test_other_commands_are_executed(forked):
    forked.register(["false", "report"], report)
    assert run(forked, "false", "-x") == ("", "", 1)


def test_a_command_that_crashes_has_the_signal(forked):
    forked.register(["true"], lambda: os.kill(os.getpid(), signal.SIGSEGV))
    assert run(forked, "true") == ("", "", -signal.SIGSEGV)


def test_an_exception_is_a_traceback(forked):
    forked.register(["true"], lambda: 1 // 0)
    output, errors, code = run(forked, "true")
    assert (output, code) == ("", 1)
    assert "ZeroDivisionError" in errors


def test_a_fork_of_a_fork_has_its_streams(forked):
    def refuse():
        with forked.Popen(["true", "report"], stderr=subprocess.PIPE, text=True) as process:
            print("saw", process.communicate("")[1], end="")

    forked.register(["true", "report"], lambda: print("an error", file=sys.stderr))
    forked.register(["true", "refuse"], refuse)
    assert run(forked, "true", "refuse") == ("saw an error\n", "", 0)
