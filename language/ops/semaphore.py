"""Semaphores in global memory: which warpgroup is the last to store its part of a result."""

from __future__ import annotations

from typing import Any

from ...dialect import ops as smem
from ..dtypes import i32
from ..errors import TraceError
from ..trace import op_builder
from ..values.array import Array
from ..values.base import describe
from ..values.boolean import Bool
from ..values.index import Index, index_value


@op_builder
def semaphore_arrive(semaphores: Array, index: Index | int, count: Index | int) -> Bool:
    """Arrive at a semaphore, and return whether this is the last of `count` arrivals.

    Each warpgroup that executes it arrives once, and all of its threads get the same answer. The last
    arrival sets the semaphore to zero, so each launch begins and ends with zeros. No warpgroup waits.
    Stores to arrays by earlier arrivals are visible to the last.

    Args:
        semaphores: an array of i32 with one dimension, zero before the first launch.
        index: the element at which the warpgroup arrives.
        count: the number of arrivals, 1 or more.

    Raises:
        TraceError: for another array.

    Example:
        >>> with sl.when(sl.semaphore_arrive(S, 0, 7)):
        ...     sl.store(acc, C[0:64, 0:64])
    """
    if not isinstance(semaphores, Array) or len(semaphores.names) != 1 or semaphores.dtype != i32:
        raise TraceError(
            f"expected an array of i32 with one dimension as semaphores, not {describe(semaphores)}"
        )
    operands: list[Any] = [semaphores.value, index_value(index), index_value(count)]
    return Bool(smem.semaphore_arrive(*operands))
