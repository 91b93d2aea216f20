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
def forks():
    spec = util.spec_from_file_location("forked", FORKED)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(forks, *words, text=None):
    pipe = subprocess.PIPE
    environment = {"PATH": os.environ["PATH"], "WORD": "here"}
    with forks.Popen(
        list(words), stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd="/", text=True
    ) as process:
        return *process.communicate(text), process.returncode


def report():
    print(sys.argv, os.environ["WORD"], os.getcwd(), sys.stdin.read())
    print("an error", file=sys.stderr)
    raise SystemExit(3)


def test_a_command_has_its_streams_arguments_environment_and_folder(forks):
    forks.register(["true", "report"], report)
    output = "['report', '-x'] here / text\n"
    assert run(forks, "true", "report", "-x", text="text") == (output, "an error\n", 3)


def test_other_commands_are_executed(forks):
    forks.register(["false", "report"], report)
    assert run(forks, "false", "-x") == ("", "", 1)


def test_a_command_that_crashes_has_the_signal(forks):
    forks.register(["true"], lambda: os.kill(os.getpid(), signal.SIGSEGV))
    assert run(forks, "true") == ("", "", -signal.SIGSEGV)


def test_an_exception_is_a_traceback(forks):
    forks.register(["true"], lambda: 1 // 0)
    output, errors, code = run(forks, "true")
    assert (output, code) == ("", 1)
    assert "ZeroDivisionError" in errors


def test_a_fork_of_a_fork_has_its_streams(forks):
    def refuse():
        with forks.Popen(["true", "report"], stderr=subprocess.PIPE, text=True) as process:
            print("saw", process.communicate("")[1], end="")

    forks.register(["true", "report"], lambda: print("an error", file=sys.stderr))
    forks.register(["true", "refuse"], refuse)
    assert run(forks, "true", "refuse") == ("saw an error\n", "", 0)
