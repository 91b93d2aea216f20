"""A kernel launch: the checks of grid and arguments, and the run of its clusters, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..bindings.mlir import ir
from ..bindings.parsing import parse_module, parse_printed
from .arguments import Arguments, number, static_memref
from .cta import Cluster, LaunchState
from .errors import EmulationError, Violation, Violations
from .kernel import DecodedKernel, decode_kernel
from .memory import SHARED_BASE, GlobalAddressSpace
from .rules.global_order import GlobalOrder
from .schedule import schedule_of
from .shared_layout import SharedLayout
from .tensor_map import MAP_BYTES, TensorMap, decode_tensor_map

#: Limits of compute capability 9.0: threads of a thread block, in all and along x, y, z; CTAs of a grid.
_MAX_THREADS = 1024
_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = (2**31 - 1, 65535, 65535)

#: CTAs of a cluster, at most (compute capability 9.0).
_MAX_CLUSTER = 16

#: Bytes of shared memory of a CTA, at most (compute capability 9.0).
_MAX_SHARED = 227 * 1024

#: Number of violations after which the rest of the grid is not run.
_ENOUGH = 20

#: Wraps the indices of the CTAs that are run, for example in a progress bar.
Progress = Callable[[Iterable[tuple[int, int, int]]], Iterable[tuple[int, int, int]]]


def _no_progress(ctas: Iterable[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
    return ctas


def emulate(
    module: Any,
    entry: str,
    arguments: Sequence[Any],
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_shared_bytes: int,
    progress: Progress = _no_progress,
    schedule: int = 0,
) -> None:
    """Run a kernel of a module after `smem-to-nvvm`, and write its results into the arrays.

    Args:
        module: an `ir.Module`, MLIR text, or what `parse_lowered` returns; messages give its source
            locations.
        entry: the kernel's name.
        arguments: a NumPy array for each memref, with any strides, and a number for each scalar; tensor
            maps take no argument, since they describe arrays.
        grid: CTAs along x, y, z.
        block: threads of a thread block along x, y, z.
        dynamic_shared_bytes: bytes of dynamic shared memory, as in a launch on a GPU.
        progress: wraps the indices of the CTAs while they are run.
        schedule: the order in which threads that nothing orders run: 0 is a fixed one, in the order of
            the threads; others are the seeds of random ones (see `schedule.SeededSchedule`).

    Raises:
        ValueError: if `schedule` is negative.
        EmulationError: for an op that the emulator does not support, or arguments that do not fit.
        Violations: if the kernel violates a rule of the hardware; see `errors.ViolationKind`.

    Example:
        >>> import ml_dtypes
        >>> compiled = mlir_smem.compile(mlir_smem.examples.path("mma.mlir").read_text(), emit="nvvm")
        >>> a, b = (np.eye(64, dtype=ml_dtypes.bfloat16) for _ in "AB")
        >>> d = np.zeros((64, 64), np.float32)
        >>> sizes = {"grid": (1, 1, 1), "block": (128, 1, 1), "dynamic_shared_bytes": 16384}
        >>> emulate(compiled.nvvm, "mma", [a, b, d], **sizes)
        >>> np.array_equal(d, np.eye(64))
        True
    """
    if isinstance(module, str):
        with _parsing_context():
            module = parse_module(module)
    if isinstance(module, Lowered):
        kernel, shared = module.decode(entry)
        module = module.module
    else:
        kernel, shared = _decode(module, entry)
    _check_extents(grid, block)
    _check_cluster(grid, kernel.cluster)
    _check_shared(shared, dynamic_shared_bytes)
    memory = GlobalAddressSpace()
    host = Arguments(memory, arguments)
    pairs = enumerate(_with_types(kernel, arguments))
    values = [host.value(position, type_, value) for position, (type_, value) in pairs]
    with module.context:
        maps = _place_tensor_maps(kernel, memory, values)
    values += map(number, maps)
    values += [
        static_memref(buffer.type, number(address))
        for buffer, address in zip(kernel.buffers, shared.buffers, strict=True)
    ]
    dynamic_end = shared.dynamic_start + dynamic_shared_bytes
    end = dynamic_end if dynamic_shared_bytes else shared.end
    order = GlobalOrder(prod(grid) // prod(kernel.cluster), prod(block), kernel.locations)
    launch = LaunchState(
        grid,
        kernel.cluster,
        block,
        end,
        shared.dynamic_start,
        shared.symbols,
        memory,
        maps,
        order,
    )
    thread_order = schedule_of(schedule)
    violations: list[Violation] = []
    ctas = thread_order.order((x, y, z) for z, y, x in product(*map(range, reversed(grid))))
    with np.errstate(all="ignore"):
        for index in progress(ctas):
            if any(i % extent for i, extent in zip(index, kernel.cluster, strict=True)):
                # This CTA ran with the first CTA of its cluster.
                continue
            cluster = Cluster(kernel, launch, index)
            order.begin([cta.index for cta in cluster.ctas], cluster.clocks)
            thread_order.run(cluster, values)
            places = {violation.place for violation in violations}
            for violation in cluster.violations:
                if violation.place not in places:
                    places.add(violation.place)
                    violations.append(violation)
            cluster.discard()
            if len(violations) >= _ENOUGH:
                break
    if violations:
        raise Violations(violations)
    host.read_back()


def _decode(module: Any, entry: str) -> tuple[DecodedKernel, SharedLayout]:
    with module.context:
        kernel = decode_kernel(module, entry)
        return kernel, SharedLayout(kernel)


class Lowered:
    """A module that this package lowered; each kernel is decoded once.

    Attributes:
        module: the `ir.Module`, which does not change any more.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        self._kernels: dict[str, tuple[DecodedKernel, SharedLayout]] = {}

    def decode(self, entry: str) -> tuple[DecodedKernel, SharedLayout]:
        """Return a decoded kernel.

        Raises:
            EmulationError: if there is no such kernel, or the emulator does not know an op of it.
        """
        if entry not in self._kernels:
            self._kernels[entry] = _decode(self.module, entry)
        return self._kernels[entry]


@lru_cache(maxsize=16)
def parse_lowered(text: str | bytes) -> Lowered:
    """Parse a module for `emulate` that this package lowered and printed; a text that was parsed lately
    is not parsed again.

    Args:
        text: `codegen.Compiled.bytecode` or `.located`. Text of other origin can end the process in
            MLIR's parser and is for `emulate`, which checks it first.

    Returns:
        The module, for `emulate`.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> lowered = parse_lowered(mlir_smem.compile(text, emit="nvvm").bytecode)
        >>> str(lowered.module).count("gpu.func")
        1
    """
    with _parsing_context():
        return Lowered(parse_printed(text))


def _parsing_context() -> Any:
    # Parsing loads the dialects of the text; loading all would take longer than parsing.
    return ir.Context(load_on_create_dialects=[])


def _check_extents(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    if not _within(grid, _MAX_GRID):
        raise EmulationError(f"a grid of {grid} is not possible; at most {_MAX_GRID}")
    if not _within(block, _MAX_BLOCK) or prod(block) > _MAX_THREADS:
        raise EmulationError(
            f"a thread block of {block} threads is not possible; at most {_MAX_BLOCK}, and "
            f"{_MAX_THREADS} in all"
        )


def _check_cluster(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> None:
    if not 1 <= prod(cluster) <= _MAX_CLUSTER:
        raise EmulationError(
            f"a cluster of {cluster} CTAs is not possible; at most {_MAX_CLUSTER} in all"
        )
    if any(extent % c for extent, c in zip(grid, cluster, strict=True)):
        raise EmulationError(
            f"a grid of {grid} is not possible; expected multiples of the cluster's {cluster} CTAs"
        )


def _check_shared(shared: SharedLayout, dynamic: int) -> None:
    static = shared.end - SHARED_BASE
    if dynamic < 0 or static + dynamic > _MAX_SHARED:
        raise EmulationError(
            f"a CTA with {dynamic} bytes of dynamic shared memory and {static} bytes of static is not "
            f"possible; at most {_MAX_SHARED} in all"
        )


def _within(extents: tuple[int, int, int], most: tuple[int, int, int]) -> bool:
    return all(1 <= extent <= m for extent, m in zip(extents, most, strict=True))


def _place_tensor_maps(
    kernel: DecodedKernel, memory: GlobalAddressSpace, values: Sequence[Any]
) -> dict[int, TensorMap]:
    """Give each tensor map of the kernel an address. Return the maps by address."""
    maps: dict[int, TensorMap] = {}
    for position, attribute in kernel.tensor_maps.items():
        name = f"argument {position}"
        map_ = decode_tensor_map(name, attribute, kernel.inputs, values)
        maps[memory.add(name, np.zeros(MAP_BYTES, np.uint8))] = map_
    return maps


def _with_types(kernel: DecodedKernel, arguments: Sequence[Any]) -> list[tuple[Any, Any]]:
    types = kernel.inputs
    if len(types) != len(arguments):
        raise EmulationError(f"{kernel.name} takes {len(types)} arguments, not {len(arguments)}")
    return list(zip(types, arguments, strict=True))
