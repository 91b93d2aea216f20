"""The launches of a call of attention on a GPU, whose arrays may change their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from threading import Lock

from ....dialect import new_context
from ....runtime import Kernel, Matrix, cached_compile
from ....runtime.plans import LaunchPlan
from ....runtime.scratch import Scratch
from ...libraries import whole_columns
from ...transpose import CONFIGS, build_transpose
from ..generator.combine import combine_grid, combine_text
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from .checked import CheckedCall
from .operands import NamedMatrix, with_heads_as_queries

#: Kernels that stay loaded for later calls.
_KERNELS = 64

#: Transposed values, and results of parts of the keys until they are combined. No other thread of the
#: host comes in between the launches of a call.
_SCRATCH, _SEVERAL_LAUNCHES = Scratch(), Lock()

#: CTAs of the kernel that transposes values, of those that fit a multiprocessor.
_TRANSPOSE_CTAS = 2

#: The bytes of an f32, and an address that stands for one that follows.
_F32, _ALIGNED = 4, 256


class AttentionLaunch:
    """The launches of a call: one before attention transposes values of e4m3, and one after it combines
    parts of the keys, if there are any.

    Args:
        call: the call.
        arrays: q, k, v and the result, by heads.
        descales: arrays of factors.
        device: the number of their GPU.

    Raises:
        LaunchError: without a GPU of the architecture, or if it is not that of `cu_seqlens`.
    """

    def __init__(
        self,
        call: CheckedCall,
        arrays: Sequence[NamedMatrix],
        descales: Sequence[NamedMatrix],
        device: int,
    ) -> None:
        matrices = list(arrays)
        if call.packs:
            groups = call.extents.groups
            matrices[0], matrices[3] = (
                with_heads_as_queries(matrices[operand], groups) for operand in (0, 3)
            )
        q, k, v, out = (matrix.matrix for matrix in matrices)
        results = [out]
        if call.problem.lse:
            results.append(Matrix.contiguous(_ALIGNED, call.lse_by_heads, _F32))
        starts: list[Matrix] = []
        self._numbers = call.numbers
        if call.packing:
            *starts, longest = call.packing.on_device(device)
            self._numbers = [longest, *call.numbers]
        self._transposing = None
        if call.problem.is_8_bit:
            target = keys_contiguous(v, _ALIGNED)
            self._transposing = plan_transpose(v, target, device)
            v = target
        parts = [Matrix.contiguous(_ALIGNED, shape, _F32) for shape in call.part_shapes]
        kernel = _kernel(call.problem, call.config, device)
        self._context = kernel.context
        grid = (min(call.items * call.parts, kernel.resident_blocks()),)
        further = *starts, *(descale.matrix for descale in descales), *self._numbers
        self._plan = kernel.plan((q, k.transposed(), v, *(parts or results), *further), grid)
        scratch_bytes = (
            [whole_columns(v.shape[2], v.item_bytes) * v.bytes // v.shape[2]]
            if self._transposing
            else []
        )
        scratch_bytes += [part.bytes for part in parts]
        #: Where each array of the scratch memory begins, and where the last one ends.
        self._starts = list(
            accumulate((-(-size // _ALIGNED) * _ALIGNED for size in scratch_bytes), initial=0)
        )
        self._combining = None
        if parts:
            # Masks and factors are done.
            unmasked = replace(call.problem, left=False, right=False, descaled="")
            grid = combine_grid(unmasked, call.items)
            self._combining = _combine_kernel(unmasked, device).plan([*parts, *results], grid)

    def start(
        self, operands: Sequence[int], further: Sequence[int], results: Sequence[int], stream: int
    ) -> None:
        """Start the kernels.

        Args:
            operands: the addresses of q, k and v.
            further: those of `cu_seqlens_q` and `cu_seqlens_k`, if sequences are packed, and of factors.
            results: that of the result, and with `return_lse` that of the logarithms.
            stream: the stream's handle.

        Raises:
            LaunchError: for an address that is not aligned, or a launch that the driver refuses.
        """
        *starts, end = self._starts
        if not starts:
            self._plan.start((*operands, *results, *further), self._numbers, stream)
            return
        with _SEVERAL_LAUNCHES:
            first = _SCRATCH.address(self._context, stream, end)
            parts = [first + start for start in starts]
            if self._transposing:
                q, k, v = operands
                operands = q, k, parts.pop(0)
                self._transposing.start((v, operands[2]), (), stream)
            self._plan.start((*operands, *(parts or results), *further), self._numbers, stream)
            if self._combining:
                self._combining.start((*parts, *results), (), stream)


@lru_cache(maxsize=_KERNELS)
def _combine_kernel(problem: Problem, device: int) -> Kernel:
    """Return the loaded kernel that combines the results of parts."""
    return Kernel(cached_compile(combine_text(problem)), device=device)


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)


def keys_contiguous(v: Matrix, pointer: int) -> Matrix:
    """Return values (B, G, N, d) in new memory, in which keys are contiguous.

    Args:
        v: the values.
        pointer: the address of the memory.
    """
    batches, groups, keys, dim = v.shape
    whole = Matrix.contiguous(
        pointer, (batches, groups, dim, whole_columns(keys, v.item_bytes)), v.item_bytes
    )
    return Matrix(pointer, (batches, groups, dim, keys), whole.strides, v.item_bytes).transposed()


def plan_transpose(v: Matrix, target: Matrix, device: int) -> LaunchPlan:
    """Return the plan of a launch that copies values to `keys_contiguous` ones.

    Raises:
        LaunchError: without a GPU of the architecture.
    """
    kernel = _transpose_kernel(device)
    batches, groups, keys, dim = v.shape
    height, width = CONFIGS["i8"].window
    windows = -(-dim // height) * -(-keys // width)
    ctas = _TRANSPOSE_CTAS * kernel.device.properties.multiprocessor_count
    grid = min(windows, -(-ctas // (batches * groups))), batches * groups
    return kernel.plan([v.transposed(), target.transposed()], grid)


@lru_cache(maxsize=8)
def _transpose_kernel(device: int) -> Kernel:
    with new_context():
        text = str(build_transpose("i8", of_many=True))
    return Kernel(cached_compile(text), device=device)
