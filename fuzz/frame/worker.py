"""A forked process that checks inputs, monitored by its parent."""

import faulthandler
import json
import mmap
import os
import re
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from .fuzzer import Failure, Fuzzer, failure_of, file_of, where_of

#: What a worker shares with its parent: the number of its input (-1 between inputs), its start in wall
#: time and CPU time, the number of finished inputs, and the length of the input's text, which follows.
_BOARD = struct.Struct("<qddqq")
_TEXT = 1 << 20

#: On a loaded machine, a process may get a sixth of the CPU time.
_PATIENCE = 6

#: Growth in KiB after which a process is replaced.
_RESIDENT = 1 << 20

#: The bytes that are read of a process's output.
_MAX_OUTPUT = 1 << 20

#: LLVM's last message, as far as it is the same for similar inputs.
_LLVM_MESSAGE = re.compile(
    r"LLVM ERROR: [A-Za-z ]+|^error: [A-Za-z ]+|Assertion `[^']{,60}|(?<=/)\w+\.cpp:(?=\d+!)"
)

#: A line of faulthandler's stack.
_FRAME = re.compile(r'^  File "(.+)", line \d+ in (.+)$', re.MULTILINE)


#: Within a worker: functions that announce the current input to the parent.
_announcers: list[Callable[[str], None]] = []


def trying(text: str) -> None:
    """Announce an input while it is still being drawn: if drawing fails, this is the input."""
    for announce in _announcers:
        announce(text)


@dataclass(frozen=True)
class FailedInput:
    """An input that fails: number, text and failure."""

    number: int
    text: str
    failure: Failure


class Worker:
    """A process that checks inputs until there are no more, one fails, or its lifetime or time is over.

    It has a current folder of its own.

    Args:
        fuzzer: checks the inputs.
        inputs: the number of each input and the function that draws it; only the process iterates them.
        deadline: when to stop (`time.monotonic`).
    """

    def __init__(
        self, fuzzer: Fuzzer, inputs: Iterable[tuple[int, Callable[[], str]]], deadline: float
    ) -> None:
        self._fuzzer = fuzzer
        self._board = mmap.mmap(-1, _BOARD.size + _TEXT)
        self._write_none(0)
        self._folder = TemporaryDirectory(prefix=f"fuzz-{fuzzer.name}-", ignore_cleanup_errors=True)
        self._errors, self._stack = os.memfd_create("errors"), os.memfd_create("stack")
        self.pipe, out = os.pipe()
        os.set_blocking(self.pipe, False)
        self._unread = b""
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            self._run(inputs, deadline, out)
        # Parent and child may run in either order.
        with suppress(OSError):
            os.setpgid(self.pid, self.pid)
        os.close(out)

    # -- in the process ----------------------------------------------------------------------------

    def _run(
        self, inputs: Iterable[tuple[int, Callable[[], str]]], deadline: float, out: int
    ) -> NoReturn:
        # Its child processes end with it.
        os.setpgid(0, 0)
        os.close(self.pipe)
        os.chdir(self._folder.name)
        devnull = os.open(os.devnull, os.O_RDWR)
        os.dup2(devnull, 0)
        os.dup2(devnull, 1)
        os.dup2(self._errors, 2)
        faulthandler.enable(self._stack)
        faulthandler.register(signal.SIGUSR1, self._stack)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit = _mapped_bytes() + int(self._fuzzer.gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for done, (number, make) in enumerate(inputs, 1):
            failure, outcome = self._check(number, make, done - 1)
            if failure or outcome:
                os.write(out, json.dumps(failure or {"outcome": outcome}).encode() + b"\n")
            self._write_none(done)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _RESIDENT
            if failure or grown or done == self._fuzzer.lifetime or time.monotonic() > deadline:
                break
        os._exit(0)

    def _check(
        self, number: int, make: Callable[[], str], done: int
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Check an input; return its failure for the parent, or else its outcome."""
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)
        began = time.monotonic(), time.process_time()
        self._write(number, began, done)
        _announcers[:] = [lambda text: self._write(number, began, done, text)]
        try:
            text = make()
            trying(text)
            return None, self._fuzzer.check(text)
        except BaseException as error:
            failure = asdict(failure_of(error))
            return {"number": number, "text": self._text, "failure": failure}, None

    @property
    def _text(self) -> str:
        size = _BOARD.unpack_from(self._board)[4]
        text = self._board[_BOARD.size : _BOARD.size + size]
        return text.decode(errors="surrogateescape")

    def _write_none(self, done: int) -> None:
        """Announce to the parent that no input is being checked."""
        # The parent may read half of this write and half of the next, and must not see a hang.
        self._write(-1, (time.monotonic(), time.process_time()), done)

    def _write(self, number: int, began: tuple[float, float], done: int, text: str = "") -> None:
        data = text.encode(errors="surrogateescape")[:_TEXT]
        self._board[_BOARD.size : _BOARD.size + len(data)] = data
        _BOARD.pack_into(self._board, 0, number, *began, done, len(data))

    # -- in the parent -----------------------------------------------------------------------------

    @property
    def input_count(self) -> int:
        """The number of checked inputs, without one that crashed the process."""
        return _BOARD.unpack_from(self._board)[3]

    @property
    def outcomes(self) -> list[str]:
        """The outcomes of the inputs that did not fail, once the process has ended."""
        return [line["outcome"] for line in self._lines if "outcome" in line]

    @property
    def _lines(self) -> list[dict[str, Any]]:
        # A process that was killed may have left half a line.
        return [json.loads(line) for line in self._unread.split(b"\n")[:-1]]

    @property
    def hangs(self) -> bool:
        """Whether the input has taken longer than the limit."""
        board = _BOARD.unpack_from(self._board)
        number, began, began_cpu, _, _ = board
        elapsed, limit = time.monotonic() - began, self._fuzzer.seconds
        if number < 0 or elapsed < limit:
            return False
        if elapsed <= _PATIENCE * limit and _cpu_seconds(self.pid) - began_cpu <= limit:
            return False
        # The process may have been writing the board: what was read is of no input then.
        time.sleep(0.05)
        return board == _BOARD.unpack_from(self._board)

    def has_ended(self) -> bool:
        """Read the output; return whether the process has ended."""
        try:
            while data := os.read(self.pipe, 1 << 16):
                self._unread += data
        except BlockingIOError:
            return False
        return True

    def kill(self) -> FailedInput:
        """End a process that hangs; record where it was."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(0.2)
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        message = f"longer than {self._fuzzer.seconds:g} s"
        return self._failed_input(Failure("hang", file_of(self._frame()), message))

    def result(self) -> FailedInput | None:
        """The input that failed, if any; for a process that has ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code:
            return self._failed_input(self._death(code))
        for line in self._lines:
            if "failure" in line:
                return FailedInput(line["number"], line["text"], Failure(**line["failure"]))
        return None

    def _failed_input(self, failure: Failure) -> FailedInput:
        number = _BOARD.unpack_from(self._board)[0]
        return FailedInput(number, self._text, failure)

    def _death(self, code: int) -> Failure:
        output = _read(self._errors).strip().splitlines()
        kind = f"exit {code}" if code > 0 else signal.Signals(-code).name
        # LLVM's last message is more specific than the place.
        messages = [match[0] for line in output if (match := _LLVM_MESSAGE.search(line))]
        where = ": ".join([self._frame() or "no frame", *messages[:1]])
        return Failure(kind, where, "\n".join(output[:6]))

    def _frame(self) -> str:
        """The place of the process when it crashed or was killed."""
        stacks = _read(self._stack)
        current = stacks.partition("Current thread")[2] or stacks
        return where_of(_FRAME.findall(current.partition("\n\n")[0]))

    def close(self) -> None:
        """Free the parent's resources."""
        for file in (self.pipe, self._errors, self._stack):
            os.close(file)
        self._board.close()
        self._folder.cleanup()


def _read(file: int) -> str:
    return os.pread(file, _MAX_OUTPUT, 0).decode(errors="replace")


def _cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _mapped_bytes() -> int:
    """The bytes of address space that this process has mapped."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
