"""`attention(q, k, v)`: on a GPU, or on the emulator, by a kernel that is compiled when needed."""

from __future__ import annotations

import sys
from functools import lru_cache
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from ....codegen import compile
from ....runtime import Kernel, Matrix, cached_compile, device_array, launch_on_cpu
from ....runtime.arguments import DTYPES
from ....runtime.arrays import host_array
from ....runtime.prepared import LEGACY_STREAM, stream_handle
from ....runtime.streams import current_stream, finish, wait_for
from ...errors import ProblemError
from ...libraries import empty
from ..generator.config import Config, default_config
from ..generator.kernel import text
from ..generator.problem import Problem
from .operands import LAYOUTS, Given, Sizes, Window, by_heads, check_readable, sizes, window_of

#: The kernel computes powers of two.
_LOG2_E = 1.4426950408889634

#: Kernels that stay loaded for later calls.
_KERNELS = 64

#: CTAs of the emulator's grid, which runs them one after the other.
_EMULATED = 2

#: What the kernel is launched on.
_MACHINES = ("gpu", "cpu")


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int | None, int | None] | None = None,
    layout: str = "bshd",
    out: Any = None,
    return_lse: bool = False,
    config: Config | None = None,
    stream: Any = None,
    on: str = "gpu",
) -> Any:
    """Return `softmax(scale * q @ k.T) @ v` for each head, in one launch.

    q is (batch, sequence, heads, dim), or by `layout="bhsd"` (batch, heads, sequence, dim); k and v may
    have another length, and fewer heads, which divide those of q: consecutive heads of q share one of k
    and v. The element types are bf16 and f16, and dim is 64, 96, 128, 192 or 256. Products are summed in
    f32, and weights are rounded to the element type before they are multiplied by v.

    Masks are aligned to the end of the keys, as FlashAttention's: the query at place i of M sees the keys
    up to i + N - M + right, and from i + N - M - left on. A query that sees no key has the result 0.

    TMA reads the arrays, so dim is contiguous, and the address and the other strides are multiples of 16
    bytes.

    In a graph of `torch.compile` or `torch.export` the call is the op `mlir_smem::attention`.

    Args:
        q, k, v: arrays of PyTorch, CuPy or JAX on one GPU, or of NumPy with `on="cpu"`.
        causal: whether right is 0.
        scale: a positive number; None for dim ** -0.5.
        window: (left, right): how many keys a query sees before and behind its place; None for all.
        layout: "bshd" or "bhsd", of all arrays.
        out: the result; None for a new array of the layout.
        return_lse: whether the result is a tuple. Its second array (batch, heads, sequence) of f32 has
            the natural logarithm of each query's sum of exponentials, -inf where it sees no key.
        config: the kernel's configuration; None for `default_config`.
        stream: as for `Prepared.launch`; the library's current stream if None.
        on: "gpu", or "cpu" for the emulator.

    Raises:
        ProblemError, ConfigError: for arrays that do not go together or that no kernel reads, and for a
            configuration that does not fit.
        LaunchError: without a GPU of the architecture.
        ValueError: for an unknown machine.

    Example:
        >>> import ml_dtypes
        >>> q = k = v = np.ones((1, 80, 2, 64), ml_dtypes.bfloat16)
        >>> float(attention(q, k, v, causal=True, on="cpu")[0, 79, 1, 63])
        1.0
    """
    if on not in _MACHINES:
        raise ValueError(f"unknown machine '{on}'; expected {' or '.join(_MACHINES)}")
    torch = sys.modules.get("torch")
    if torch is not None and torch.compiler.is_compiling():
        if not (out is None and config is None and stream is None):
            raise ProblemError("out, config and stream are not taken in a graph of torch.compile")
        return _in_graph(q, k, v, causal, scale, window_of(False, window), layout, return_lse, on)
    given, device = _read({"q": q, "k": k, "v": v}, layout, on)
    extents = sizes(*given)
    left, right = window_of(causal, window)
    problem = Problem(
        given[0].element, extents.dim, left is not None, right is not None, return_lse
    )
    config = config or default_config(problem, extents.queries, extents.batches * extents.heads)
    config.check(problem)
    # No query sees further than all keys.
    most = extents.queries + extents.keys
    sight = [min(each, most) for each in (left, right) if each is not None]
    numbers = [_scale(scale, extents.dim), *sight]
    result, lse = _results(q, out, extents, problem, config, layout)
    stored, _ = _read({"out": result}, layout, on)
    _check_result(stored[0], given[0])
    if on == "cpu":
        arrays = [_of_host(each, layout) for each in (q, k, v, result)]
        arrays[1] = arrays[1].swapaxes(-2, -1)
        further = [] if lse is None else [host_array("lse", lse)[0]]
        compiled = compile(text(problem, config), emit="nvvm")
        launch_on_cpu(compiled, None, [*arrays, *further, *numbers], (_EMULATED,))
    else:
        for each in (q, k, v):
            wait_for(each)
        handle = (current_stream(q) or LEGACY_STREAM) if stream is None else stream_handle(stream)
        kernel = _kernel(problem, config, device)
        tiles = -(-extents.queries // config.queries) * extents.batches * extents.heads
        grid = (min(tiles, kernel.resident_blocks()),)
        matrices = [each.matrix for each in (*given, *stored)]
        matrices[1] = matrices[1].transposed()
        further = [] if lse is None else [device_array("lse", lse).matrix]
        kernel.launch(*matrices, *further, *numbers, grid=grid, stream=handle)
        finish(q)
    if lse is None:
        return result
    return result, lse[:, :, : extents.queries]


def _in_graph(
    q: Any,
    k: Any,
    v: Any,
    causal: bool,
    scale: float | None,
    window: Window,
    layout: str,
    return_lse: bool,
    on: str,
) -> Any:
    """Return attention as an op of the graph that PyTorch traces."""
    from .torch_op import OP

    found, lse = OP(q, k, v, causal, scale, *window, layout, return_lse, on)
    return (found, lse) if return_lse else found


def _read(arrays: dict[str, Any], layout: str, on: str) -> tuple[list[Given], int]:
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
        found.append(by_heads(Given(name, matrix, element), layout))
    return found, devices[0]


def _scale(scale: float | None, dim: int) -> Any:
    """Return the factor of scores, for powers of two."""
    factor = dim**-0.5 if scale is None else scale
    if not isinstance(factor, Real) or not 0 < float(factor) < inf:
        raise ProblemError(f"scale is {scale!r}; expected a positive number")
    return np.float32(float(factor) * _LOG2_E)


def _results(
    q: Any, out: Any, extents: Sizes, problem: Problem, config: Config, layout: str
) -> tuple[Any, Any]:
    """Return the arrays for the result and the logarithms; their rows are those of whole tiles."""
    by_head = extents.batches, extents.heads, extents.queries, extents.dim
    if out is None:
        out = _empty(q, tuple(by_head[dim] for dim in LAYOUTS[layout]), problem.element)
    if not problem.lse:
        return out, None
    rows = -(-extents.queries // config.queries) * config.queries
    return out, _empty(q, (extents.batches, extents.heads, rows), "f32")


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


def _of_host(array: Any, layout: str) -> np.ndarray:
    """Return an array in host memory by heads, as a view."""
    return host_array("q", array)[0].transpose(LAYOUTS[layout])


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)
