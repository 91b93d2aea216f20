"""Launches of GEMM kernels on operands of given shapes, strides and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....runtime import DeviceArray, Kernel, Matrix, Prepared, cached_compile
from ....runtime.devices import gpu_name
from ....runtime.scratch import DeviceMemory, Scratch
from ..generator.candidates import choose
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from ..generator.workspace import WorkspaceExtents, workspace_extents
from .fusions import FusedCall
from .operands import GemmOperands, check_operands
from .tuning_cache import tuned_config

#: Numbers of shapes whose configurations stay chosen, and of kernels that stay loaded, for later calls.
_SHAPES, _KERNELS = 1024, 64

#: Bytes of an element of a part, and of a semaphore.
_ITEM_BYTES = 4

#: An address that stands for one that follows.
_ALIGNED = 256

#: Parts of split tiles, and their semaphores, which are zeros between launches.
_PARTS, _SEMAPHORES = Scratch(), Scratch()


class GemmLaunch:
    """A launch of a GEMM kernel, whose operands may change their addresses.

    Args:
        a, b: the operands.
        outs: the results, one or two.
        config: the configuration; None for the one that `tune` found, or else the chosen one.
        fused: the epilogue.

    Raises:
        ProblemError, ConfigError, LaunchError: as `matmul`.
    """

    def __init__(
        self,
        a: DeviceArray,
        b: DeviceArray,
        outs: Sequence[DeviceArray],
        config: Config | None,
        fused: FusedCall | None = None,
    ) -> None:
        out, *second_result = outs
        fusion = fused.fusion if fused else None
        gemm, (first, second, result) = check_operands(a, b, out, fusion, *second_result)
        self._kernel, self._config, grid = _plan_kernel(gemm, config)
        matrices = [first, second, result]
        if self._config.exchanged:
            matrices = [matrix.transposed() for matrix in (second, first, result)]
        self._distance = fused.distance if fused else 0
        if self._distance:
            matrices.append(replace(second, pointer=second.pointer + self._distance))
        for other in second_result:
            matrix = other.matrix
            matrices.append(
                replace(matrices[2], pointer=matrix.pointer, item_bytes=matrix.item_bytes)
            )
        self._workspace = 0, 0
        if self._config.split_k > 1:
            extents = workspace_extents(gemm.problem, self._config, grid[0] * grid[1])
            parts, semaphores = _matrices(extents)
            matrices += [parts, semaphores]
            self._workspace = parts.bytes, semaphores.bytes
        further = fused.arguments if fused else ()
        self._plan = self._kernel.plan((*matrices, *further), grid)

    def start(
        self,
        a: int,
        b: int,
        outs: Sequence[int],
        stream: int,
        further: Sequence[int] = (),
        numbers: Sequence[Any] = (),
    ) -> None:
        """Start the kernel.

        Args:
            a, b, outs: the addresses of the operands and results.
            stream: the stream's handle.
            further: the addresses of the epilogue's arrays.
            numbers: its numbers.

        Raises:
            LaunchError: for an address that is not aligned, or a launch that the driver refuses.
        """
        addresses = self._addresses(a, b, outs)
        parts, semaphores = self._workspace
        if parts:
            context = self._kernel.context
            parts = _PARTS.address(context, stream, parts)
            semaphores = _SEMAPHORES.address(context, stream, semaphores)
            addresses = (*addresses, parts, semaphores)
        self._plan.start((*addresses, *further) if further else addresses, numbers, stream)

    def prepare(
        self,
        a: int,
        b: int,
        outs: Sequence[int],
        references: Sequence[Any],
        further: Sequence[int] = (),
        numbers: Sequence[Any] = (),
    ) -> Prepared:
        """Return the launch with these addresses, and memory of its own for split tiles.

        Args:
            a, b, outs: as for `start`.
            references: objects that the launch keeps alive.
            further, numbers: as for `start`.
        """
        addresses = self._addresses(a, b, outs)
        memories = [DeviceMemory(self._kernel.context, size) for size in self._workspace if size]
        of_memories = (memory.address for memory in memories)
        frame = self._plan.frame((*addresses, *of_memories, *further), numbers)
        return Prepared(self._plan.starter, frame, (*references, *memories))

    def _addresses(self, a: int, b: int, outs: Sequence[int]) -> tuple[int, ...]:
        """Return the addresses of the kernel's first arguments."""
        if self._distance:
            return a, b, outs[0], b + self._distance, *outs[1:]
        return (b, a, *outs) if self._config.exchanged else (a, b, *outs)


def forget_configurations() -> None:
    """Choose configurations anew in later calls, so that they use those that `tune` has found since."""
    _plan_kernel.cache_clear()


def _matrices(extents: WorkspaceExtents) -> tuple[Matrix, Matrix]:
    """Return the parts and the semaphores of a workspace, whose addresses a launch gives."""
    rows, columns, semaphores = extents
    parts = Matrix(_ALIGNED, (rows, columns), (columns, 1), _ITEM_BYTES)
    return parts, Matrix(_ALIGNED, (semaphores,), (1,), _ITEM_BYTES)


@lru_cache(maxsize=_SHAPES)
def _plan_kernel(
    operands: GemmOperands, config: Config | None
) -> tuple[Kernel, Config, tuple[int, int]]:
    """Return the kernel for operands, its configuration and its grid."""
    gemm = operands.problem, operands.m, operands.n, operands.k
    config = (
        config
        or tuned_config(gpu_name(operands.device), *gemm, operands.batch)
        or choose(*gemm, batch=operands.batch)
    )
    kernel = _kernel(operands.problem, config, operands.device)
    grid = config.grid(*gemm[1:], kernel.resident_blocks(), operands.batch)
    return kernel, config, grid


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)
