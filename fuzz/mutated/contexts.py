"""One context for many modules: creating one takes as long as checking twenty modules."""

import atexit
from contextlib import ExitStack
from functools import cache
from typing import Any

from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.tools.diagnostics import Collector

from ..frame import trying

UNREGISTERED = "// unregistered\n"


@cache
def context() -> Any:
    """The context of this process; it becomes the current one."""
    entered = ExitStack()
    mlir_context = entered.enter_context(new_context())
    atexit.register(entered.close)
    return mlir_context


def try_parse(text: str) -> Any:
    """Parse a module; None if that fails."""
    trying(text)
    with Collector("-").listen(context()):
        try:
            return parse(text)
        except ir.MLIRError:
            return None


def parse(text: str) -> Any:
    """Parse a module; after a line `// unregistered`, ops of unknown dialects are allowed.

    Raises:
        MLIRError: if it cannot be parsed.
    """
    context().allow_unregistered_dialects = UNREGISTERED in text
    return parse_module(text)
