"""`with sl.when(condition):` and `with sl.otherwise():`, branches of the running kernel."""

from __future__ import annotations

from types import FrameType, TracebackType

from ..errors import TraceError
from ..locations import author_frame
from ..trace import current, statement
from ..values.boolean import Bool, condition_value
from .branch import Branch, BranchRegion


class When:
    """The statement `with sl.when(condition):`."""

    def __init__(self, condition: Bool | bool) -> None:
        self.condition = condition
        self.region: BranchRegion | None = None
        current().expect_with(self, "when(...)")

    @statement
    def __enter__(self) -> None:
        frame, trace = author_frame(), current()
        trace.unentered.pop(self, None)
        with trace.here():
            self.test = condition_value(self.condition)
        self.region = BranchRegion(trace, "the branch", frame, "with sl.when(...)")
        self.region.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(author_frame())
        elif self.region is not None:
            self.region.trace.fail(error)

    @statement
    def _end(self, frame: FrameType) -> None:
        region = self.region
        assert region is not None
        region.leave(frame)
        branch = Branch(self.test, region)
        branch.build(frame)
        region.trace.last_branch = branch


class Otherwise:
    """The statement `with sl.otherwise():`."""

    def __init__(self) -> None:
        self.branch: Branch | None = None

    @statement
    def __enter__(self) -> None:
        frame, trace = author_frame(), current()
        branch = trace.last_branch
        if branch is None or not branch.is_last():
            raise TraceError("sl.otherwise() does not follow the block of an sl.when")
        self.branch = branch
        branch.undo(frame)
        branch.other = BranchRegion(trace, "the other branch", frame, "with sl.otherwise()")
        branch.other.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(author_frame())
        elif self.branch is not None:
            self.branch.region.trace.fail(error)

    @statement
    def _end(self, frame: FrameType) -> None:
        branch = self.branch
        assert branch is not None and branch.other is not None
        branch.other.leave(frame)
        branch.build(frame)
        branch.region.trace.last_branch = None


def when(condition: Bool | bool) -> When:
    """Run a block if a condition holds: `with sl.when(k < n):`.

    A variable that the block changes has its new value after it, if the condition holds. The condition
    is that of the running kernel; a Python `if` chooses while the kernel is traced.

    Args:
        condition: a comparison of indices or numbers.

    Example:
        >>> with sl.when(sl.block_id(0) < 2):
        ...     sl.store(acc, C[0:64, 0:64])
    """
    return When(condition)


def otherwise() -> Otherwise:
    """Run a block if the condition of the `sl.when` before it does not hold: `with sl.otherwise():`.

    Example:
        >>> scale = sl.block_id(0)
        >>> with sl.when(sl.block_id(0) < 2):
        ...     scale = scale + 1
        >>> with sl.otherwise():
        ...     scale = scale + 2
    """
    return Otherwise()
