"""Python's warnings of compiled code that is slower than it need be."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from ..codegen import Report

#: What ptxas says of wgmma that it serializes or waits for: a code, and a sentence of a function.
_LOSS = re.compile(r"\((C75\d\d)\) (?:Potential Performance Loss: )?(.*?)(?: in line \d+)?$")


class PerformanceWarning(UserWarning):
    """Code of a kernel that spills registers, or whose wgmma ptxas serializes; at the kernel's line.

    It is given when a kernel is compiled for a GPU, or read from the cache; once, by Python's default
    filter of warnings.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", sl.PerformanceWarning)
    """


def warn_of_code(function: Callable[..., Any], report: Report | None) -> None:
    """Warn of what ptxas reports about a kernel's code; there is no report of earlier stages.

    Args:
        function: the kernel's Python function.
        report: ptxas's.
    """
    if report is None:
        return
    name, code = function.__name__, function.__code__
    messages = [
        f"ptxas on {name}: {loss[2]} ({loss[1]})"
        for loss in map(_LOSS.search, report.warnings)
        if loss
    ]
    if report.spill_bytes:
        messages.append(
            f"{name} spills registers: {report.spill_bytes} bytes of loads and stores, at "
            f"{report.registers} registers a thread; smaller fragments or more warpgroups need "
            "fewer, a smaller min_blocks gives more"
        )
    registry = function.__globals__.setdefault("__warningregistry__", {})
    for message in messages:
        warnings.warn_explicit(
            message,
            PerformanceWarning,
            code.co_filename,
            code.co_firstlineno,
            module=function.__module__,
            registry=registry,
        )
