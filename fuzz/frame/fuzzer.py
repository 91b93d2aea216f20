"""A fuzzer, and the failure of an input."""

import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]

#: Characters of a message that identify a failure.
_MESSAGE = 400


class Wrong(Exception):
    """An input was handled wrongly, though nothing was raised.

    Attributes:
        kind: what is wrong; `kind` and `where` identify a failure.
        where: what failed, for example a pass.
        message: what was observed.
    """

    def __init__(self, kind: str, where: str, message: str = "") -> None:
        super().__init__(f"{kind} ({where}): {message}")
        self.kind, self.where, self.message = kind, where, message


@dataclass(frozen=True)
class Fuzzer:
    """A generator of random inputs, and a check of each.

    Attributes:
        name: the module `fuzz.NAME`.
        draw: makes an input; an input without some of its lines is a simpler one.
        check: checks an input; an exception is a failure. It may return the input's outcome, for example
            "refused: ..."; a record counts outcomes.
        suffix: the suffix of files with inputs.
        lifetime: inputs that one process checks before it is replaced.
        seconds: the time after which an input counts as a hang.
        gigabytes: the address space that an input may take, beyond what is mapped at the start.
    """

    name: str
    draw: Callable[[Random], str]
    check: Callable[[str], str | None]
    suffix: str = ".mlir"
    lifetime: int = 2000
    seconds: float = 20.0
    gigabytes: float = 4.0

    def input_text(self, seed: int, number: int) -> str:
        """The input that follows from a seed and a number."""
        return self.draw(generator(seed, number))


def generator(seed: int, number: int) -> Random:
    """The random number generator of an input."""
    return Random(f"{seed}/{number}")


@dataclass(frozen=True)
class Failure:
    """The failure of an input.

    Attributes:
        kind: the type of an exception, a signal, "hang", or the `kind` of a `Wrong`.
        where: the innermost function of ours, or the `where` of a `Wrong`.
        message: the message.
    """

    kind: str
    where: str
    message: str

    @property
    def key(self) -> tuple[str, str]:
        """The kind and the place, which identify the failure."""
        return self.kind, self.where

    @property
    def slug(self) -> str:
        """The name of files with this failure."""
        return re.sub(r"[^A-Za-z0-9]+", "-", f"{self.kind} {self.where}").strip("-")[:90]

    def __str__(self) -> str:
        message = self.message.strip().replace("\n", "\n    ")
        return f"{self.kind} in {self.where}" + (f"\n    {message}" if message else "")


def failure_of(error: BaseException) -> Failure:
    """The failure for an exception."""
    if isinstance(error, Wrong):
        return Failure(error.kind, error.where, error.message[:_MESSAGE])
    places = [(frame.filename, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    where = where_of(reversed(places))
    if isinstance(error, RecursionError):
        where = file_of(where)
    return Failure(type(error).__name__, where, str(error)[:_MESSAGE])


def file_of(where: str) -> str:
    """The file of a place. In a hang, the function differs from run to run."""
    return where.partition(":")[0]


def where_of(places: Iterable[tuple[str, str]]) -> str:
    """The first place (file and function) in the package, else in the repository, else the first."""
    inner = ""
    helper = ""
    for file, function in places:
        path = Path(file)
        named = f"{path.name}: {function}"
        inner = inner or named
        if not path.is_relative_to(ROOT) or ".venv" in path.parts:
            continue
        relative = path.relative_to(ROOT)
        named = f"{relative}: {function}"
        if relative.parts[0] not in ("fuzz", "tests"):
            return named
        helper = helper or named
    return helper or inner
