"""Addresses in shared memory: where a tile's root begins."""

from typing import Any

from ..dialect.bindings import ir
from ..dialect.caching import cached_in_context
from ..dialect.memrefs import is_dynamic, strides_of
from ..dialect.ops import ViewOp
from . import emit
from .errors import OpError
from .kernel import function_of, module_of
from .view_memory import DYNAMIC_ALIGNMENT, known_alignment, memory_of

#: The symbol of the block's dynamic shared memory.
SYMBOL = "__smem_dynamic"


def allocation_pointer(allocation: Any, offset: int = 0) -> Any:
    """A shared pointer to byte `offset` of an alloc's, a pipeline's, a view's or a tensor memory's bytes.

    Emitted at the insertion point, which the root dominates.

    Raises:
        OpError: if the root is an alloc or a pipeline without an offset of its own.
    """
    if isinstance(allocation, ViewOp):
        return gep(memref_pointer(allocation.memref, 3), offset)
    begin = allocation.offset
    if begin is None:
        raise OpError(allocation, "has no offset in shared memory; run smem-allocate before")
    return gep(_dynamic_memory(allocation), begin + offset)


def assume_alignment(view: ViewOp) -> None:
    """Emits, at the view's place, that its memory begins where its `alignment` promises, if nothing that
    is known says so. It costs no instruction; the emulator checks it."""
    if known_alignment(memory_of(view.memref), function_of(view)) % view.alignment == 0:
        return
    i64 = emit.i64()
    address = emit.value("llvm.ptrtoint", (allocation_pointer(view),), i64)
    low_bits = emit.binary("andi", address, view.alignment - 1)
    holds = emit.compare("eq", low_bits, 0)
    emit.op("llvm.intr.assume", (holds,), op_bundle_sizes=ir.DenseI32ArrayAttr.get([]))


def allocation_alignment(allocation: Any) -> int:
    """What is known of the alignment of an alloc's or view's first byte."""
    return allocation.alignment if isinstance(allocation, ViewOp) else DYNAMIC_ALIGNMENT


def allocation_multiple(allocation: Any) -> int:
    """What the address of an alloc's or view's first byte certainly is a multiple of; the offset of an
    alloc, as its memory begins at a multiple of any alignment."""
    if isinstance(allocation, ViewOp):
        return allocation.alignment
    begin = allocation.offset
    assert begin is not None
    return begin


def gep(base: Any, offset: Any, element: str = "i8") -> Any:
    """`base` advanced by `offset` elements: a number, or an integer value."""
    if isinstance(offset, int) and not _DYNAMIC < offset < -_DYNAMIC:
        # Addresses are numbers modulo 2^64.
        offset = emit.constant((offset + (1 << 63)) % (1 << 64) - (1 << 63), emit.i64())
    static = isinstance(offset, int)
    if static and offset == 0:
        return base
    type_ = base.type
    attributes = _gep_attributes(type_, offset if static else _DYNAMIC, element)
    return emit.value(
        "llvm.getelementptr", (base,) if static else (base, offset), type_, **attributes
    )


#: Stands in `llvm.getelementptr` for an index that is an operand (LLVM dialect, GEPOp).
_DYNAMIC = -(1 << 31)


@cached_in_context
def _gep_attributes(pointer: Any, offset: int, element: str) -> dict[str, Any]:
    context = pointer.context
    return {
        "rawConstantIndices": ir.DenseI32ArrayAttr.get([offset], context),
        "elem_type": ir.TypeAttr.get(ir.Type.parse(element, context)),
    }


@cached_in_context
def memory_type(element: Any) -> str:
    """The LLVM type of a memref's elements."""
    wide_float = isinstance(element, ir.FloatType) and element.width > 8
    return str(element) if wide_float else f"i{element.width}"


def memref_pointer(memref: Any, space: int) -> Any:
    """A pointer to the first element of a memref, its offset included."""
    i64, index = emit.i64(), ir.IndexType.get()
    start = emit.value("memref.extract_aligned_pointer_as_index", (memref,), index)
    address = emit.cast_index(start, i64)
    _, offset = strides_of(memref.type)
    if offset != 0:
        width = _element_bytes(memref.type)
        value = strided_metadata(memref).results[1] if is_dynamic(offset) else None
        if value is None:
            address = emit.binary("addi", address, offset * width)
        else:
            scaled = emit.binary("muli", emit.cast_index(value, i64), width)
            address = emit.binary("addi", address, scaled)
    return emit.value("llvm.inttoptr", (address,), emit.pointer(space))


def strided_metadata(memref: Any) -> Any:
    """`memref.extract_strided_metadata`: base, offset, then sizes and strides."""
    rank = memref.type.rank
    element = memref.type.element_type
    space = memref.type.memory_space
    index = ir.IndexType.get()
    buffer = ir.MemRefType.get([], element, memory_space=space)
    return emit.op(
        "memref.extract_strided_metadata", (memref,), [buffer, *[index] * (1 + 2 * rank)]
    )


def stride_value(memref: Any, dim: int, type_: Any) -> Any:
    """The stride of a memref's dimension, in elements: a number, or a value of `type_`."""
    strides, _ = strides_of(memref.type)
    if not is_dynamic(strides[dim]):
        return strides[dim]
    value = strided_metadata(memref).results[2 + memref.type.rank + dim]
    return emit.cast_index(value, type_)


def _element_bytes(memref: Any) -> int:
    return int(memref.element_type.width) // 8


#: What declares it.
_DECLARATION = (
    f"llvm.mlir.global external @{SYMBOL}() "
    f"{{addr_space = 3 : i32, alignment = {DYNAMIC_ALIGNMENT} : i64}} : !llvm.array<0 x i8>"
)


def _address_space(declaration: Any) -> int:
    attributes = declaration.attributes
    return attributes["addr_space"].value if "addr_space" in attributes else 0


def _dynamic_memory(op: Any) -> Any:
    """The address of the kernel's dynamic shared memory; its symbol is made when first needed.

    Raises:
        OpError: if the module has something else of that name.
    """
    module = module_of(function_of(op))
    body = module.regions[0].blocks[0]
    named = (other for other in body.operations if "sym_name" in other.attributes)
    found = next(
        (o for o in named if ir.StringAttr(o.attributes["sym_name"]).value == SYMBOL), None
    )
    if found is None:
        ir.InsertionPoint.at_block_begin(body).insert(ir.Operation.parse(_DECLARATION))
    elif found.operation.name != "llvm.mlir.global" or _address_space(found) != 3:
        raise OpError(
            found, f"has the name of a kernel's dynamic shared memory; expected {_DECLARATION}"
        )
    symbol = ir.FlatSymbolRefAttr.get(SYMBOL)
    return emit.value("llvm.mlir.addressof", (), emit.pointer(3), global_name=symbol)
