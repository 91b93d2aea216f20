"""LLVM in a separate process, so that a crash of LLVM does not end the process that compiles.

A process is kept for the next module, because starting one takes a quarter of a second.
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

from ..bindings.mlir import PACKAGE
from .errors import CompileError, no_temporary_files
from .llvm_protocol import LAST, AnswerKind, Request

#: The program of the process. It finds packages where this one does, after its own `sys.path`.
_SCRIPT = (
    "import sys; sys.path += sys.argv[2:]; "
    f"from {__package__}.llvm_worker import serve; serve(sys.argv[1])"
)

#: Characters of LLVM's stderr that a message quotes: LLVM may print a whole function.
_MAX_CHARACTERS = 2000


class LLVMDied(Exception):
    """The process of LLVM ended; the message is its stderr, or the exit code or signal."""


class LLVMProcess:
    """A process that runs LLVM for this one.

    Raises:
        CompileError: if none can be started.
    """

    def __init__(self) -> None:
        # A file, because a pipe that is not read would fill up and block LLVM.
        try:
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            raise no_temporary_files(error) from None
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SCRIPT, PACKAGE, *map(os.path.abspath, sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                # The bindings load NumPy, which needs no threads in that process.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        except (OSError, ValueError) as error:
            raise CompileError(
                f"no process can be started to run LLVM: {sys.executable or 'sys.executable'}: "
                f"{error}"
            ) from None

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def answers(self, request: Request) -> Iterator[tuple[AnswerKind, Any]]:
        """Send a request and yield the answers with their values as they arrive.

        Raises:
            LLVMDied: if the process ends before the last answer.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        self._stderr.seek(0)
        self._stderr.truncate()
        kind = None
        try:
            pickle.dump(request, requests)
            requests.flush()
            while kind not in LAST:
                kind, value = pickle.load(answers)
                yield kind, value
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self._process.wait()
            raise LLVMDied(self._output() or _exit_reason(code)) from None
        if warnings := self._output():
            print(warnings, file=sys.stderr)

    def _output(self) -> str:
        """Return what LLVM wrote to stderr since the last request."""
        self._stderr.seek(0)
        output = self._stderr.read().decode(errors="replace").strip()
        return output.removeprefix("error: ")[:_MAX_CHARACTERS]

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            with suppress(OSError):  # a request that was not read
                if stream is not None:
                    stream.close()
        self._process.wait()


#: Processes that wait for the next module; each thread that compiles takes one.
_idle: list[LLVMProcess] = []


def prepare() -> None:
    """Start a process for the next module if none is idle: it loads LLVM while the passes run."""
    if not _idle:
        _idle.append(LLVMProcess())


@contextmanager
def llvm_process() -> Iterator[LLVMProcess]:
    """Provide a process that no other thread uses."""
    process = _take_idle() or LLVMProcess()
    try:
        yield process
    except BaseException:
        # Its remaining answers would be read as those of the next request.
        process.end()
        raise
    if _idle:
        process.end()
    else:
        _idle.append(process)


def _take_idle() -> LLVMProcess | None:
    while _idle:
        with suppress(IndexError):  # another thread took it
            process = _idle.pop()
            if process.alive:
                return process
            process.end()
    return None


def _exit_reason(code: int) -> str:
    """Return how a process without output on stderr ended."""
    if code >= 0:
        return f"exit code {code}"
    return f"{signal.strsignal(-code) or 'signal'} ({signal.Signals(-code).name})"


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


# A forked process shares the pipes of its parent.
os.register_at_fork(after_in_child=_idle.clear)
