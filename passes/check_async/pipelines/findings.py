"""What is found of a kernel with pipelines: errors are raised, remarks are gathered."""

from typing import Any

from ....ir.errors import OpError
from .state import State


class Findings:
    """What is not known to be in order, once for each op and reason.

    Attributes:
        unproven: the ops with the reasons.
    """

    def __init__(self) -> None:
        self.unproven: dict[tuple[Any, str], None] = {}

    def unknown(self, op: Any, reason: str, state: State | None = None) -> None:
        """Notes what is not decided. What follows it on its path may not be as it seems: of each path
        only the first is noted."""
        if state is None or not state.told:
            self.unproven[op, reason] = None
        if state is not None:
            state.known, state.told = False, True

    def wrong(self, op: Any, message: str, certain: bool, state: State | None = None) -> None:
        """Notes a rule that an op breaks on some path.

        Raises:
            OpError: if some run takes that path.
        """
        if certain:
            raise OpError(op, message)
        self.unknown(op, f"there may be a path on which it {message}", state)
