"""The layout of a kernel's shared memory: static variables first, then the dynamic part."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ..bindings.mlir import ir
from .kernel import DecodedKernel
from .memory import SHARED_ALIGNMENT, SHARED_BASE
from .types import bits_of


class SharedLayout:
    """The addresses of a kernel's shared memory.

    Attributes:
        buffers: addresses of the kernel's workgroup buffers.
        symbols: addresses of the module's variables.
        end: the address after the static variables.
        dynamic_start: the address of the dynamic part.
    """

    def __init__(self, kernel: DecodedKernel) -> None:
        self._next = SHARED_BASE
        self.symbols: dict[str, int] = {}
        unsized: list[str] = []
        for name, op in kernel.symbols.items():
            size, alignment = _variable(op)
            if size == 0:
                unsized.append(name)
            elif size:
                self.symbols[name] = self._allocate(size, alignment)
        self.buffers = [
            self._allocate(_bytes(b.type), b.alignment or _natural(b.type.element_type))
            for b in kernel.buffers
        ]
        self.end = self._next
        self.dynamic_start = _align_up(self.end, SHARED_ALIGNMENT)
        self.symbols |= dict.fromkeys(unsized, self.dynamic_start)

    def _allocate(self, size: int, alignment: int) -> int:
        address = _align_up(self._next, alignment)
        self._next = address + size
        return address


def _align_up(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment


def _variable(op: Any) -> tuple[int | None, int]:
    """Return bytes and alignment of a variable in shared memory; None bytes for any other symbol."""
    attributes = op.attributes
    if op.operation.name == "llvm.mlir.global":
        if "addr_space" not in attributes or ir.IntegerAttr(attributes["addr_space"]).value != 3:
            return None, 0
        type_, extents = str(ir.TypeAttr(attributes["global_type"]).value), [1]
        while match := re.fullmatch(r"!llvm\.array<(\d+) x (.*)>", type_):
            extents.append(int(match[1]))
            type_ = match[2]
        element = ir.Type.parse(type_)
        size = prod(extents) * bits_of(element) // 8
    elif op.operation.name == "memref.global":
        type_ = ir.MemRefType(ir.TypeAttr(attributes["type"]).value)
        if "workgroup" not in str(type_.memory_space) and str(type_.memory_space)[0] != "3":
            return None, 0
        size, element = _bytes(type_), type_.element_type
    else:
        return None, 0
    if "alignment" in attributes:
        return size, ir.IntegerAttr(attributes["alignment"]).value
    return size, _natural(element)


def _bytes(memref: Any) -> int:
    return prod(memref.shape) * bits_of(memref.element_type) // 8


def _natural(element: Any) -> int:
    """Return the natural alignment of a variable in bytes: the size of its elements, rounded up to a
    power of two (LLVM's data layout of NVPTX)."""
    return 1 << (max(bits_of(element) // 8, 1) - 1).bit_length()
