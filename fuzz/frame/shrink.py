"""Makes an input that fails smaller, as long as it fails the same way."""

import time
from collections.abc import Callable

from .alone import outcome
from .fuzzer import Fuzzer
from .worker import Found


def minimised(fuzzer: Fuzzer, found: Found, seconds: float) -> tuple[str, bool]:
    """A smaller input that fails as one does, after at most some seconds; and whether it fails so when
    it is checked alone."""
    deadline = time.monotonic() + seconds

    def fails(text: str) -> bool:
        failure = outcome(fuzzer, text)
        if failure is None or failure.kind != found.failure.kind:
            return False
        # Where an input is after some seconds differs.
        return failure.kind == "hang" or failure.where == found.failure.where

    if not fails(found.text):
        return found.text, False
    return _smallest(found.text, fails, deadline), True


def _smallest(text: str, fails: Callable[[str], bool], deadline: float) -> str:
    """Leaves out halves of the lines, then ever smaller parts, while what is left still fails."""
    lines = text.splitlines(keepends=True)
    size = len(lines) // 2
    while size:
        before, start = len(lines), 0
        while start < len(lines):
            if time.monotonic() > deadline:
                return "".join(lines)
            fewer = lines[:start] + lines[start + size :]
            if fails("".join(fewer)):
                lines = fewer
            else:
                start += size
        # A line may have been needed by one that is gone now.
        if size > 1 or len(lines) == before:
            size //= 2
    return "".join(lines)
