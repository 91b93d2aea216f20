"""Provers: they find unordered accesses of a function by pairs, or for the whole function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ...bindings.irtypes import Op
from ...ir.errors import OpError
from ..check_async.analysis import Analysis, Analyzer
from ..check_async.check import blocks_of, has_pipelines
from ..order.function_ops import Entry, FunctionOps
from ..order.global_memory import GlobalArrays
from ..order.hazards import Origin
from ..order.needs import Unordered
from ..order.pairs import Pairs
from .inserted import COMMITS

#: The beginning of refusals.
REFUSED = "cannot insert synchronization"


class Prover(Protocol):
    """Finds the unordered accesses of a function, while ops are inserted and removed.

    Attributes:
        unknown: ops of which something is not known, with the reason.
        questions: how often accesses were followed.
    """

    unknown: dict[tuple[Op, str], None]

    @property
    def questions(self) -> int: ...

    def first(self) -> Unordered | None:
        """Return the first pair that is not in order, with all that is missing on any path; None if every
        access is in order. Pairs whose copy is in no group come first."""

    def missing(self, unordered: Unordered) -> Unordered:
        """Return a pair with all that is missing now."""
        ...

    def insert(self, entry: Entry) -> None:
        """Note an op that was inserted into its block."""

    def remove(self, entry: Entry) -> None:
        """Note an op that has been taken out of its block."""

    def set_pending(self, entry: Entry, pending: int) -> None:
        """Set how many groups a wait leaves pending."""

    def passing(self, ops: Iterable[Op]) -> list[Origin]:
        """Return the accesses that may be in order because of some ops."""
        ...

    def are_in_order(self, accesses: list[Origin]) -> bool:
        """Whether accesses of `passing` are still in order after a change of the ops."""
        ...

    def ask_again(self, accesses: list[Origin]) -> None:
        """Search again for hazards of accesses of `passing`."""


class WholeFunctionProver:
    """Analyzes the whole function each time.

    Args:
        function: the function.
        furthest: groups are told apart up to this many groups back.
        global_memory: arrays whose accesses are put in order, too.
    """

    def __init__(self, function: Op, furthest: int, global_memory: GlobalArrays) -> None:
        self._analyzer = Analyzer(function, furthest, global_memory)
        self._known: Analysis | None = None
        self.unknown: dict[tuple[Op, str], None] = {}
        self.questions = 0

    def first(self) -> Unordered | None:
        analysis = self._analyze()
        for op, reason in analysis.unknown:
            raise OpError(op, f"{REFUSED}: {reason}")
        if not analysis.unordered:
            return None
        lacks_commit = (x for x in analysis.unordered if any(n.op in COMMITS for n in x.needs))
        first = next(lacks_commit, None)
        return first or _missing(analysis.unordered[0], analysis)

    def missing(self, unordered: Unordered) -> Unordered:
        return _missing(unordered, self._analyze())

    def insert(self, entry: Entry) -> None:
        self._change(entry)

    def remove(self, entry: Entry) -> None:
        self._change(entry)

    def set_pending(self, entry: Entry, pending: int) -> None:
        self._change(entry)

    def _change(self, entry: Entry) -> None:
        assert entry.op is not None
        self._known = None
        self._analyzer.invalidate(entry.op)

    def passing(self, ops: Iterable[Op]) -> list[Origin]:
        return []

    def are_in_order(self, accesses: list[Origin]) -> bool:
        self.questions += 1
        return self._analyzer.is_in_order()

    def ask_again(self, accesses: list[Origin]) -> None:
        pass

    def _analyze(self) -> Analysis:
        if self._known is None:
            self.questions += 1
            self._known = self._analyzer.analyze()
            self.unknown = self._known.unknown
        return self._known


def prover_of(function: Op, ops: FunctionOps, furthest: int, global_memory: GlobalArrays) -> Prover:
    """Return the prover of a function; arguments as for `Pairs`.

    Raises:
        OpError: if the function breaks a rule that no synchronization fixes, or is not followed.
    """
    blocks = blocks_of(function)
    if has_pipelines(function) or len(blocks) != 1:
        return WholeFunctionProver(function, furthest, global_memory)
    pairs = Pairs(function, blocks[0], ops, furthest, global_memory)
    for op, reason in pairs.unknown:
        raise OpError(op, f"{REFUSED}: {reason}")
    return pairs


def _missing(unordered: Unordered, analysis: Analysis) -> Unordered:
    same = (unordered.op, unordered.earlier)
    return unordered.with_needs_of(x for x in analysis.unordered if (x.op, x.earlier) == same)
