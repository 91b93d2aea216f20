"""Elements of arrays at positions, such as `bias[column + sl.iota(1)]`."""

from __future__ import annotations

from typing import Any

from ..dtypes import DType, index
from ..errors import TraceError
from ..trace import current, traced
from .base import Traced
from .fragment import Fragment, as_node
from .index import is_index
from .node import ArrayElement, joined


@traced
def array_element(array: Traced, dtype: DType, at: tuple[Any, ...]) -> Fragment:
    """Return the expression of an array's element at positions, such as `bias[column + sl.iota(1)]`.

    Args:
        array: the array.
        dtype: its element type.
        at: an index for each dimension: expressions of positions, indices, integers.

    Raises:
        TraceError: for an index that is something else.
    """
    for each in at:
        known = is_index(each) or (isinstance(each, Fragment) and each.dtype == index)
        if not known:
            what = each.type_text if isinstance(each, Traced) else repr(each)
            raise TraceError(
                f"{array.type_text} is indexed by {what} and by positions; expected an index for each "
                "dimension"
            )
    nodes = tuple(as_node(each, index) for each in at)
    shape, axis = joined(nodes)
    location = current().here()
    return Fragment(node=ArrayElement(dtype, shape, axis, "load", nodes, location, array=array))
