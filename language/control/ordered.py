"""Turns of the warpgroups of a partition."""

from __future__ import annotations

from types import TracebackType

from ...dialect import ops as smem
from ..trace import op_builder


class Ordered:
    """The statement `with sl.ordered():`."""

    def __enter__(self) -> None:
        _wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            _arrive()


@op_builder
def _wait() -> None:
    smem.order_wait()


@op_builder
def _arrive() -> None:
    smem.order_arrive()


def ordered() -> Ordered:
    """Let the warpgroups of a partition run a block one after the other: `with sl.ordered():`.

    The first warpgroup comes first, and after the last one the first again. What the block assigns is
    defined after it. It holds no wait for a pipeline, no barrier of several warpgroups, no branch but
    `with sl.elect()`, and no loop.

    Example:
        >>> with sl.warp_specialize():
        ...     with sl.partition(2):
        ...         with sl.ordered():
        ...             product = sl.mma(a, b)
    """
    return Ordered()
