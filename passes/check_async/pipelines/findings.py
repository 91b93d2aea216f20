"""Findings about a kernel with pipelines: errors are raised, remarks are collected."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Op
from ....ir.errors import OpError
from ...order.needs import Need, Unordered
from .state import PartitionState


class MissingSync(NamedTuple):
    """Synchronization that is missing between two accesses.

    Attributes:
        earlier: the op whose access may not be complete.
        needs: the missing ops.
        before: the op before which they are missing; by default the op of the finding.
    """

    earlier: Op
    needs: tuple[Need, ...]
    before: Op | None = None


class StopOn(Enum):
    """The findings that end the search: they are raised as errors.

    Attributes:
        WRONG: what some run is known to do wrong.
        UNFIXABLE: of that, what no synchronization fixes.
        UNPROVEN: whatever is not proven.
    """

    WRONG, UNFIXABLE, UNPROVEN = range(3)


class Findings:
    """What is not proven of a kernel.

    Args:
        stops_on: the findings that end the search.

    Attributes:
        remarks: all ops and reasons, once each.
        unordered: of these, the accesses that are not in order on some path, first found first.
        unknown: the other ones.
    """

    def __init__(self, stops_on: StopOn = StopOn.WRONG) -> None:
        self.stops_on = stops_on
        self.remarks: dict[tuple[Op, str], None] = {}
        self.unordered: list[Unordered] = []
        self.unknown: dict[tuple[Op, str], None] = {}

    def add(self, others: Findings) -> None:
        """Add other findings.

        Raises:
            OpError: if one of them ends the search.
        """
        if self.stops_on is StopOn.UNPROVEN:
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
        sync: MissingSync | None = None,
    ) -> None:
        """Note why something is not proven.

        Only the first remark of each path counts: later ones may follow from it.

        Args:
            op: the op.
            reason: the reason.
            state: the path's state.
            sync: what is missing between an earlier op and this one.

        Raises:
            OpError: if `stops_on` is `StopOn.UNPROVEN`.
        """
        if self.stops_on is StopOn.UNPROVEN:
            raise OpError(op, reason)
        if state is None or not state.reported:
            self.remarks[op, reason] = None
            if sync is None:
                self.unknown[op, reason] = None
            else:
                later = sync.before or op
                self.unordered.append(Unordered(later, sync.earlier, sync.needs, reason))
        if state is not None:
            state.known, state.reported = False, True

    def error(
        self,
        op: Op,
        message: str,
        certain: bool,
        state: PartitionState | None = None,
        sync: MissingSync | None = None,
    ) -> None:
        """Note a rule that an op breaks on some path.

        Args:
            op: the op.
            message: what it does wrong, and the fix.
            certain: whether some run is known to take the path; else a remark is noted.
            state: the path's state.
            sync: what is missing between an earlier op and this one.

        Raises:
            OpError: if the finding ends the search.
        """
        if certain and (sync is None or self.stops_on is StopOn.WRONG):
            raise OpError(op, message)
        self.remark(op, f"there may be a path on which it {message}", state, sync)
