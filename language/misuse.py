"""Errors of Python for values of a kernel, such as a method that they lack, as errors of the trace."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any

from .errors import TraceError
from .locations import FOLDER, LIBRARY_FOLDERS, position_at
from .values.base import Traced, describe
from .values.fragment import Fragment
from .values.operators import Unloaded

#: What to write, by a part of the message.
_INSTEAD = {
    "a condition and": "write sl.where(condition, x, y)",
    "and a condition": "write sl.where(condition, x, y)",
    "ufunc": "write the function of sl, such as sl.exp",
    "unhashable": "compare it with each key: (i == 1) | (i == 2)",
    "item assignment": "write sl.store(value, t[...]), or sl.where(condition, x, y) for elements",
}


def misuse_of(error: TypeError | AttributeError, absent: list[str]) -> TraceError | None:
    """Return the error of a trace for one that a line of the author raised; None if it has another cause.

    Args:
        error: it left the kernel.
        absent: the parameters that are None.
    """
    author: TracebackType | None = None
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(LIBRARY_FOLDERS):
            author = traceback
        elif file.startswith(FOLDER):
            author = None
        traceback = traceback.tb_next
    if author is None:
        return None
    kinds = {"Window": "a window", "PackedView": "a packed view", "range_": "sl.range"}
    classes: list[Any] = [Traced]
    for cls in classes:
        kinds[cls.__name__] = cls.kind
        classes += cls.__subclasses__()
    text, value = str(error), getattr(error, "obj", None)
    if isinstance(error, AttributeError) and isinstance(value, Traced | Unloaded):
        names = [
            n for n in dir(value) if n[0] != "_" and n not in ("instead", "node", *dir(Traced))
        ]
        advice = f"it has {', '.join(names)}"
        if isinstance(value, Unloaded) and hasattr(Fragment, str(error.name)):
            advice = value.instead
        text = f"{describe(value)} has no {error.name}; {advice}"
    elif absent and "NoneType" in text:
        text = f"{' or '.join(absent)} is None in this call, and is used as a value"
    elif "smem.language'" not in text and not re.search(rf"\b({'|'.join(kinds)})\b", text):
        return None
    text = re.sub(rf"'?\b({'|'.join(kinds)})\b(?!\.)'?", lambda word: kinds[word[1]], text)
    for words, instead in _INSTEAD.items():
        text += f"; {instead}" if words in text else ""
    return TraceError(text, position_at(author.tb_frame.f_code, author.tb_lasti))
