"""A call of attention on the emulator, with arrays in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....codegen import compile
from ....runtime import Matrix, launch_on_cpu
from ....runtime.arguments import DTYPES
from ....runtime.arrays import host_array
from ...libraries import empty
from ..generator.combine import combine_grid, combine_text
from ..generator.kernel import text
from .checked import Checked, Options, check_result, checked
from .operands import LAYOUTS, Given, by_heads
from .packing import packing_of

#: CTAs of the emulator's grid, which runs them one after the other.
_EMULATED = 2


def emulated(
    arrays: tuple[Any, Any, Any], starts: tuple[Any, Any], out: Any, options: Options
) -> tuple[Any, Any]:
    """Return the result and the logarithms, None if these are not asked for.

    Args:
        arrays: q, k and v.
        starts: `cu_seqlens_q` and `cu_seqlens_k`, or None for each.
        out: an array for the result, or None.
        options: what else is asked for.

    Raises:
        ProblemError, ConfigError, LaunchError: as of `attention`.
    """
    packing = packing_of(*starts, options.max_seqlen_q)
    layout, packed = options.layout, packing is not None
    named = dict(zip("qkv", arrays, strict=True))
    call = checked([_given(*each, layout, packed) for each in named.items()], packing, options)
    result = out
    if out is None:
        result = _new(arrays[0], call.result, call.problem.element)
    check_result(_given("out", result, layout, packed), _given("q", arrays[0], layout, packed))
    lse = _new(arrays[0], call.lse, "f32") if options.return_lse else None
    of_lse = None if lse is None else host_array("lse", lse)[0].reshape(call.lse_by_heads)
    _emulate(call, [_of_host(each, layout, packed) for each in (*arrays, result)], of_lse)
    return result, lse


def _new(like: Any, shape: tuple[int, ...], element: str) -> Any:
    if isinstance(like, np.ndarray):
        return np.empty(shape, DTYPES[element])
    return empty(like, shape, element)


def _emulate(call: Checked, arrays: list[np.ndarray], lse: np.ndarray | None) -> None:
    """Run the kernels; q, k, v, the result and the logarithms are given by heads."""
    if call.packs:
        arrays[0], arrays[3] = (arrays[at][:, :, 0].reshape(call.by_heads) for at in (0, 3))
    q, k, v, result = arrays
    results = [result, *([] if lse is None else [lse])]
    first = [np.empty(shape, np.float32) for shape in call.of_parts] or results
    tokens = call.extents.queries, call.extents.keys
    of_packing = call.packing.on_host(tokens) if call.packing else []
    given = [q, k.swapaxes(-2, -1), v, *first, *of_packing, *call.numbers]
    compiled = compile(text(call.problem, call.config), emit="nvvm")
    launch_on_cpu(compiled, None, given, (_EMULATED,))
    if call.parts > 1:
        compiled = compile(combine_text(call.problem), emit="nvvm")
        launch_on_cpu(compiled, None, [*first, *results], combine_grid(call.problem, call.items))


def _given(name: str, array: Any, layout: str, packed: bool) -> Given:
    host, element = host_array(name, array)
    strides = tuple(stride // host.itemsize for stride in host.strides)
    matrix = Matrix(host.ctypes.data, host.shape, strides, host.itemsize)
    return by_heads(Given(name, matrix, element), layout, packed)


def _of_host(array: Any, layout: str, packed: bool) -> np.ndarray:
    """Return an array in host memory by heads, as a view."""
    host, _ = host_array("q", array)
    return (host[None] if packed else host).transpose(LAYOUTS[layout])
