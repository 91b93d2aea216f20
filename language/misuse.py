"""Errors of Python for values of a kernel, such as a method that they lack, as errors of the trace."""

from __future__ import annotations

import re
from types import TracebackType

from .errors import TraceError
from .locations import FOLDER, LIBRARY_FOLDERS, position_at
from .values.array import Window
from .values.base import Traced, describe
from .values.operators import Unloaded


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
    kinds, classes = {Window.__name__: "a window"}, [Traced]
    for cls in classes:
        kinds[cls.__name__] = cls.kind
        classes += cls.__subclasses__()
    text, value = str(error), getattr(error, "obj", None)
    if isinstance(value, Traced | Unloaded):
        names = ", ".join(name for name in dir(value) if not name.startswith("_"))
        text = f"{describe(value)} has no {getattr(error, 'name', '')}; it has {names}"
    elif absent and "NoneType" in text:
        text = f"{' or '.join(absent)} is None in this call, and is used as a value"
    elif not set(re.findall(r"\w+", text)) & {*kinds}:
        return None
    if author is None:
        return None
    text = re.sub(r"'(\w+)'", lambda word: kinds.get(word[1], word[0]), text)
    return TraceError(text, position_at(author.tb_frame.f_code, author.tb_lasti))
