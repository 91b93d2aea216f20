"""Values that are equal in all threads of a warp, marked so for ptxas."""

from __future__ import annotations

from ...ir import emit
from ..errors import TraceError
from ..trace import op_builder
from ..values.base import describe
from ..values.index import Index, as_index


@op_builder
def make_warp_uniform(number: Index | int) -> Index:
    """Return an index that is equal in all threads of a warp as one that ptxas has in uniform registers.

    It is a shuffle of the first thread's value; all threads of the warp execute it. ptxas finds most
    uniform values by itself, but not those of divisions and of loops with such bounds. The name is
    CuTe's.

    Args:
        number: the index, from 0 to 2^31 - 1.

    Raises:
        TraceError: for something else.

    Example:
        >>> print(sl.make_warp_uniform(sl.block_id(0)).type_text)
        an index
    """
    if not isinstance(number, Index | int):
        raise TraceError(f"sl.make_warp_uniform takes an index, not {describe(number)}")
    number = as_index(number)
    return number.rewrap(emit.warp_uniform(number.value))
