"""SSA values of a CTA: each is an array with a row for each thread.

A value that is the same for all threads may have a single row. Divergent threads each have an array of
their own, until threads read a value that other sets of threads wrote: its arrays are then merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .kernel import ExecutableOp
from .lanes import Lanes


@dataclass(slots=True, eq=False)
class RegisterStruct:
    """A struct of registers of one type, such as an accumulator; it is not changed once it is made.

    Attributes:
        data: a row for each thread, a column for each register.
        pending: int32[threads], the wgmma group that is writing them; 0 if none is.
        stamp: int32[threads], how many `wgmma.fence` the warp had executed when an ordinary instruction
            wrote them; -1 if a wgmma wrote them.
        defined: bool[registers], False for poison.
    """

    data: np.ndarray
    pending: np.ndarray
    stamp: np.ndarray
    defined: np.ndarray


@dataclass(frozen=True)
class MemRef:
    """A memref descriptor.

    Attributes:
        base: the aligned pointer, an address (int64).
        offset, sizes, strides: in elements (int64), as `memref.extract_strided_metadata` gives them.
    """

    base: np.ndarray
    offset: np.ndarray
    sizes: tuple[np.ndarray, ...]
    strides: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Poison:
    """A poison value, which must not be used."""


POISON = Poison()


@dataclass(slots=True)
class _Parts:
    """A value that disjoint sets of threads have written.

    Attributes:
        initial: the value of all threads before them.
        written: what each set has written, with a row for each of its threads or a single one; by the
            key of the set.
    """

    initial: Any
    written: dict[bytes, tuple[Lanes, Any]] = field(default_factory=dict)


class ThreadValues:
    """The values of the threads of a CTA, by number."""

    def __init__(self, count: int, threads: int) -> None:
        self._values: list[Any] = [None] * count
        self._threads = threads

    def read(self, number: int, lanes: Lanes) -> Any:
        """Return the rows of some threads."""
        value = self._values[number]
        if type(value) is _Parts:
            if part := value.written.get(lanes.key):
                return part[1]
            for others, written in value.written.values():
                if (rows := lanes.rows_within(others)) is not None:
                    return _take(written, rows)
            value = self._values[number] = self._merge(value)
        return value if lanes.full else _take(value, lanes.index)

    def write(self, number: int, lanes: Lanes, value: Any) -> None:
        """Set the rows of some threads; the other rows stay."""
        if lanes.full:
            self._values[number] = value
            return
        parts = self._values[number]
        if type(parts) is not _Parts:
            parts = _Parts(parts)
        elif lanes.key not in parts.written:
            for others, _ in parts.written.values():
                if lanes.overlaps(others):
                    parts = _Parts(self._merge(parts))
                    break
        if type(value) is Poison:
            # Poison is not kept for single threads: a value that other threads defined stays defined.
            self._values[number] = _merge_values(self._merge(parts), value, lanes, self._threads)
            return
        parts.written[lanes.key] = lanes, value
        self._values[number] = parts

    def compute(self, instruction: ExecutableOp, lanes: Lanes) -> bool:
        """Execute an instruction that is `plain` for some threads, if its operands are arrays that need
        neither a merge nor a check; return whether they are. Most instructions are executed here.
        """
        stored, full = self._values, lanes.full
        operands = []
        for number in instruction.operands:
            value = stored[number]
            if type(value) is _Parts:
                if full or (part := value.written.get(lanes.key)) is None:
                    return False
                value = part[1]
            elif not full and type(value) is np.ndarray and len(value) != 1:
                value = value[lanes.index]
            if type(value) is not np.ndarray:
                return False
            operands.append(value)
        computed = instruction.step(*operands)
        if full:
            stored[instruction.results[0]] = computed
        else:
            self.write(instruction.results[0], lanes, computed)
        return True

    def _merge(self, parts: _Parts) -> Any:
        merged = parts.initial
        for lanes, value in parts.written.values():
            merged = _merge_values(merged, value, lanes, self._threads)
        return merged


def where(condition: np.ndarray, a: Any, b: Any) -> Any:
    """Return `a` for the threads for which a condition holds, and `b` for the others.

    Args:
        condition: bool[threads].
        a, b: values of one type. Unless all threads take the same one, a member that is poison in one of
            them is poison.
    """
    count = np.count_nonzero(condition)
    if count in (0, len(condition)):
        return a if count else b
    if isinstance(a, Poison) or isinstance(b, Poison):
        return POISON
    if isinstance(a, tuple):
        return tuple(where(condition, *parts) for parts in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.where(condition.reshape(-1, *(1,) * (a.ndim - 1)), a, b)
    a, b = (
        _as_registers(operand) if isinstance(operand, np.ndarray) else operand for operand in (a, b)
    )
    data = np.where(condition[:, None], a.data, b.data)
    pending, stamp = (
        np.where(condition, *parts) for parts in ((a.pending, b.pending), (a.stamp, b.stamp))
    )
    return RegisterStruct(data, pending, stamp, a.defined & b.defined)


def _take(value: Any, rows: slice | np.ndarray) -> Any:
    """Return some rows of a value; an array of one row holds for all threads."""
    if isinstance(value, np.ndarray):
        return value if len(value) == 1 else value[rows]
    if isinstance(value, tuple):
        return tuple(_take(part, rows) for part in value)
    if isinstance(value, RegisterStruct):
        data, pending, stamp = (
            _take(array, rows) for array in (value.data, value.pending, value.stamp)
        )
        return RegisterStruct(data, pending, stamp, value.defined)
    if isinstance(value, MemRef):
        return MemRef(*(_take(getattr(value, field.name), rows) for field in fields(value)))
    return value


def _merge_values(old: Any, new: Any, lanes: Lanes, threads: int) -> Any:
    """Return `old` with the rows of some threads replaced, in new arrays, since values share arrays."""
    if isinstance(new, Poison):
        return new if old is None else old
    if isinstance(new, RegisterStruct) and isinstance(old, np.ndarray):
        old = _as_registers(old)
    if isinstance(new, np.ndarray) and isinstance(old, RegisterStruct):
        new = _as_registers(new)
    if isinstance(new, np.ndarray):
        return _merge_rows(old if isinstance(old, np.ndarray) else None, new, lanes, threads)
    if isinstance(new, tuple):
        old_members: Sequence[Any] = old if isinstance(old, tuple) else [None] * len(new)
        return tuple(
            _merge_values(b, n, lanes, threads) for b, n in zip(old_members, new, strict=True)
        )
    if isinstance(new, RegisterStruct):
        old_registers = old if isinstance(old, RegisterStruct) else None
        rows = {
            name: _merge_rows(
                getattr(old_registers, name) if old_registers else None,
                getattr(new, name),
                lanes,
                threads,
            )
            for name in ("data", "pending", "stamp")
        }
        # A register is poison only if no thread has defined it.
        defined = new.defined | old_registers.defined if old_registers else new.defined
        return RegisterStruct(defined=defined, **rows)
    if isinstance(new, MemRef):
        parts = [getattr(new, field.name) for field in fields(new)]
        old_parts = (
            [getattr(old, f.name) for f in fields(old)] if isinstance(old, MemRef) else [None] * 4
        )
        return MemRef(
            *(_merge_values(o, n, lanes, threads) for o, n in zip(old_parts, parts, strict=True))
        )
    return new


def _as_registers(array: np.ndarray) -> RegisterStruct:
    """Return an array as a register, to merge it with a register of other threads."""
    none = np.zeros(len(array), np.int32)
    return RegisterStruct(array[:, None], none, none - 1, np.ones(1, bool))


def _merge_rows(old: np.ndarray | None, new: np.ndarray, lanes: Lanes, threads: int) -> np.ndarray:
    rows = np.zeros((threads, *new.shape[1:]), new.dtype)
    if old is not None and old.shape[1:] == new.shape[1:]:
        rows[:] = old
    rows[lanes.index] = new
    return rows
