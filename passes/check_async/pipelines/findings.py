"""Findings about a kernel with pipelines: errors are raised, remarks are collected."""

from __future__ import annotations

from typing import NamedTuple

from ....dialect.irtypes import Op
from ....ir.errors import OpError
from ...order.needs import Need
from .state import State


class Order(NamedTuple):
    """What would put two accesses in order.

    Attributes:
        earlier: the op whose access may not be over.
        needs: what is missing after it.
        before: the op before which it is missing, if that is not the op of the finding.
    """

    earlier: Op
    needs: tuple[Need, ...]
    before: Op | None = None


class Findings:
    """What is not proven to be in order, once for each op and reason.

    Attributes:
        remarks: the ops with the reasons.
    """

    def __init__(self) -> None:
        self.remarks: dict[tuple[Op, str], None] = {}

    def remark(
        self, op: Op, reason: str, state: State | None = None, order: Order | None = None
    ) -> None:
        """Note why something is not proven.

        Only the first remark of each path is kept: later ones may follow from it.

        Args:
            op: the op.
            reason: why.
            state: the path's state.
            order: what would put the op and an earlier one in order.
        """
        if state is None or not state.reported:
            self.remarks[op, reason] = None
        if state is not None:
            state.known, state.reported = False, True

    def error(
        self,
        op: Op,
        message: str,
        certain: bool,
        state: State | None = None,
        order: Order | None = None,
    ) -> None:
        """Note a rule that an op breaks on some path.

        Args:
            op: the op.
            message: what it does wrong, and the fix.
            certain: whether some run is known to take the path; else a remark is noted.
            state: the path's state.
            order: what would put the op and an earlier one in order.

        Raises:
            OpError: if `certain`.
        """
        if certain:
            raise OpError(op, message)
        self.remark(op, f"there may be a path on which it {message}", state, order)
