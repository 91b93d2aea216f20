"""The launches of a call of attention on a GPU, whose arrays may change their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from ....runtime import Kernel, Matrix, cached_compile
from ....runtime.scratch import Scratch
from ..generator.combine import combine_grid, combine_text
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from .checked import Checked
from .operands import Given, with_heads_as_queries

#: Kernels that stay loaded for later calls.
_KERNELS = 64

#: Results of parts of the keys, until they are combined. No other thread of the host comes in between.
_PARTS, _TWO_LAUNCHES = Scratch(), Lock()

#: The bytes of an f32, and an address that stands for one that follows.
_F32, _ALIGNED = 4, 256


class Launch:
    """A launch of attention, or two if there are parts of the keys.

    Args:
        call: the call.
        arrays: q, k, v and the result, by heads.
        device: the number of their GPU.

    Raises:
        LaunchError: without a GPU of the architecture, or if it is not that of `cu_seqlens`.
    """

    def __init__(self, call: Checked, arrays: Sequence[Given], device: int) -> None:
        given = list(arrays)
        if call.packs:
            groups = call.extents.groups
            given[0], given[3] = (with_heads_as_queries(given[at], groups) for at in (0, 3))
        q, k, v, out = (each.matrix for each in given)
        results = [out]
        if call.problem.lse:
            results.append(Matrix.contiguous(_ALIGNED, call.lse_by_heads, _F32))
        starts: list[Matrix] = []
        self._numbers = call.numbers
        if call.packing:
            *starts, longest = call.packing.on_device(device)
            self._numbers = [longest, *call.numbers]
        parts = [Matrix.contiguous(_ALIGNED, shape, _F32) for shape in call.of_parts]
        kernel = _kernel(call.problem, call.config, device)
        self._context = kernel.context
        grid = (min(call.items * call.parts, kernel.resident_blocks()),)
        arguments = q, k.transposed(), v, *(parts or results), *starts, *self._numbers
        self._plan = kernel.plan(arguments, grid)
        self._bytes = [each.bytes for each in parts]
        if parts:
            # The masks are done.
            of = replace(call.problem, left=False, right=False)
            of_all = combine_grid(of, call.items)
            self._combining = _combining(of, device).plan([*parts, *results], of_all)

    def start(
        self, operands: Sequence[int], starts: Sequence[int], results: Sequence[int], stream: int
    ) -> None:
        """Start the kernels.

        Args:
            operands: the addresses of q, k and v.
            starts: those of `cu_seqlens_q` and `cu_seqlens_k`, if sequences are packed.
            results: that of the result, and that of the logarithms if they are asked for.
            stream: the stream's handle.

        Raises:
            LaunchError: for an address that is not aligned, or a launch that the driver refuses.
        """
        if not self._bytes:
            self._plan.start((*operands, *results, *starts), self._numbers, stream)
            return
        of_results, of_logarithms = self._bytes
        with _TWO_LAUNCHES:
            first = _PARTS.address(self._context, stream, of_results + of_logarithms)
            parts = first, first + of_results
            self._plan.start((*operands, *parts), self._numbers, stream)
            self._combining.start((*parts, *results), (), stream)


@lru_cache(maxsize=_KERNELS)
def _combining(problem: Problem, device: int) -> Kernel:
    """Return the loaded kernel that combines the results of parts."""
    return Kernel(cached_compile(combine_text(problem)), device=device)


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)
