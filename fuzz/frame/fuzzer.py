"""A fuzzer, and how one of its inputs fails."""

import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

HOUSE = Path(__file__).parents[2]

#: How much of a message tells a failure.
_MESSAGE = 400


class Wrong(Exception):
    """An input was not handled as it must be, though nothing was raised.

    Attributes:
        kind: what is wrong; failures are told apart by it and `where`.
        where: what did it, for example a pass.
        message: what was seen.
    """

    def __init__(self, kind: str, where: str, message: str = "") -> None:
        super().__init__(f"{kind} ({where}): {message}")
        self.kind, self.where, self.message = kind, where, message


@dataclass(frozen=True)
class Fuzzer:
    """A kind of random input, and what must be true of what becomes of each.

    Attributes:
        name: the module `fuzz.NAME`.
        draw: makes an input; without some of its lines it is a simpler one.
        check: takes an input; what it raises is a failure.
        suffix: of files that hold an input.
        lifetime: inputs that one process checks before the next takes over.
        seconds: longer than this, an input hangs.
        gigabytes: more address space than this, beyond what is mapped at the start, an input may not
            take.
    """

    name: str
    draw: Callable[[Random], str]
    check: Callable[[str], None]
    suffix: str = ".mlir"
    lifetime: int = 2000
    seconds: float = 20.0
    gigabytes: float = 4.0

    def drawn(self, seed: int, number: int) -> str:
        """The input of a seed and a number."""
        return self.draw(generator(seed, number))


def generator(seed: int, number: int) -> Random:
    """The random numbers of an input."""
    return Random(f"{seed}/{number}")


@dataclass(frozen=True)
class Failure:
    """How an input fails.

    Attributes:
        kind: the type of an exception, a signal, "hang", or what a check says.
        where: the innermost function of ours, or what a check says.
        message: what was said.
    """

    kind: str
    where: str
    message: str

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.kind, self.where

    @property
    def slug(self) -> str:
        """A name for files."""
        return re.sub(r"[^A-Za-z0-9]+", "-", f"{self.kind} {self.where}").strip("-")[:90]

    def __str__(self) -> str:
        message = self.message.strip().replace("\n", "\n    ")
        return f"{self.kind} in {self.where}" + (f"\n    {message}" if message else "")


def failure_of(error: BaseException) -> Failure:
    """The failure that an exception is."""
    if isinstance(error, Wrong):
        return Failure(error.kind, error.where, error.message[:_MESSAGE])
    places = [(frame.filename, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    where = where_of(reversed(places))
    if isinstance(error, RecursionError):
        where = file_of(where)
    return Failure(type(error).__name__, where, str(error)[:_MESSAGE])


def file_of(where: str) -> str:
    """The file of a place: of what goes round and round, the function differs from time to time."""
    return where.partition(":")[0]


def where_of(places: Iterable[tuple[str, str]]) -> str:
    """The first place, of files and functions, that is in the package; else the first in the house; else
    the first."""
    inner = ""
    helper = ""
    for file, function in places:
        path = Path(file)
        named = f"{path.name}: {function}"
        inner = inner or named
        if not path.is_relative_to(HOUSE) or ".venv" in path.parts:
            continue
        relative = path.relative_to(HOUSE)
        named = f"{relative}: {function}"
        if relative.parts[0] not in ("fuzz", "tests"):
            return named
        helper = helper or named
    return helper or inner
