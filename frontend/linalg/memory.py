"""Operands' memory: which types a kernel reads and writes, and which memrefs share no memory."""

from __future__ import annotations

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.memrefs import strides_of
from .generic import owner
from .unsupported import Unsupported

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
    """Check that a type is a tensor without an encoding, or a strided memref of the default memory space.

    Raises:
        Unsupported: for any other type.
    """
    if not isinstance(type_, ir.ShapedType):
        raise Unsupported(f"has a number of {type_} as an operand; a kernel takes arrays")
    if isinstance(type_, ir.RankedTensorType):
        if type_.encoding is not None:
            raise Unsupported(
                f"has an operand of {type_}, whose encoding may say that not all elements are stored"
            )
        return
    memref = ir.MemRefType(type_)
    if memref.memory_space is not None:
        raise Unsupported(
            f"has an operand of {type_}, in memory space {memref.memory_space}; a kernel takes the "
            "default one"
        )
    try:
        strides_of(memref)
    except Invalid:
        raise Unsupported(f"has an operand of {type_}, whose layout is not strided") from None


def check_no_overlap(inputs: list[Value], output: Value) -> None:
    """Check that an op reads no memory that it writes; arguments of a function are different memory.

    Raises:
        Unsupported: if it may read what it writes.
    """
    for input_ in inputs:
        for read in _bases(input_):
            for written in _bases(output):
                if read == written:
                    raise Unsupported("reads the memory that it writes")
                if not (_is_constant(read) or _are_distinct(read, written)):
                    raise Unsupported(
                        f"reads {_describe(read)} and writes {_describe(written)}, which may be the "
                        "same memory"
                    )


def is_harmless(op: Op) -> bool:
    """Whether an op touches no memory that exists before it."""
    return op.name.split(".")[0] in ("arith", "math") or op.name in _HARMLESS


def _bases(memref: Value) -> list[Value]:
    """Return the memrefs of which a memref may be a view: several for a select or `scf.if`."""
    op = owner(memref)
    if op is None:
        return [memref]
    if op.name in _VIEWS:
        return _bases(op.operands[0])
    if op.name == "arith.select":
        return [*_bases(op.operands[1]), *_bases(op.operands[2])]
    if op.name == "scf.if":
        number = list(op.results).index(memref)
        ends = [list(region.blocks[0].operations)[-1] for region in op.regions]
        return [base for end in ends for base in _bases(end.operands[number])]
    return [memref]


def _are_distinct(left: Value, right: Value) -> bool:
    """Whether two memrefs that are no views share no memory."""
    if _is_allocation(left) and _is_allocation(right):
        return True
    for memory, candidate in ((left, right), (right, left)):
        if _is_allocation(memory):
            is_old = _is_argument(candidate) or _is_global(candidate)
            return is_old or _exists_before(candidate, owner(memory))
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
    """Whether a value is defined before an op, in a block around it."""
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
        module_op.operation.name == "memref.global"
        and ir.StringAttr(module_op.attributes["sym_name"]).value == _symbol(memref)
        and "constant" in module_op.attributes
        for module_op in op.regions[0].blocks[0].operations
    )


def _symbol(memref: Value) -> str:
    """Return the name of the global that a `memref.get_global` returns."""
    return ir.FlatSymbolRefAttr(memref.owner.operation.attributes["name"]).value


def _describe(memref: Value) -> str:
    maker = owner(memref)
    if maker is not None:
        return f"the result of '{maker.name}'"
    return "an argument of the function" if _is_argument(memref) else "an argument of a block"
