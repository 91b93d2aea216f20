"""LLVM in a process of its own: what it dies of ends that process, and not the one that compiles.

A process is kept for the next module, because to start one takes a quarter of a second.
"""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .errors import CompileError
from .llvm_protocol import LAST, Answer, Request

#: What the process runs. It finds packages where this one does; its own places come first.
_SCRIPT = (
    f"import sys; sys.path += sys.argv[1:]; from {__package__}.llvm_worker import serve; serve()"
)

#: Characters of LLVM's last words that a message quotes: it may print all of a function.
_MOST_WORDS = 2000


class LLVMDied(Exception):
    """LLVM ended its process; the message is what it said, or the signal."""


class LLVMProcess:
    """A process that runs LLVM for this one.

    Raises:
        CompileError: if none can be started.
    """

    def __init__(self) -> None:
        # A pipe that nobody reads would fill up and stop LLVM.
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SCRIPT, *map(os.path.abspath, sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                # NumPy, which the bindings load, needs no threads there.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        except (OSError, ValueError) as error:
            raise CompileError(
                f"no process can be started to run LLVM in: {sys.executable or 'sys.executable'}: "
                f"{error}"
            ) from None

    @property
    def alive(self) -> bool:
        """Whether it waits for requests or works on one."""
        return self._process.poll() is None

    def answers(self, request: Request) -> Iterator[tuple[Answer, Any]]:
        """What it answers to a request, with its values, as it comes.

        Raises:
            LLVMDied: if it ends meanwhile.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        self._words.seek(0)
        self._words.truncate()
        what = None
        try:
            pickle.dump(request, requests)
            requests.flush()
            while what not in LAST:
                what, value = pickle.load(answers)
                yield what, value
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self._process.wait()
            raise LLVMDied(self._said() or _ended(code)) from None
        if words := self._said():
            print(words, file=sys.stderr)  # its warnings

    def _said(self) -> str:
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip()
        return words.removeprefix("error: ")[:_MOST_WORDS]

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            with suppress(OSError):  # a request that nobody read
                if stream is not None:
                    stream.close()
        self._process.wait()


#: A process that waits for the next module. Threads that compile at once have one each.
_idle: list[LLVMProcess] = []


def prepare() -> None:
    """Starts a process for the next module, if none waits: it loads LLVM while passes run."""
    if not _idle:
        _idle.append(LLVMProcess())


@contextmanager
def llvm_process() -> Iterator[LLVMProcess]:
    """A process that nobody else asks meanwhile."""
    process = _waiting() or LLVMProcess()
    try:
        yield process
    except BaseException:
        # What is left of its answers would be taken for the next ones'.
        process.end()
        raise
    if _idle:
        process.end()
    else:
        _idle.append(process)


def _waiting() -> LLVMProcess | None:
    while _idle:
        with suppress(IndexError):  # another thread was first
            process = _idle.pop()
            if process.alive:
                return process
            process.end()
    return None


def _ended(code: int) -> str:
    """How a process ended that said nothing."""
    if code >= 0:
        return f"exit code {code}"
    return f"{signal.strsignal(-code) or 'signal'} ({signal.Signals(-code).name})"


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


# The pipes of a process that was forked are those of its parent.
os.register_at_fork(after_in_child=_idle.clear)
