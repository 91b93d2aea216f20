"""A launch: the grid, the arguments, and block after block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..dialect.bindings import ir
from .block import ThreadBlock
from .errors import EmulationError, Violation, Violations
from .memory import GlobalMemory
from .program import Program, decode
from .shared_layout import SharedLayout
from .types import dtype_of, unsigned
from .values import MemRef

#: Threads that a block can have, in all and along x, y, z, and blocks (compute capability 9.0).
_MAX_THREADS = 1024
_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = (2**31 - 1, 65535, 65535)

#: How many violations are looked for before the rest of the grid is left out.
_ENOUGH = 20

#: Wraps the blocks that are run, for example in a progress bar.
Progress = Callable[[Iterable[tuple[int, int, int]]], Iterable[tuple[int, int, int]]]


def _silent(blocks: Iterable[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
    return blocks


@dataclass(frozen=True)
class Launch:
    """What is the same for all blocks.

    Attributes:
        grid: blocks along x, y, z.
        size: threads of a block along x, y, z.
        shared_end: the address after the block's shared memory.
        dynamic_start: the address of its dynamic part.
        symbols: addresses of the module's variables in shared memory.
        memory: global memory.
    """

    grid: tuple[int, int, int]
    size: tuple[int, int, int]
    shared_end: int
    dynamic_start: int
    symbols: dict[str, int]
    memory: GlobalMemory

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.size)


def emulate(
    module: Any,
    entry: str,
    arguments: Sequence[Any],
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_shared_bytes: int,
    progress: Progress = _silent,
) -> None:
    """Runs a kernel of a module after `smem-to-nvvm`, and writes its results into the arrays.

    Args:
        module: an `ir.Module`, or MLIR text; source locations in it are those of the messages.
        entry: the kernel's name.
        arguments: an array of NumPy (row-major, column-major or strided) for each memref, and a number
            for each scalar.
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        dynamic_shared_bytes: as at a launch on a GPU.
        progress: wraps the blocks' indices while they are run.

    Raises:
        EmulationError: for an op that the emulator does not know, or arguments that do not fit.
        Violations: if the kernel breaks a rule of the hardware; see `errors.Kind`.
    """
    if isinstance(module, str):
        with ir.Context():
            module = ir.Module.parse(module)
    with module.context:
        program = decode(module, entry)
        shared = SharedLayout(program)
    _check_extents(grid, block)
    memory = GlobalMemory()
    values = [
        _argument(memory, position, type_, value)
        for position, (type_, value) in enumerate(_paired(program, arguments))
    ]
    values += [_buffer(t, at) for t, at in zip(program.buffers, shared.buffers, strict=True)]
    dynamic_end = shared.dynamic_start + dynamic_shared_bytes
    end = dynamic_end if dynamic_shared_bytes else shared.end
    launch = Launch(grid, block, end, shared.dynamic_start, shared.symbols, memory)
    found: list[Violation] = []
    blocks = ((x, y, z) for z, y, x in product(*map(range, reversed(grid))))
    with np.errstate(all="ignore"):
        for index in progress(blocks):
            one = ThreadBlock(program, launch, index)
            one.run(values)
            known = {violation.place for violation in found}
            found += [v for v in one.found.values() if v.place not in known]
            if len(found) >= _ENOUGH:
                break
    if found:
        raise Violations(found)
    for value, given in zip(values, arguments, strict=False):
        if isinstance(given, np.ndarray):
            _read_back(memory, int(value.base[0]), given)


def _check_extents(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    if not _within(grid, _MAX_GRID):
        raise EmulationError(f"a grid of {grid} is not possible; at most {_MAX_GRID}")
    if not _within(block, _MAX_BLOCK) or prod(block) > _MAX_THREADS:
        raise EmulationError(
            f"a block of {block} threads is not possible; at most {_MAX_BLOCK}, and {_MAX_THREADS} in "
            "all"
        )


def _within(extents: tuple[int, int, int], most: tuple[int, int, int]) -> bool:
    return all(1 <= extent <= m for extent, m in zip(extents, most, strict=True))


def _paired(program: Program, arguments: Sequence[Any]) -> list[tuple[Any, Any]]:
    types = program.inputs
    if len(types) != len(arguments):
        raise EmulationError(f"{program.name} takes {len(types)} arguments, not {len(arguments)}")
    return list(zip(types, arguments, strict=True))


def _one(value: int) -> np.ndarray:
    return np.array([value], np.int64)


def _argument(memory: GlobalMemory, position: int, type_: Any, value: Any) -> Any:
    """An argument as the kernel's values hold it; arrays are copied to global memory."""
    name = f"argument {position}"
    if not hasattr(type_, "get_strides_and_offset"):
        dtype = dtype_of(type_)
        if isinstance(value, np.ndarray):
            raise EmulationError(f"{name} is of type {type_}, not an array")
        if not isinstance(value, int | float | np.generic):
            raise EmulationError(f"{name} is {value}; expected a number of type {type_}")
        return np.array([value]).astype(dtype)
    dtype = dtype_of(type_.element_type)
    fits = isinstance(value, np.ndarray) and value.ndim == type_.rank
    if not fits or unsigned(value.dtype) != dtype:
        what = (
            f"{value.dtype} of {value.ndim} dimensions" if isinstance(value, np.ndarray) else value
        )
        raise EmulationError(f"{name} is {what}; expected an array for {type_}")
    _check_shape(name, type_, value)
    flat = _flat(value)
    base = memory.add(name, flat.view(np.uint8))
    strides = tuple(_one(stride // value.itemsize) for stride in value.strides)
    return MemRef(_one(base), _one(0), tuple(map(_one, value.shape)), strides)


def _check_shape(name: str, type_: Any, array: np.ndarray) -> None:
    """Checks that an array has the extents and strides that a memref's type says."""
    unknown = ir.ShapedType.get_dynamic_size()
    if any(s not in (unknown, n) for s, n in zip(type_.shape, array.shape, strict=True)):
        raise EmulationError(f"{name} is {list(array.shape)}; expected an array for {type_}")
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    strides = [stride // array.itemsize for stride in array.strides]
    said, _ = type_.get_strides_and_offset()
    for extent, wanted, stride in zip(array.shape, said, strides, strict=True):
        if extent > 1 and array.size and wanted not in (unknown, stride):
            raise EmulationError(f"{name} has the strides {strides}; expected those of {type_}")


def _flat(value: np.ndarray) -> np.ndarray:
    """An array's elements in the order of memory.

    Raises:
        EmulationError: if they do not lie without gaps.
    """
    if value.flags.c_contiguous:
        return value.reshape(-1)
    if value.flags.f_contiguous:
        return value.reshape(-1, order="F")
    raise EmulationError("arrays are row-major or column-major without gaps")


def _read_back(memory: GlobalMemory, address: int, array: np.ndarray) -> None:
    order = "C" if array.flags.c_contiguous else "F"
    array[...] = memory.at(address).view(array.dtype).reshape(array.shape, order=order)


def _buffer(type_: Any, address: int) -> MemRef:
    """A workgroup buffer that the kernel declares."""
    sizes, strides, step = tuple(map(_one, type_.shape)), [], 1
    for extent in reversed(type_.shape):
        strides.append(_one(step))
        step *= extent
    return MemRef(_one(address), _one(0), sizes, tuple(reversed(strides)))
