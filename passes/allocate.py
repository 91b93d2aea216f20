"""`smem-allocate`: give each tile an offset in the shared memory of a CTA."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..bindings.diagnostics import Invalid, format_location
from ..bindings.irtypes import Block, Module, Op, Value
from ..bindings.mlir import ir
from ..dialect.build import i64
from ..dialect.effects import Completion
from ..dialect.elements import element_of
from ..dialect.op import effects_of
from ..dialect.ops import AllocOp, CopyWaitOp, LoadOp, ReduceOp, SubviewOp, ViewOp, WaitOp
from ..dialect.ops.memory import MAX_OFFSET
from ..dialect.ops.pipeline import MBARRIER_BYTES
from ..dialect.smem import Smem
from ..dialect.types import layout_of
from ..ir.barriers import is_cta_barrier
from ..ir.errors import OpError
from ..ir.kernel import function_of, module_of
from ..ir.launch_attributes import SHARED_BYTES
from ..ir.nvgpu import tensor_map_type
from ..ir.reductions import exchange_of
from ..ir.view_memory import DYNAMIC_ALIGNMENT, buffer_bytes, declaration_of, memory_of
from ..ir.walk import walk
from ..layout.banks import MAX_BYTES
from ..layout.modes import LayoutError
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import least_alignment, tensor_box
from ..layout.tensor_map import tensor_map
from .driver.base import Pass, option

#: Completions that no op of all threads of the function states: an mbarrier does, or the issuing thread
#: waits.
_BULK = (Completion.BULK_GROUP, Completion.MBARRIER)

#: Calls of a function by its name.
_CALLS = ("func.call", "llvm.call")

#: The waits for asynchronous accesses.
_WAITS = {CopyWaitOp: Completion.CP_ASYNC_GROUP, WaitOp: Completion.WGMMA_GROUP}


@dataclass(frozen=True)
class _LiveRange:
    """The live range of a tile, or of the mbarriers of a pipeline.

    Attributes:
        alloc: the op that allocates it.
        size, alignment: in bytes.
        first, last: positions of ops in the function's block, both included.
        first_user, last_user: the first and the last op of that block with a use; None if other threads
            may use it at any time.
    """

    alloc: Op
    size: int
    alignment: int
    first: int
    last: int
    first_user: Op | None = None
    last_user: Op | None = None

    def overlaps(self, other: "_LiveRange") -> bool:
        """Whether both are live at some op."""
        return self.first <= other.last and other.first <= self.last

    def is_before(self, other: "_LiveRange") -> bool:
        """Whether its last use comes before the first one of another tile, barriers or not."""
        if self.last_user is None or other.first_user is None:
            return False
        return self.last_user != other.first_user and self.last_user.is_before_in_block(
            other.first_user
        )


@dataclass(frozen=True)
class Allocate(Pass):
    """Places tiles in dynamic shared memory. Tiles whose live ranges do not overlap share bytes.

    A tile is live from its first use to the barrier after its last use: until then some thread, or a
    `wgmma` that has not been waited for, may still read it. Pipelines, what reductions exchange between
    warps, and tiles that TMA fills or reads, are live in the whole function.

    Memory that the kernel declares and an `smem.view` names is aligned as the view promises. A tensor map
    by which `nvgpu.tma.async.load` fills that memory has the lines and the swizzle of the tile's layout.
    """

    name = "smem-allocate"
    description = "give each tile an offset in shared memory, aligned to its swizzle pattern"

    max_bytes: int = option(MAX_BYTES, "shared memory of a CTA, in bytes")
    reserved_bytes: int = option(0, "bytes to reserve at the start of dynamic shared memory")

    def run(self, module: Module) -> None:
        functions: dict[Op, list[Op]] = {}
        allocating = [op for op in Smem.operations if op.effects.allocates]
        for view in walk(module, ViewOp):
            _align_memory(view)
            _check_tensor_maps(view)
        for alloc in walk(module, *allocating):
            if isinstance(alloc, ReduceOp) and exchange_of(alloc) is None:
                continue
            functions.setdefault(function_of(alloc), []).append(alloc)
        if self.reserved_bytes:
            # A function without tiles needs the reserved bytes, too.
            for declaration in walk(module, "gpu.dynamic_shared_memory"):
                functions.setdefault(function_of(declaration), [])
        _check_calls(module, functions)
        for function, allocs in functions.items():
            self._place(function, allocs)

    def _place(self, function: Op, allocs: list[Op]) -> None:
        if not self.reserved_bytes:
            for declaration in walk(function, "gpu.dynamic_shared_memory"):
                raise OpError(
                    declaration,
                    "shares its bytes with the kernel's tiles; reserve them with "
                    "smem-allocate{reserved-bytes=...}",
                )
        live_ranges = _live_ranges(function, allocs)
        placed = _place_tiles(live_ranges, self.reserved_bytes, _LiveRange.overlaps)
        total = _end_of_bytes(placed, self.reserved_bytes)
        try:
            buffers = buffer_bytes(function)
        except Invalid as error:
            raise OpError(function, str(error)) from None
        limit = max(0, min(self.max_bytes, MAX_OFFSET) - buffers)
        if total > limit:
            holders = "".join(
                f"\n  {live.size} bytes at {offset}: {live.alloc.results[0].type} at "
                f"{format_location(live.alloc.location)}"
                for offset, live in sorted(placed, key=lambda p: p[0])
            )
            contents = "its tiles" + " and the reserved bytes" * bool(self.reserved_bytes)
            raise OpError(
                function,
                f"needs {total} bytes of shared memory for {contents}, but a CTA has {limit}{holders}"
                f"{_barrier_hints(live_ranges, self.reserved_bytes, limit)}",
            )
        for offset, live in placed:
            live.alloc.attributes["offset"] = i64(offset)
        i32 = ir.IntegerType.get_signless(32)
        function.attributes[SHARED_BYTES] = ir.IntegerAttr.get(i32, total)


def _check_calls(module: Module, functions: dict[Op, list[Op]]) -> None:
    """Check that no function that allocates shared memory is called: it would use the bytes and
    barriers of its caller.

    Raises:
        OpError: at the call.
    """
    allocating = {
        (module_of(function), function.attributes["sym_name"].value): allocs[0]
        for function, allocs in functions.items()
        if allocs
    }
    for call in walk(module, *_CALLS):
        name = call.attributes["callee"].value if "callee" in call.attributes else None
        alloc = allocating.get((module_of(function_of(call)), name))
        if alloc is not None:
            raise OpError(
                call,
                f"calls @{name}, whose {alloc.operation.name} at {format_location(alloc.location)} needs "
                "shared memory, which only a kernel has; inline the call",
            )


def _place_tiles(
    live_ranges: list[_LiveRange], lowest: int, conflict: Callable[[_LiveRange, _LiveRange], bool]
) -> list[tuple[int, _LiveRange]]:
    """Return the offset of each tile, the largest tile first. Conflicting tiles share no bytes."""
    placed: list[tuple[int, _LiveRange]] = []
    for live in sorted(live_ranges, key=lambda t: -t.size):
        conflicting = [pair for pair in placed if conflict(pair[1], live)]
        placed.append((_fit(live, conflicting, lowest), live))
    return placed


def _end_of_bytes(placed: list[tuple[int, _LiveRange]], lowest: int) -> int:
    return max((offset + live.size for offset, live in placed), default=lowest)


def _barrier_hints(live_ranges: list[_LiveRange], lowest: int, limit: int) -> str:
    """Return which barriers would let the tiles fit; empty if none would."""
    separate = lambda one, other: not (one.is_before(other) or other.is_before(one))  # noqa: E731
    placed = _place_tiles(live_ranges, lowest, separate)
    if _end_of_bytes(placed, lowest) > limit:
        return ""
    lines = ""
    for start, one in placed:
        for begin, other in placed:
            shares = start < begin + other.size and begin < start + one.size
            if shares and one.is_before(other) and one.overlaps(other):
                before, last = _label(other.first_user), _label(one.last_user)
                lines += (
                    f"\n  with {_synchronization(one)} before the {before}, the {_label(other.alloc)} "
                    f"could share bytes of the {_label(one.alloc)}, which the {last} uses last"
                )
    return lines


def _synchronization(live: _LiveRange) -> str:
    """Return the ops that complete the accesses of a tile for all threads, in words."""
    completions = {effects_of(user).completion for user in _users(live.alloc.tile)}
    waits = [
        f"{op.OPERATION_NAME} with pending = 0 and "
        for op, completion in _WAITS.items()
        if completion in completions
    ]
    return f"{''.join(waits)}gpu.barrier"


def _label(op: Op | None) -> str:
    assert op is not None
    return f"{op.operation.name} at {format_location(op.location)}"


def _fit(live: _LiveRange, placed: list[tuple[int, _LiveRange]], lowest: int) -> int:
    """Return the lowest aligned offset at which a tile overlaps no placed tile."""
    offset = _align(lowest, live.alignment)
    for start, other in sorted(placed, key=lambda p: p[0]):
        if offset + live.size <= start:
            break
        offset = max(offset, _align(start + other.size, live.alignment))
    return offset


def _align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class _Timeline:
    """The ops of a function's only block; for each, the next op at which its accesses are complete."""

    def __init__(self, block: Block) -> None:
        self.block = block
        ops = [op.operation for op in block.operations]
        self.end = len(ops)
        self._label = {op: i for i, op in enumerate(ops)}
        self._barrier = self._next(ops, is_cta_barrier)
        self._waits = {
            completion: self._next(
                ops, lambda op, completion=completion: _waits_for_all(op.opview, completion)
            )
            for completion in (Completion.WGMMA_GROUP, Completion.CP_ASYNC_GROUP)
        }

    def _next(self, ops: list[Op], wanted: Callable[[Op], bool]) -> list[int]:
        """Return for each op the position of the next wanted op after it; the end if there is none."""
        positions, upcoming = [self.end] * (self.end + 1), self.end
        for i in range(self.end - 1, -1, -1):
            positions[i] = upcoming
            if wanted(ops[i]):
                upcoming = i
        return positions

    def op(self, position: int) -> Op:
        """Return the op of the block at a position."""
        return self.block.operations[position].operation

    def begin(self, user: Op) -> int:
        """Return the position of the op of the block that contains an access."""
        operation = user.operation
        while operation.block != self.block:
            operation = operation.parent.operation
        return self._label[operation]

    def end_of(self, user: Op) -> int:
        """Return the position of the op at which an access is complete for all threads of the CTA: the
        next barrier after it, or after the wait for it if it is asynchronous."""
        completion = effects_of(user).completion
        by_commit = completion is Completion.CP_ASYNC_GROUP
        position = self._commit_position(user, completion) if by_commit else self.begin(user)
        waits = self._waits.get(completion)
        return self._barrier[waits[position] if waits else position]

    def _commit_position(self, copy: Op, completion: Completion) -> int:
        """Return the position of the op that commits an asynchronous copy to a group."""
        operation = copy.operation
        while True:
            block = operation.block
            ops = [op.operation for op in block.operations]
            after = ops[ops.index(operation) + 1 :]
            commit = next((op for op in after if _commits(op.opview, completion)), None)
            if commit is not None:
                return self.begin(commit)
            if block == self.block:
                return self.end
            operation = operation.parent.operation


def _live_ranges(function: Op, allocs: list[Op]) -> list[_LiveRange]:
    """Return the live range of each tile. In a function of several blocks, all ranges are the whole
    function."""
    blocks = list(function.regions[0].blocks)
    timeline = _Timeline(blocks[0]) if len(blocks) == 1 else None
    live_ranges = []
    for alloc in allocs:
        if not isinstance(alloc, AllocOp):
            # The mbarriers of a pipeline may be used by other CTAs, and until the last thread exits.
            end = timeline.end if timeline else 0
            live_ranges.append(_LiveRange(alloc, _bytes_of(alloc), MBARRIER_BYTES, 0, end))
            continue
        layout = layout_of(alloc.tile.type)
        if layout is None:
            raise OpError(alloc, "has no layout; run smem-assign-layouts before")
        users = _users(alloc.tile)
        bulk = any(effects_of(user).completion in _BULK for user in users)
        remote = any(isinstance(user, LoadOp) and user.rank is not None for user in users)
        alignment = least_alignment(layout) if bulk else layout.alignment
        first = last = 0
        first_user = last_user = None
        if timeline and (bulk or remote):
            # Other CTAs may fill or read it, and no op of the block marks the completion of the copies.
            last = timeline.end
        elif timeline:
            first = min(map(timeline.begin, users), default=0)
            last = max(map(timeline.end_of, users), default=0)
            outer = sorted(timeline.begin(user) for user in users)
            first_user, last_user = (timeline.op(outer[i]) if outer else None for i in (0, -1))
        live_ranges.append(
            _LiveRange(alloc, layout.size_bytes, alignment, first, last, first_user, last_user)
        )
    return live_ranges


def _bytes_of(alloc: Op) -> int:
    """Return the bytes of an op that allocates no tile."""
    exchange = exchange_of(alloc) if isinstance(alloc, ReduceOp) else None
    return exchange.shared_bytes(alloc.result.type) if exchange else alloc.shared_bytes


def _users(tile: Value) -> list[Op]:
    """Return the ops that access a tile or a subtile of it."""
    users, tiles = [], [tile]
    while tiles:
        for op in (use.owner for use in tiles.pop().uses):
            if isinstance(op, SubviewOp):
                tiles.append(op.result)
            else:
                users.append(op)
    return users


def _waits_for_all(op: Op, completion: Completion) -> bool:
    return effects_of(op).awaits is completion and op.pending.value == 0


def _commits(op: Op, completion: Completion) -> bool:
    return effects_of(op).commits is completion


_LOAD = "nvgpu.tma.async.load"

#: Ops whose result is a part of a memref with the same layout.
_PARTS = frozenset(
    {
        "memref.assume_alignment",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.subview",
    }
)


def _align_memory(view: ViewOp) -> None:
    """Give the declaration of a view's memory the alignment of the view, in bytes.

    Memory that the function does not declare, such as an argument, is not changed.

    Raises:
        OpError: if the view has no layout, or begins at an offset in that memory with less alignment.
    """
    if layout_of(view.tile.type) is None:
        raise OpError(view, "has no layout; run smem-assign-layouts before")
    memory, alignment, function = memory_of(view.memref), view.alignment, function_of(view)
    declaration = declaration_of(memory, function)
    if declaration is None and not memory.is_dynamic:
        return
    if memory.shift is not None and memory.shift % alignment:
        owner = view.memref.owner.operation
        raise OpError(
            view,
            f"names memory {memory.shift} bytes behind its beginning (by the {owner.name} at "
            f"{format_location(owner.location)}), which is not a multiple of {alignment}; move it to "
            f"{-(-memory.shift // alignment) * alignment}, or promise another alignment",
        )
    if memory.is_dynamic and alignment > DYNAMIC_ALIGNMENT:
        raise OpError(
            view,
            f"promises alignment {alignment}, but dynamic shared memory is aligned to "
            f"{DYNAMIC_ALIGNMENT} bytes",
        )
    if declaration is not None and declaration.alignment % alignment:
        declaration.align(alignment)


def _check_tensor_maps(view: ViewOp) -> None:
    """Check the tensor maps that fill the memref of a view, or parts of it.

    The swizzle and the length of a box's lines are compared: they do not depend on where a box is. If
    other tiles view the same memref, a map may be meant for one of these, and is not checked.

    Raises:
        OpError: if a copy writes lines that the layout does not have.
    """
    views = [use.owner for use in view.memref.uses if isinstance(use.owner, ViewOp)]
    layout = layout_of(view.tile.type)
    if len(views) > 1 or layout is None:
        return
    if len(layout.shape) == 3:
        layout = layout.stage(0).layout
    for load in _loads(view.memref):
        try:
            box, expected_map = tensor_box(layout), tensor_map(layout).nvgpu_type()
        except LayoutError:
            # Whole boxes do not fill the tile, or upstream's type cannot express their map.
            return
        try:
            fields = tensor_map_type(load.operands[2].type)
            line_of_map = fields.tensor.shape[-1] * element_of(fields.tensor.element_type).bits
        except Invalid as error:
            raise OpError(load, str(error)) from None
        line_of_layout = box.shape[box.contiguous] * layout.element.bits
        # The host decides where a single line without a swizzle begins.
        is_one_line = set(fields.tensor.shape[:-1]) == {1} and layout.swizzle is Swizzle.NONE
        if fields.swizzle is not box.swizzle or (line_of_map != line_of_layout and not is_one_line):
            raise OpError(
                load,
                f"fills the {view.OPERATION_NAME} at {format_location(view.location)} with lines of "
                f"{line_of_map // 8} bytes and the swizzle {fields.swizzle}; its layout has lines of "
                f"{line_of_layout // 8} bytes and the swizzle {box.swizzle}: expected {expected_map}",
            )


def _loads(memref: Value) -> Iterator[Op]:
    """Yield the bulk copies to a memref or to parts of it."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name == _LOAD and op.operands[0] == memref:
            yield op
        elif op.name in _PARTS:
            yield from _loads(op.results[0])
