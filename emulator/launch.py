"""A launch: the grid, the arguments, and block after block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..dialect.bindings import ir
from ..dialect.parsing import parse_module
from .arguments import Arguments, number, static_memref
from .cluster import Cluster
from .errors import EmulationError, Violation, Violations
from .memory import SHARED_BASE, GlobalMemory
from .program import Program, decode
from .shared_layout import SharedLayout
from .tma.tensor_map import MAP_BYTES, TensorMap, tensor_map

#: Threads that a block can have, in all and along x, y, z, and blocks (compute capability 9.0).
_MAX_THREADS = 1024
_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = (2**31 - 1, 65535, 65535)

#: Blocks that a cluster can have (compute capability 9.0).
_MAX_CLUSTER = 16

#: Bytes of shared memory that a block can have (compute capability 9.0).
_MAX_SHARED = 227 * 1024

#: How many violations are looked for before the rest of the grid is left out.
_ENOUGH = 20

#: Wraps the blocks that are run, for example in a progress bar.
Progress = Callable[[Iterable[tuple[int, int, int]]], Iterable[tuple[int, int, int]]]


def _no_progress(blocks: Iterable[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
    return blocks


@dataclass(frozen=True)
class Launch:
    """What is the same for all blocks.

    Attributes:
        grid: blocks along x, y, z.
        cluster: blocks of a cluster along x, y, z.
        size: threads of a block along x, y, z.
        shared_end: the address after the block's shared memory.
        dynamic_start: the address of its dynamic part.
        symbols: addresses of the module's variables in shared memory.
        memory: global memory.
        tensor_maps: by the addresses that the kernel is given for them.
    """

    grid: tuple[int, int, int]
    cluster: tuple[int, int, int]
    size: tuple[int, int, int]
    shared_end: int
    dynamic_start: int
    symbols: dict[str, int]
    memory: GlobalMemory
    tensor_maps: dict[int, TensorMap]

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
    progress: Progress = _no_progress,
) -> None:
    """Runs a kernel of a module after `smem-to-nvvm`, and writes its results into the arrays.

    Args:
        module: an `ir.Module`, or MLIR text; source locations in it are those of the messages.
        entry: the kernel's name.
        arguments: an array of NumPy for each memref, with any strides, and a number for each scalar;
            nothing for tensor maps, which describe arrays.
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        dynamic_shared_bytes: as at a launch on a GPU.
        progress: wraps the blocks' indices while they are run.

    Raises:
        EmulationError: for an op that the emulator does not know, or arguments that do not fit.
        Violations: if the kernel breaks a rule of the hardware; see `errors.ViolationKind`.
    """
    if isinstance(module, str):
        # Parsing loads the dialects that it meets; loading all would take longer than parsing.
        with ir.Context(load_on_create_dialects=[]):
            module = parse_module(module)
    with module.context:
        program = decode(module, entry)
        shared = SharedLayout(program)
    _check_extents(grid, block)
    _check_cluster(grid, program.cluster)
    _check_shared(shared, dynamic_shared_bytes)
    memory = GlobalMemory()
    given = Arguments(memory)
    pairs = enumerate(_with_types(program, arguments))
    values = [given.value(position, type_, value) for position, (type_, value) in pairs]
    with module.context:
        maps = _place_tensor_maps(program, memory, values)
    values += map(number, maps)
    values += [
        static_memref(buffer.type, number(at))
        for buffer, at in zip(program.buffers, shared.buffers, strict=True)
    ]
    dynamic_end = shared.dynamic_start + dynamic_shared_bytes
    end = dynamic_end if dynamic_shared_bytes else shared.end
    launch = Launch(
        grid, program.cluster, block, end, shared.dynamic_start, shared.symbols, memory, maps
    )
    found: list[Violation] = []
    blocks = ((x, y, z) for z, y, x in product(*map(range, reversed(grid))))
    with np.errstate(all="ignore"):
        for index in progress(blocks):
            if any(at % extent for at, extent in zip(index, program.cluster, strict=True)):
                # It ran with the first block of its cluster.
                continue
            cluster = Cluster(program, launch, index)
            cluster.run(values)
            known = {violation.place for violation in found}
            for violation in cluster.found:
                if violation.place not in known:
                    known.add(violation.place)
                    found.append(violation)
            if len(found) >= _ENOUGH:
                break
    if found:
        raise Violations(found)
    given.read_back()


def _check_extents(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    if not _within(grid, _MAX_GRID):
        raise EmulationError(f"a grid of {grid} is not possible; at most {_MAX_GRID}")
    if not _within(block, _MAX_BLOCK) or prod(block) > _MAX_THREADS:
        raise EmulationError(
            f"a block of {block} threads is not possible; at most {_MAX_BLOCK}, and {_MAX_THREADS} in "
            "all"
        )


def _check_cluster(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> None:
    if not 1 <= prod(cluster) <= _MAX_CLUSTER:
        raise EmulationError(
            f"a cluster of {cluster} blocks is not possible; at most {_MAX_CLUSTER} in all"
        )
    if any(extent % c for extent, c in zip(grid, cluster, strict=True)):
        raise EmulationError(
            f"a grid of {grid} is not possible; expected multiples of the cluster's {cluster} blocks"
        )


def _check_shared(shared: SharedLayout, dynamic: int) -> None:
    static = shared.end - SHARED_BASE
    if dynamic < 0 or static + dynamic > _MAX_SHARED:
        raise EmulationError(
            f"a block with {dynamic} bytes of dynamic shared memory beside {static} that it declares "
            f"is not possible; at most {_MAX_SHARED}"
        )


def _within(extents: tuple[int, int, int], most: tuple[int, int, int]) -> bool:
    return all(1 <= extent <= m for extent, m in zip(extents, most, strict=True))


def _place_tensor_maps(
    program: Program, memory: GlobalMemory, values: Sequence[Any]
) -> dict[int, TensorMap]:
    """The tensor maps of a kernel, by addresses at which nothing can be read or written."""
    found: dict[int, TensorMap] = {}
    for position, attribute in program.tensor_maps.items():
        name = f"argument {position}"
        made = tensor_map(name, attribute, program.inputs, values)
        found[memory.add(name, np.zeros(MAP_BYTES, np.uint8))] = made
    return found


def _with_types(program: Program, arguments: Sequence[Any]) -> list[tuple[Any, Any]]:
    types = program.inputs
    if len(types) != len(arguments):
        raise EmulationError(f"{program.name} takes {len(types)} arguments, not {len(arguments)}")
    return list(zip(types, arguments, strict=True))
