"""Values of 8-bit elements, of which tensor cores read K-major ones only: they are transposed first."""

from __future__ import annotations

from functools import lru_cache

from ....dialect import new_context
from ....runtime import Kernel, Matrix, cached_compile
from ....runtime.plans import LaunchPlan
from ...libraries import whole_columns
from ...transpose import CONFIGS, build_transpose

#: CTAs of the kernel that fit a multiprocessor.
_CTAS = 2


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


def transposing(v: Matrix, target: Matrix, device: int) -> LaunchPlan:
    """Return the plan of a launch that copies values to `keys_contiguous` ones.

    Raises:
        LaunchError: without a GPU of the architecture.
    """
    kernel = _kernel(device)
    batches, groups, keys, dim = v.shape
    height, width = CONFIGS["i8"].window
    windows = -(-dim // height) * -(-keys // width)
    ctas = _CTAS * kernel.device.properties.multiprocessor_count
    grid = min(windows, -(-ctas // (batches * groups))), batches * groups
    return kernel.plan([v.transposed(), target.transposed()], grid)


@lru_cache(maxsize=8)
def _kernel(device: int) -> Kernel:
    with new_context():
        text = str(build_transpose("i8", of_many=True))
    return Kernel(cached_compile(text), device=device)
