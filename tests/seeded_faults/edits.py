"""Edits of a kernel's text; each must change something."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mlir_smem.layout.wgmma import WgmmaDescriptor

Edit = Callable[[str], str]


def sub(pattern: str, replacement: str, count: int = 1) -> Edit:
    """Replace the first `count` matches of a pattern; all if `count` is 0."""

    def edit(text: str) -> str:
        edited = re.sub(pattern, replacement, text, count=count, flags=re.MULTILINE)
        assert edited != text, f"no match of {pattern}"
        return edited

    return edit


def both(*edits: Edit) -> Edit:
    """Apply one edit after the other."""

    def edit(text: str) -> str:
        for change in edits:
            text = change(text)
        return text

    return edit


def without(op: str, count: int = 1) -> Edit:
    """Remove the first `count` lines that contain an op; all if `count` is 0."""
    return sub(rf"^.*{op}.*\n", "", count)


def only(op: str, predicate: str, limit: int) -> Edit:
    """Execute an op only in threads whose index satisfies a comparison with a limit."""
    condition = (
        rf"      %limit = arith.constant {limit} : index\n"
        rf"      %some = arith.cmpi {predicate}, %thread, %limit : index\n"
    )
    return sub(rf"^( *{op}.*)$", rf"{condition}      scf.if %some {{\n\1\n      }}")


# -- edits of the lowered kernel ------------------------------------------------------------------


def constant(name: str, value: int) -> Edit:
    """Change the value of a constant."""
    return sub(rf"(%{name} = arith\.constant) -?\d+", rf"\1 {value}")


def modifier(matrix: str, position: int, old: str, new: str) -> Edit:
    """Change a modifier of a matrix in every wgmma: the one at `position` of those in brackets."""
    before = r"<\w+>, " * position
    return sub(rf"(nvvm\.wgmma\.mma_async .*\b{matrix}\[{before})<{old}>", rf"\1<{new}>", 0)


def descriptor(operand: str, **fields: Callable[[WgmmaDescriptor], Any]) -> Edit:
    """Change fields of A's or B's descriptor, each to a function of the old descriptor."""

    def change(bits: int) -> int:
        old = WgmmaDescriptor.decode(bits)
        return replace(old, **{name: field(old) for name, field in fields.items()}).encode()

    return _rewrite_descriptor(operand, change)


def flip(operand: str, bits: int) -> Edit:
    """Flip bits of A's or B's descriptor."""
    return _rewrite_descriptor(operand, lambda old: old ^ bits)


def _rewrite_descriptor(operand: str, change: Callable[[int], int]) -> Edit:
    """Change the constant of a descriptor; the constants of A and B occur in this order."""

    def edit(text: str) -> str:
        names = re.findall(r"arith\.ori %\d+, %(c-?\d{10,}_i64)", text)
        match = re.search(rf"%{names['AB'.index(operand)]} = arith\.constant (-?\d+) : i64", text)
        assert match
        old = int(match[1]) & (1 << 64) - 1
        new = change(old)
        assert new != old
        signed = new - (1 << 64) if new >> 63 else new
        return f"{text[: match.start(1)]}{signed}{text[match.end(1) :]}"

    return edit
