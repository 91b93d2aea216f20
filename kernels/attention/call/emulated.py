"""A call of attention on the emulator, with arrays in host memory."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ....codegen import Compiled, compile
from ....runtime import Matrix, launch_on_cpu
from ....runtime.arguments import DTYPES
from ....runtime.arrays import host_array
from ....runtime.streams import library
from ...errors import ProblemError
from ...libraries import empty, whole_columns
from ..generator.combine import combine_grid, combine_text
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from .checked import AttentionOptions, CheckedCall, check_call, check_result
from .operands import LAYOUTS, AttentionArrays, NamedMatrix, by_heads
from .packing import packing_of

#: The libraries whose arrays are not written.
_IMMUTABLE = ("jax", "jaxlib")

#: CTAs of the emulator's grid, which runs them one after the other.
_EMULATED = 2

#: Compiled kernels that are kept for later calls.
_KERNELS = 64


def emulate(arrays: AttentionArrays, options: AttentionOptions) -> tuple[Any, Any]:
    """Return the result and the logarithms; None for these without `return_lse`.

    Args:
        arrays: the arrays of the call.
        options: the options of the call.

    Raises:
        ProblemError, ConfigError, LaunchError: as of `attention`.
    """
    packing = packing_of(arrays.cu_seqlens_q, arrays.cu_seqlens_k, options.max_seqlen_q)
    layout, packed = options.layout, packing is not None
    qkv = [by_heads(_named_matrix(name, getattr(arrays, name)), layout, packed) for name in "qkv"]
    descales = [_named_matrix(*array) for array in arrays.descales.items()]
    call = check_call(qkv, descales, packing, options)
    like, result = arrays.q, arrays.out
    if result is None:
        result = _new_array(like, call.result, call.problem.result)
    check_result(by_heads(_named_matrix("out", result), layout, packed), qkv[0])
    if not host_array("out", result)[0].flags.writeable:
        raise ProblemError("out is read-only; expected an array that can be written, or None")
    lse = _new_array(like, call.lse, "f32") if options.return_lse else None
    lse_view = None if lse is None else host_array("lse", lse)[0].reshape(call.lse_by_heads)
    views = [_host_view(array, layout, packed) for array in (*arrays[:3], result)]
    _run_kernels(
        call, views, lse_view, [host_array(*array)[0] for array in arrays.descales.items()]
    )
    output = _to_library(like, result) if arrays.out is None else result
    return output, None if lse is None else _to_library(like, lse)


def _new_array(like: Any, shape: tuple[int, ...], element: str) -> Any:
    """Return a new array of the library of `like`, or of NumPy if that library's arrays are immutable."""
    if isinstance(like, np.ndarray) or library(like) in _IMMUTABLE:
        return np.empty(shape, DTYPES[element])
    return empty(like, shape, element)


def _to_library(like: Any, result: Any) -> Any:
    """Return a result as an array of the library of `like`."""
    if library(like) not in _IMMUTABLE:
        return result
    import jax.numpy as jnp

    return jnp.asarray(result)


def _run_kernels(
    call: CheckedCall, arrays: list[np.ndarray], lse: np.ndarray | None, descales: list[np.ndarray]
) -> None:
    """Run the kernels; q, k, v, the result and the logarithms are given by heads."""
    if call.packs:
        arrays[0], arrays[3] = (
            arrays[operand][:, :, 0].reshape(call.by_heads) for operand in (0, 3)
        )
    q, k, v, result = arrays
    if call.problem.is_8_bit:
        *outer, keys, dim = v.shape
        v_t = np.empty((*outer, dim, whole_columns(keys, v.itemsize)), v.dtype)[..., :keys]
        v_t[...] = v.swapaxes(-2, -1)
        v = v_t.swapaxes(-2, -1)
    results = [result, *([] if lse is None else [lse])]
    first = [np.empty(shape, np.float32) for shape in call.part_shapes] or results
    tokens = call.extents.queries, call.extents.keys
    starts = call.packing.on_host(tokens) if call.packing else []
    arguments = [q, k.swapaxes(-2, -1), v, *first, *starts, *descales, *call.numbers]
    launch_on_cpu(attention_kernel(call.problem, call.config), None, arguments, (_EMULATED,))
    if call.parts > 1:
        grid = combine_grid(call.problem, call.items)
        launch_on_cpu(combining_kernel(call.problem), None, [*first, *results], grid)


@lru_cache(maxsize=_KERNELS)
def attention_kernel(problem: Problem, config: Config) -> Compiled:
    """Return the kernel of a problem, compiled for the emulator."""
    return compile(text(problem, config), emit="nvvm")


def combining_kernel(problem: Problem) -> Compiled:
    """Return the kernel that combines the results of parts, compiled for the emulator."""
    # Masks and factors are done, and the kernel reads f32.
    return _combining_kernel(replace(problem, left=False, right=False, descaled=""))


@lru_cache(maxsize=_KERNELS)
def _combining_kernel(problem: Problem) -> Compiled:
    return compile(combine_text(problem), emit="nvvm")


def _named_matrix(name: str, array: Any) -> NamedMatrix:
    host, element = host_array(name, array)
    strides = tuple(stride // host.itemsize for stride in host.strides)
    return NamedMatrix(name, Matrix(host.ctypes.data, host.shape, strides, host.itemsize), element)


def _host_view(array: Any, layout: str, packed: bool) -> np.ndarray:
    """Return an array in host memory by heads, as a view."""
    host, _ = host_array("q", array)
    return (host[None] if packed else host).transpose(LAYOUTS[layout])
