"""Attributes of enums, which versions of MLIR spell differently: `#gpu<dim x>` and `#gpu.dim<x>`.

The version number of LLVM does not tell which spelling a parser reads, since enums changed one by one
during the development of one version. So the parser is asked, for each spelling that a text has.
"""

import re
from typing import Any

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_SPACED = r"#(?P<d1>\w+)<(?P<m1>\w+) (?P<v1>[\w.]+)>"
_BRACKETED = r"#(?P<d2>\w+)\.(?P<m2>\w+)<(?P<v2>[\w.]+)>"
_ENUM = re.compile(rf"{_STRING}|{_SPACED}|{_BRACKETED}")


def respelled(text: str, ir: Any, context: Any) -> str:
    """Return the text of a module, with each enum attribute in the spelling that a parser reads.

    Args:
        text: the module, as bindings of any version print it.
        ir: the module `ir` of the bindings that will parse it.
        context: the context in which it will be parsed.
    """
    chosen: dict[str, str] = {}

    def choose(found: re.Match[str]) -> str:
        spelled = found[0]
        if spelled[0] == '"':
            return spelled
        if spelled not in chosen:
            other = _other(found)
            wanted = not _reads(ir, context, spelled) and _reads(ir, context, other)
            chosen[spelled] = other if wanted else spelled
        return chosen[spelled]

    return _ENUM.sub(choose, text)


def _other(found: re.Match[str]) -> str:
    if found["d1"]:
        return f"#{found['d1']}.{found['m1']}<{found['v1']}>"
    return f"#{found['d2']}<{found['m2']} {found['v2']}>"


def _reads(ir: Any, context: Any, text: str) -> bool:
    try:
        ir.Attribute.parse(text, context=context)
    except (ir.MLIRError, ValueError):
        return False
    return True
