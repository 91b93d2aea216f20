"""Findings about a kernel with pipelines: errors are raised, remarks are collected."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Op
from ....ir.errors import OpError
from ...order.needs import Need, Unordered
from .state import PartitionState


class MissingSync(NamedTuple):
    """What would put two accesses in order.

    Attributes:
        earlier: the op whose access may not be over.
        needs: what is missing after it.
        before: the op before which it is missing, if that is not the op of the finding.
    """

    earlier: Op
    needs: tuple[Need, ...]
    before: Op | None = None


class StopOn(Enum):
    """What ends a search for findings, by raising an error.

    Attributes:
        WRONG: what some run is known to do wrong.
        NOT_ORDER: of that, what no order of accesses mends.
        ANY: whatever is not proven.
    """

    WRONG, UNFIXABLE, UNPROVEN = range(3)


class Findings:
    """What is not proven of a kernel.

    Args:
        ends: what ends the search.

    Attributes:
        remarks: the ops with the reasons, once for each op and reason.
        unordered: of these, the accesses that are not in order on some path, in the order in which they
            were found.
        unknown: the others.
    """

    def __init__(self, ends: StopOn = StopOn.WRONG) -> None:
        self.ends = ends
        self.remarks: dict[tuple[Op, str], None] = {}
        self.unordered: list[Unordered] = []
        self.unknown: dict[tuple[Op, str], None] = {}

    def add(self, others: Findings) -> None:
        """Add what others found.

        Raises:
            OpError: if that ends the search.
        """
        if self.ends is StopOn.UNPROVEN:
            for op, reason in others.remarks:
                raise OpError(op, reason)
        self.remarks |= others.remarks
        self.unordered += others.unordered
        self.unknown |= others.unknown

    def remark(
        self,
        op: Op,
        reason: str,
        state: PartitionState | None = None,
        order: MissingSync | None = None,
    ) -> None:
        """Note why something is not proven.

        Only the first remark of each path is kept: later ones may follow from it.

        Args:
            op: the op.
            reason: why.
            state: the path's state.
            order: what would put the op and an earlier one in order.

        Raises:
            OpError: if whatever is not proven ends the search.
        """
        if self.ends is StopOn.UNPROVEN:
            raise OpError(op, reason)
        if state is None or not state.reported:
            self.remarks[op, reason] = None
            if order is None:
                self.unknown[op, reason] = None
            else:
                later = order.before or op
                self.unordered.append(Unordered(later, order.earlier, order.needs, reason))
        if state is not None:
            state.known, state.reported = False, True

    def error(
        self,
        op: Op,
        message: str,
        certain: bool,
        state: PartitionState | None = None,
        order: MissingSync | None = None,
    ) -> None:
        """Note a rule that an op breaks on some path.

        Args:
            op: the op.
            message: what it does wrong, and the fix.
            certain: whether some run is known to take the path; else a remark is noted.
            state: the path's state.
            order: what would put the op and an earlier one in order.

        Raises:
            OpError: if that ends the search.
        """
        if certain and (order is None or self.ends is StopOn.WRONG):
            raise OpError(op, message)
        self.remark(op, f"there may be a path on which it {message}", state, order)
