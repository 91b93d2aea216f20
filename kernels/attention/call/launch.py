"""A launch of an attention kernel, which is compiled when needed, on a GPU or on the emulator."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import inf, prod
from numbers import Real
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ....codegen import compile
from ....runtime import Kernel, Matrix, cached_compile, device_array, launch_on_cpu
from ....runtime.arguments import DTYPES
from ....runtime.arrays import host_array
from ....runtime.prepared import LEGACY_STREAM, stream_handle
from ....runtime.scratch import Scratch
from ....runtime.streams import current_stream, finish, wait_for
from ...errors import ProblemError
from ...libraries import empty
from ..generator.combine import ROWS, combine_text
from ..generator.config import Config, default_config
from ..generator.kernel import text
from ..generator.problem import LOG2_E, Problem
from .operands import (
    LAYOUTS,
    Given,
    Sizes,
    by_heads,
    check_readable,
    sizes,
    window_of,
    with_heads_as_queries,
)
from .packing import Packing, packing_of
from .split import parts_of

#: Kernels that stay loaded for later calls.
_KERNELS = 64

#: Results of parts of the keys, until they are combined. No other thread of the host comes in between.
_PARTS, _TWO_LAUNCHES = Scratch(), Lock()

#: CTAs of the emulator's grid, which runs them one after the other.
_EMULATED = 2


def launch(
    q: Any,
    k: Any,
    v: Any,
    cu_seqlens_q: Any = None,
    cu_seqlens_k: Any = None,
    *,
    causal: bool,
    scale: float | None,
    window: object,
    layout: str,
    out: Any = None,
    return_lse: bool,
    max_seqlen_q: int | None = None,
    config: Config | None = None,
    stream: Any = None,
    on: str,
) -> tuple[Any, Any]:
    """Compute attention of arrays; arguments and errors as of `attention`.

    Returns:
        The result, and the log-sum-exp, None if it is not asked for.
    """
    packing = packing_of(cu_seqlens_q, cu_seqlens_k, max_seqlen_q)
    given, device = _read({"q": q, "k": k, "v": v}, layout, on, packing is not None)
    asked = extents = sizes(*given)
    sequences, longest = extents.batches, extents.queries
    if packing is not None:
        sequences, longest = packing.sequences, packing.longest
    left, right = window_of(causal, window)
    if longest == 1:
        right = None  # The last query sees all keys that others may not.
    shares = extents.heads > extents.groups
    packs = packing is None and longest == 1 and shares and left is None
    if packs:
        longest = extents.heads // extents.groups
        extents = replace(extents, heads=extents.groups, queries=longest)
    problem = Problem(
        given[0].element,
        extents.dim,
        left is not None,
        right is not None,
        return_lse,
        packing is not None,
    )
    config = config or default_config(problem, longest, -(-extents.keys // max(sequences, 1)))
    config.check(problem)
    parts = 1 if packing else parts_of(extents, config, left is not None)
    problem = replace(problem, split=parts > 1)
    # No query sees further than all keys.
    most = extents.queries + extents.keys
    sight = [min(each, most) for each in (left, right) if each is not None]
    numbers = [_scale(scale, extents.dim), *sight]
    result = _result(q, out, asked, problem, layout)
    of_lse = extents.batches, extents.heads, extents.queries
    lse = _empty(q, of_lse, "f32") if return_lse else None
    stored, _ = _read({"out": result}, layout, on, problem.packed)
    _check_result(stored[0], given[0])
    items = -(-longest // config.queries) * sequences * extents.heads
    call = _Call(problem, config, extents, packs, packing, parts, lse, numbers, items)
    if on == "cpu":
        _emulate(call, [_of_host(each, layout, problem.packed) for each in (q, k, v, result)])
    else:
        for each in (q, k, v, cu_seqlens_q, cu_seqlens_k):
            wait_for(each)
        handle = (current_stream(q) or LEGACY_STREAM) if stream is None else stream_handle(stream)
        _run(call, [*given, *stored], device, handle)
        finish(q)
    if lse is None:
        return result, None
    of_lse = (asked.batches, asked.heads, asked.queries)[1 if problem.packed else 0 :]
    return result, lse.reshape(of_lse)


class _Call(NamedTuple):
    """A call whose arguments have been checked.

    Attributes:
        problem, config, extents, packing: the problem.
        packs: whether heads that share keys are queries of one.
        parts: the parts of the keys of each head, whose results a second launch combines; 1 for all.
        lse: the array for the logarithms, if they are asked for.
        numbers: the kernel's last arguments.
        items: tiles of all heads.
    """

    problem: Problem
    config: Config
    extents: Sizes
    packs: bool
    packing: Packing | None
    parts: int
    lse: Any
    numbers: list[Any]
    items: int

    @property
    def of_parts(self) -> list[tuple[int, ...]]:
        """The shapes of the results of parts and of their logarithms, if there are parts."""
        if self.parts == 1:
            return []
        shape = self.parts, self.extents.batches, self.extents.heads, ROWS
        return [(*shape, self.extents.dim), shape]


def _emulate(call: _Call, arrays: list[np.ndarray]) -> None:
    """Run the kernels on the emulator; q, k, v and the result are given by heads."""
    extents, packing = call.extents, call.packing
    if call.packs:
        shape = extents.batches, extents.heads, extents.queries, extents.dim
        arrays[0], arrays[3] = (arrays[at][:, :, 0].reshape(shape) for at in (0, 3))
    q, k, v, result = arrays
    results = [result, *([] if call.lse is None else [host_array("lse", call.lse)[0]])]
    first = [np.empty(shape, np.float32) for shape in call.of_parts] or results
    of_packing = packing.on_host((extents.queries, extents.keys)) if packing else []
    given = [q, k.swapaxes(-2, -1), v, *first, *of_packing, *call.numbers]
    compiled = compile(text(call.problem, call.config), emit="nvvm")
    launch_on_cpu(compiled, None, given, (_EMULATED,))
    if call.parts > 1:
        compiled = compile(combine_text(call.problem), emit="nvvm")
        launch_on_cpu(compiled, None, [*first, *results], (call.items,))


def _run(call: _Call, arrays: list[Given], device: int, stream: int) -> None:
    """Launch the kernels on a GPU; q, k, v and the result are given by heads."""
    if call.packs:
        groups = call.extents.groups
        arrays[0], arrays[3] = (with_heads_as_queries(arrays[at], groups) for at in (0, 3))
    q, k, v, result = (each.matrix for each in arrays)
    results = [result, *([] if call.lse is None else [device_array("lse", call.lse).matrix])]
    of_packing = call.packing.on_device(device) if call.packing else []
    operands, further = [q, k.transposed(), v], [*of_packing, *call.numbers]
    kernel = _kernel(call.problem, call.config, device)
    grid = (min(call.items * call.parts, kernel.resident_blocks()),)
    if call.parts == 1:
        kernel.launch(*operands, *results, *further, grid=grid, stream=stream)
        return
    # The masks are done.
    combining = _combining(replace(call.problem, left=False, right=False), device)
    with _TWO_LAUNCHES:
        parts = _scratch(call.of_parts, kernel, stream)
        kernel.launch(*operands, *parts, *further, grid=grid, stream=stream)
        combining.launch(*parts, *results, grid=(call.items,), stream=stream)


def _scratch(shapes: list[tuple[int, ...]], kernel: Kernel, stream: int) -> list[Matrix]:
    """Return arrays of f32 in scratch memory of a stream, whose launches run one after the other."""
    sizes = [4 * prod(shape) for shape in shapes]
    address = _PARTS.address(kernel.context, stream, sum(sizes))
    starts = accumulate(sizes, initial=address)
    return [
        Matrix(start, shape, tuple(prod(shape[dim + 1 :]) for dim in range(len(shape))), 4)
        for start, shape in zip(starts, shapes, strict=False)
    ]


def _read(arrays: dict[str, Any], layout: str, on: str, packed: bool) -> tuple[list[Given], int]:
    """Return arrays by heads, and the number of the first one's GPU."""
    found, devices = [], []
    for name, array in arrays.items():
        if on == "cpu":
            host, element = host_array(name, array)
            strides = tuple(stride // host.itemsize for stride in host.strides)
            matrix = Matrix(host.ctypes.data, host.shape, strides, host.itemsize)
            devices.append(0)
        else:
            read = device_array(name, array)
            matrix, element = read.matrix, read.element
            devices.append(read.device)
            if read.device != devices[0]:
                raise ProblemError(
                    f"q is on GPU {devices[0]}, but {name} is on GPU {read.device}; expected one"
                )
        found.append(by_heads(Given(name, matrix, element), layout, packed))
    return found, devices[0]


def _scale(scale: float | None, dim: int) -> Any:
    """Return the factor of scores, for powers of two."""
    factor = dim**-0.5 if scale is None else scale
    if not isinstance(factor, Real) or not 0 < float(factor) < inf:
        raise ProblemError(f"scale is {scale!r}; expected a positive number")
    return np.float32(float(factor) * LOG2_E)


def _result(q: Any, out: Any, extents: Sizes, problem: Problem, layout: str) -> Any:
    """Return the array for the result."""
    if out is not None:
        return out
    by_head = extents.batches, extents.heads, extents.queries, extents.dim
    shape = tuple(by_head[dim] for dim in LAYOUTS[layout])
    return _empty(q, shape[1:] if problem.packed else shape, problem.element)


def _empty(like: Any, shape: tuple[int, ...], element: str) -> Any:
    if isinstance(like, np.ndarray):
        return np.empty(shape, DTYPES[element])
    return empty(like, shape, element)


def _check_result(out: Given, q: Given) -> None:
    if (out.matrix.shape, out.element) != (q.matrix.shape, q.element):
        raise ProblemError(
            f"out has the shape {list(out.matrix.shape)} of {out.element} by heads, but q has "
            f"{list(q.matrix.shape)} of {q.element}; expected the same"
        )
    check_readable(out)


def _of_host(array: Any, layout: str, packed: bool) -> np.ndarray:
    """Return an array in host memory by heads, as a view."""
    host, _ = host_array("q", array)
    return (host[None] if packed else host).transpose(LAYOUTS[layout])


@lru_cache(maxsize=_KERNELS)
def _combining(problem: Problem, device: int) -> Kernel:
    """Return the loaded kernel that combines the results of parts."""
    return Kernel(cached_compile(combine_text(problem)), device=device)


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)
