"""Operands' memory: which types a kernel reads and writes, and which memrefs share no memory."""

from __future__ import annotations

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.memrefs import strides_of
from .generic import owner
from .unfit import Unfit

#: Ops whose first result is memory of their first operand.
_VIEWS = (
    *(
        "memref.cast",
        "memref.subview",
        "memref.view",
        "memref.reinterpret_cast",
        "memref.transpose",
    ),
    *("memref.expand_shape", "memref.collapse_shape", "memref.memory_space_cast"),
    *("memref.extract_strided_metadata", "memref.assume_alignment"),
)

#: Ops that allocate new memory.
_ALLOCATIONS = ("memref.alloc", "memref.alloca", "gpu.alloc")

#: Ops that neither read nor write memory that exists before them.
_HARMLESS = (
    *_VIEWS,
    *_ALLOCATIONS,
    *("memref.dim", "memref.get_global", "affine.apply", "affine.min", "affine.max"),
)


def check_array(type_: Type) -> None:
    """Check that a kernel has arrays of a type: tensors without an encoding, and strided memrefs of the
    default memory space.

    Raises:
        Unfit: if it has none.
    """
    if not isinstance(type_, ir.ShapedType):
        raise Unfit(f"has a number of {type_} as an operand; a kernel takes arrays")
    if isinstance(type_, ir.RankedTensorType):
        if type_.encoding is not None:
            raise Unfit(
                f"has an operand of {type_}, whose encoding may say that not all elements are stored"
            )
        return
    memref = ir.MemRefType(type_)
    if memref.memory_space is not None:
        raise Unfit(
            f"has an operand of {type_}, in memory space {memref.memory_space}; a kernel takes the "
            "default one"
        )
    try:
        strides_of(memref)
    except Invalid:
        raise Unfit(f"has an operand of {type_}, whose layout is not strided") from None


def check_no_overlap(inputs: list[Value], output: Value) -> None:
    """Check that an op reads no memory that it writes.

    Arguments of a function are different memory.

    Raises:
        Unfit: if it does, or may.
    """
    for each in inputs:
        for read in _bases(each):
            for written in _bases(output):
                if read == written:
                    raise Unfit("reads the memory that it writes")
                if not (_is_constant(read) or _are_distinct(read, written)):
                    raise Unfit(
                        f"reads {_described(read)} and writes {_described(written)}, which may be the "
                        "same memory"
                    )


def is_harmless(op: Op) -> bool:
    """Whether an op touches no memory that exists before it."""
    return op.name.split(".")[0] in ("arith", "math") or op.name in _HARMLESS


def _bases(memref: Value) -> list[Value]:
    """Return the memrefs of one of which a memref is a view."""
    maker = owner(memref)
    if maker is None:
        return [memref]
    if maker.name in _VIEWS:
        return _bases(maker.operands[0])
    if maker.name == "arith.select":
        return [*_bases(maker.operands[1]), *_bases(maker.operands[2])]
    if maker.name == "scf.if":
        number = list(maker.results).index(memref)
        ends = [list(region.blocks[0].operations)[-1] for region in maker.regions]
        return [base for end in ends for base in _bases(end.operands[number])]
    return [memref]


def _are_distinct(left: Value, right: Value) -> bool:
    """Whether two memrefs that are no views share no memory."""
    if _is_allocation(left) and _is_allocation(right):
        return True
    for memory, other in ((left, right), (right, left)):
        if _is_allocation(memory):
            known = _is_argument(other) or _is_global(other)
            return known or _exists_before(other, owner(memory))
    if _is_global(left) and _is_global(right):
        return _symbol(left) != _symbol(right)
    return _is_argument(left) and _is_argument(right)


def _is_allocation(memref: Value) -> bool:
    maker = owner(memref)
    return maker is not None and maker.name in _ALLOCATIONS


def _is_global(memref: Value) -> bool:
    maker = owner(memref)
    return maker is not None and maker.name == "memref.get_global"


def _is_argument(memref: Value) -> bool:
    """Whether a value is an argument of a function."""
    block = memref.owner
    if not isinstance(block, ir.Block):
        return False
    function = block.owner.operation
    return function.name == "func.func" and function.regions[0].blocks[0] == block


def _exists_before(value: Value, op: Op | None) -> bool:
    """Whether a value is defined in an earlier place of the blocks around an op."""
    maker = owner(value)
    block = value.owner if maker is None else maker.block
    while op is not None and op.block != block:
        op = op.parent.operation if op.parent is not None and op.name != "func.func" else None
    return op is not None and (maker is None or maker.is_before_in_block(op))


def _is_constant(memref: Value) -> bool:
    """Whether a memref is a constant of the module, which nothing writes."""
    op = owner(memref)
    if op is None or op.name != "memref.get_global":
        return False
    while op.name != "builtin.module":
        op = op.parent.operation
    return any(
        each.operation.name == "memref.global"
        and ir.StringAttr(each.attributes["sym_name"]).value == _symbol(memref)
        and "constant" in each.attributes
        for each in op.regions[0].blocks[0].operations
    )


def _symbol(memref: Value) -> str:
    """Return the name of the global that a `memref.get_global` returns."""
    return ir.FlatSymbolRefAttr(memref.owner.operation.attributes["name"]).value


def _described(memref: Value) -> str:
    maker = owner(memref)
    if maker is not None:
        return f"the result of '{maker.name}'"
    return "an argument of the function" if _is_argument(memref) else "an argument of a block"
