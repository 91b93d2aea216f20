"""Addresses in shared memory: pointers to allocations and memrefs."""

from ..bindings.irtypes import Attribute, Op, Type, Value
from ..bindings.mlir import ir
from ..dialect.caching import cached_in_context
from ..dialect.memrefs import is_dynamic, strides_of
from ..dialect.ops import ViewOp
from . import emit
from .errors import OpError
from .kernel import function_of, module_of
from .view_memory import DYNAMIC_ALIGNMENT, known_alignment, memory_of

#: The symbol of dynamic shared memory.
SYMBOL = "__smem_dynamic"


def allocation_pointer(allocation: Op, offset: int = 0) -> Value:
    """Emit a shared pointer to byte `offset` of an alloc, a view, a pipeline or a tensor memory op.

    The allocation must dominate the insertion point.

    Raises:
        OpError: if an op other than a view has no `offset` attribute.
    """
    if isinstance(allocation, ViewOp):
        return gep(memref_pointer(allocation.memref, 3), offset)
    begin = allocation.offset
    if begin is None:
        raise OpError(allocation, "has no offset in shared memory; run smem-allocate before")
    return gep(_dynamic_memory(allocation), begin + offset)


def assume_alignment(view: ViewOp) -> None:
    """Emit an `llvm.intr.assume` of a view's asserted `alignment`, unless the alignment is known.

    It costs no instruction; the emulator checks it.
    """
    if known_alignment(memory_of(view.memref), function_of(view)) % view.alignment == 0:
        return
    i64 = emit.i64()
    address = emit.value("llvm.ptrtoint", (allocation_pointer(view),), i64)
    low_bits = emit.binary("andi", address, view.alignment - 1)
    holds = emit.compare("eq", low_bits, 0)
    emit.op("llvm.intr.assume", (holds,), op_bundle_sizes=ir.DenseI32ArrayAttr.get([]))


def allocation_alignment(allocation: Op) -> int:
    """Return the alignment of a view's memory, or of the dynamic shared memory that an alloc is in, in
    bytes."""
    return allocation.alignment if isinstance(allocation, ViewOp) else DYNAMIC_ALIGNMENT


def allocation_multiple(allocation: Op) -> int:
    """Return a number that divides the address of an alloc's or view's first byte.

    For an alloc, it is the offset: dynamic shared memory begins at a multiple of every alignment.
    """
    if isinstance(allocation, ViewOp):
        return allocation.alignment
    begin = allocation.offset
    assert begin is not None
    return begin


def gep(base: Value, offset: Value | int, element: str = "i8") -> Value:
    """Emit a pointer `offset` elements after `base`; `offset` is a number or an integer value."""
    if isinstance(offset, int) and not _DYNAMIC < offset < -_DYNAMIC:
        # Addresses are modulo 2^64.
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
def _gep_attributes(pointer: Type, offset: int, element: str) -> dict[str, Attribute]:
    context = pointer.context
    return {
        "rawConstantIndices": ir.DenseI32ArrayAttr.get([offset], context),
        "elem_type": ir.TypeAttr.get(ir.Type.parse(element, context)),
    }


@cached_in_context
def memory_type(element: Type) -> str:
    """Return the LLVM type of a memref's elements."""
    wide_float = isinstance(element, ir.FloatType) and element.width > 8
    return str(element) if wide_float else f"i{element.width}"


def memref_pointer(memref: Value, space: int) -> Value:
    """Emit a pointer to the first element of a memref, its offset included."""
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


def strided_metadata(memref: Value) -> Op:
    """Emit `memref.extract_strided_metadata`; its results are base, offset, sizes and strides."""
    rank = memref.type.rank
    element = memref.type.element_type
    space = memref.type.memory_space
    index = ir.IndexType.get()
    buffer = ir.MemRefType.get([], element, memory_space=space)
    return emit.op(
        "memref.extract_strided_metadata", (memref,), [buffer, *[index] * (1 + 2 * rank)]
    )


def stride_value(memref: Value, dim: int, type_: Type) -> Value | int:
    """Return the stride of a memref's dimension, in elements: a number, or a value of `type_`."""
    strides, _ = strides_of(memref.type)
    if not is_dynamic(strides[dim]):
        return strides[dim]
    value = strided_metadata(memref).results[2 + memref.type.rank + dim]
    return emit.cast_index(value, type_)


def _element_bytes(memref: Type) -> int:
    return int(memref.element_type.width) // 8


#: The declaration of `SYMBOL`.
_DECLARATION = (
    f"llvm.mlir.global external @{SYMBOL}() "
    f"{{addr_space = 3 : i32, alignment = {DYNAMIC_ALIGNMENT} : i64}} : !llvm.array<0 x i8>"
)


def _address_space(declaration: Op) -> int:
    attributes = declaration.attributes
    return attributes["addr_space"].value if "addr_space" in attributes else 0


def _dynamic_memory(op: Op) -> Value:
    """Emit the address of dynamic shared memory; the symbol is created at its first use.

    Raises:
        OpError: if the module has another symbol of that name.
    """
    module = module_of(function_of(op))
    body = module.regions[0].blocks[0]
    symbols = (op for op in body.operations if "sym_name" in op.attributes)
    symbol_op = next(
        (o for o in symbols if ir.StringAttr(o.attributes["sym_name"]).value == SYMBOL), None
    )
    if symbol_op is None:
        declaration = ir.Operation.parse(f"{_DECLARATION} {module.location}")
        ir.InsertionPoint.at_block_begin(body).insert(declaration)
    elif symbol_op.operation.name != "llvm.mlir.global" or _address_space(symbol_op) != 3:
        raise OpError(
            symbol_op, f"has the name of a kernel's dynamic shared memory; expected {_DECLARATION}"
        )
    symbol = ir.FlatSymbolRefAttr.get(SYMBOL)
    return emit.value("llvm.mlir.addressof", (), emit.pointer(3), global_name=symbol)
