"""Code of some warpgroups or threads: partitions of the warpgroups, an elected thread."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any

from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import ElectOp, PartitionOp, WarpSpecializeOp
from ..errors import TraceError
from ..locations import author_frame, position_of
from ..trace import KernelScope, current, statement
from ..values.index import Index
from .bytecode import is_read_after
from .exits import WithBlock
from .holders import Slot
from .state import ReachableState
from .variables import assign, can_be_lost, has_changed, lost_value, snapshot, text_of


class _RegionStatement:
    """A statement `with ...:` whose block is the region of an op.

    Attributes:
        label, syntax: for messages.
        restores: whether the block's end restores the variables from before it.
    """

    label = "the block"
    syntax = ""
    restores = True

    def __init__(self) -> None:
        self.scope: KernelScope | None = None
        self.before: dict[str | Slot, Any] = {}
        current().expect_with(self, self.syntax)

    def make(self) -> Any:
        """Build the op, with an empty region."""
        raise NotImplementedError

    @statement
    def __enter__(self) -> Any:
        frame, trace = author_frame(), current()
        self.trace = trace
        trace.unentered.pop(self, None)
        label = f"{self.label} in line {position_of(frame).line}"
        syntax = f"with sl.{self.syntax}"
        self.exit = WithBlock(frame, label, syntax, "let the block run to its end")
        with trace.here():
            op = self.make()
            types = [ir.IndexType.get()] if isinstance(self, PartitionStatement) else []
            block = ir.Block.create_at_start(op.operation.regions[0], types)
        self.before = snapshot(frame)
        self.state = ReachableState(trace.locations.kernel, frame)
        self.scope = KernelScope(label)
        trace.enter(self.scope, block)
        arguments = block.arguments
        return Index(arguments[0], self.scope, unsigned=True) if len(arguments) else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(author_frame())
        else:
            self.trace.fail(error)

    @statement
    def _end(self, frame: FrameType) -> None:
        assert self.scope is not None
        self.exit.check_end(frame)
        self.trace.leave(self.scope)
        self.scope.open = False
        self.state.check_shapes(self.scope.label)
        before: dict[str | Slot, Any] = dict(self.before)
        after = snapshot(frame)
        for slot, (old, new) in self.state.changed_slots(after).items():
            before[slot], after[slot] = old, new
        changed = {
            name: (value, after.get(name), self.scope)
            for name, value in before.items()
            if has_changed(value, after.get(name))
        }
        if self.restores:
            self.trace.changed_by_partitions.update(changed)
            assign(frame, {name: value for name, (value, *_) in changed.items()})
        else:
            _forget(frame, changed)


def _forget(frame: FrameType, changed: Mapping[str | Slot, tuple[Any, Any, KernelScope]]) -> None:
    """Make each use of variables that a block has changed an error.

    Args:
        frame: the frame of the function.
        changed: for each variable, its value before and after the block, and the block's scope.

    Raises:
        TraceError: for a variable that may be read, and whose use would not always be noticed.
    """
    for name, (before, after, scope) in changed.items():
        is_read = is_read_after(frame, name) if isinstance(name, str) else name.is_read
        if is_read and not can_be_lost(before, after):
            raise TraceError(
                f"{name} is {text_of(before)} before {scope.label}, and {text_of(after)} after it, for "
                "some threads alone; use another variable"
            )
    assign(frame, {name: lost_value(scope) for name, (*_, scope) in changed.items()})


class WarpSpecializeStatement(_RegionStatement):
    """The statement `with sl.warp_specialize():`."""

    label = "the warp specialisation"
    syntax = "warp_specialize()"

    def make(self) -> Any:
        self.trace.changed_by_partitions.clear()
        return create(WarpSpecializeOp, regions=1)

    def _end(self, frame: FrameType) -> None:
        super()._end(frame)
        # A variable that a partition changed is not defined after all of them: its use is an error.
        _forget(frame, self.trace.changed_by_partitions)


class PartitionStatement(_RegionStatement):
    """The statement `with sl.partition(...) as warpgroup:`."""

    label = "the partition"
    syntax = "partition(...)"

    def __init__(self, warpgroups: int, registers: int | None) -> None:
        super().__init__()
        self.warpgroups = warpgroups
        self.registers = registers

    def make(self) -> Any:
        if self.registers is not None:
            self.trace.moves_registers = True
        return create(PartitionOp, regions=1, warpgroups=self.warpgroups, registers=self.registers)


class ElectStatement(_RegionStatement):
    """The statement `with sl.elect():`."""

    label = "the elected thread's block"
    syntax = "elect()"
    restores = False

    def __init__(self, scope: str, warp: int) -> None:
        super().__init__()
        self.group = scope
        self.warp = warp

    def make(self) -> Any:
        return create(ElectOp, regions=1, scope=self.group, warp=self.warp or None)


def warp_specialize() -> WarpSpecializeStatement:
    """Divide the warpgroups among partitions: `with sl.warp_specialize():` holds `sl.partition` alone.

    Example:
        >>> with sl.warp_specialize():
        ...     with sl.partition(registers=40):
        ...         with sl.elect():
        ...             sl.tma_store(a, D[0:64, 0:64])
        ...     with sl.partition(warpgroups=2, registers=232) as warpgroup:
        ...         sl.fence()
    """
    return WarpSpecializeStatement()


def partition(warpgroups: int = 1, registers: int | None = None) -> PartitionStatement:
    """Give the next warpgroups a block of their own: `with sl.partition(2) as warpgroup:`.

    A variable that the block changes has its value from before the block after it.

    Args:
        warpgroups: their number.
        registers: of a thread (setmaxnreg); None leaves them.

    Returns:
        The context, whose value is the index of the warpgroup in the partition.

    Example:
        >>> with sl.warp_specialize():
        ...     with sl.partition(2) as warpgroup:
        ...         row = warpgroup * 64
    """
    return PartitionStatement(warpgroups, registers)


@statement
def elect(scope: str = "warpgroup", warp: int = 0) -> ElectStatement:
    """Let one thread run a block: `with sl.elect():`.

    Args:
        scope: "warpgroup" for a thread of each warpgroup, "cta" for a thread of the CTA.
        warp: the index of its warp.

    Raises:
        TraceError: for another scope.

    Example:
        >>> with sl.elect():
        ...     sl.tma_store(a, D[0:64, 0:64])
    """
    if scope not in ("warpgroup", "cta"):
        raise TraceError(f'sl.elect has the scope {scope!r}; expected "warpgroup" or "cta"')
    return ElectStatement(scope, warp)
