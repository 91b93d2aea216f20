"""Reduce an input that fails, as long as it fails in the same way."""

import time
from collections.abc import Callable

from .fuzzer import Fuzzer
from .replay import outcome
from .worker import FailedInput


def minimise(fuzzer: Fuzzer, failed: FailedInput, seconds: float) -> tuple[str, bool]:
    """Reduce an input for some seconds; return it, and whether it also fails when checked alone."""
    deadline = time.monotonic() + seconds

    def fails(text: str) -> bool:
        failure = outcome(fuzzer, text)
        if failure is None or failure.kind != failed.failure.kind:
            return False
        # The place of a hang differs from run to run.
        return failure.kind == "hang" or failure.where == failed.failure.where

    if not fails(failed.text):
        return failed.text, False
    return _smallest(failed.text, fails, deadline), True


def _smallest(text: str, fails: Callable[[str], bool], deadline: float) -> str:
    """Remove halves of the lines, then smaller and smaller parts, while the rest still fails."""
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
        # Removing a line may make others removable.
        if size > 1 or len(lines) == before:
            size //= 2
    return "".join(lines)
