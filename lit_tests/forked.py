"""Commands of the lit tests as forks of lit's own processes, which have imported them.

The imports of `smem-opt` and of the `filecheck` of PyPI take several times as long as most tests. A fork
begins after the imports, with its own streams, folder and environment, and ends as the command does.
"""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import lit.TestRunner

from mlir_smem.tools import server

#: Seconds after which a command is ended.
_MOST_SECONDS = 300

#: The functions that run command lines, by their first words. The function reads `sys.argv`, which begins
#: with the last of these words.
_FORKED: dict[tuple[str, ...], Callable[[], object]] = {}


class Popen(subprocess.Popen):
    """A process as `subprocess.Popen` starts it; a fork, if a registered command is started."""

    def __init__(self, args: Sequence[str], *, env: Any = None, **options: Any) -> None:
        for start, command in _FORKED.items():
            if tuple(args[: len(start)]) == start:
                environment = dict(os.environ if env is None else env)
                options["preexec_fn"] = partial(_run, command, args[len(start) - 1 :], environment)
                break
        super().__init__(args, env=env, **options)


def register(start: Sequence[str], command: Callable[[], object]) -> None:
    """Run a function in a fork for each command line that begins with `start`.

    Args:
        start: words; the first is a program that exists.
        command: the function. It reads `sys.argv`, which begins with the last of the words.
    """
    _FORKED[tuple(start)] = command


def install() -> None:
    """Make lit start the registered commands as forks.

    lit's workers have to be forks of this process, which is not the default from Python 3.14 on.
    """
    multiprocessing.set_start_method("fork", force=True)
    lit.TestRunner.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": Popen})
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the pages of all objects


def _run(
    command: Callable[[], object], arguments: list[str], environment: Mapping[str, str]
) -> None:
    """Run a command in the process that `Popen` has forked, and end it."""
    # The streams are in place. `Popen` returns when the pipe for errors of `exec` is closed.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    # In a fork of a fork, the replaced objects may close their streams.
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    # A command that hangs ends before its test does.
    signal.alarm(_MOST_SECONDS)
    code = 134  # the exit code of a process that aborts
    try:
        code = server.run_command(command, arguments, environment)
    finally:
        os._exit(code)
