"""Attributes of enums, which versions of MLIR spell differently: `#gpu<dim x>` and `#gpu.dim<x>`.

The version number of LLVM does not tell which spelling a parser reads, since enums changed one by one
during the development of one version. Each spelling of a text is therefore tried in the parser.
"""

import re
from typing import Any

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_SPACED = r"#(?P<d1>\w+)<(?P<m1>\w+) (?P<v1>[\w.]+)>"
_BRACKETED = r"#(?P<d2>\w+)\.(?P<m2>\w+)<(?P<v2>[\w.]+)>"
_ENUM = re.compile(rf"{_STRING}|{_SPACED}|{_BRACKETED}")


def respell(text: str, ir: Any, context: Any) -> str:
    """Return the text of a module, with each enum attribute in the spelling that a parser reads.

    Args:
        text: the module, as bindings of any version print it.
        ir: the module `ir` of the bindings that will parse it.
        context: the context in which it will be parsed.
    """
    chosen: dict[str, str] = {}

    def choose(match: re.Match[str]) -> str:
        spelling = match[0]
        if spelling[0] == '"':
            return spelling
        if spelling not in chosen:
            alternative = _other_spelling(match)
            is_better = not _reads(ir, context, spelling) and _reads(ir, context, alternative)
            chosen[spelling] = alternative if is_better else spelling
        return chosen[spelling]

    return _ENUM.sub(choose, text)


def _other_spelling(match: re.Match[str]) -> str:
    if match["d1"]:
        return f"#{match['d1']}.{match['m1']}<{match['v1']}>"
    return f"#{match['d2']}<{match['m2']} {match['v2']}>"


def _reads(ir: Any, context: Any, text: str) -> bool:
    try:
        ir.Attribute.parse(text, context=context)
    except (ir.MLIRError, ValueError):
        return False
    return True
