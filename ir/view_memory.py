"""The memory of an `smem.view`: where it begins, and its known alignment."""

from math import gcd, prod
from typing import NamedTuple

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Attribute, Op, Type, Value
from ..bindings.mlir import ir
from ..dialect.build import i64
from ..dialect.divisibility import constant_of
from ..layout.elements import WINDOW_BYTES
from .errors import OpError
from .kernel import module_of

#: Alignment of dynamic shared memory in bytes: the largest swizzle pattern. The symbol of dynamic shared
#: memory has it, and code generation sets it on upstream's symbol.
DYNAMIC_ALIGNMENT = 1024

#: Alignment of `gpu.dynamic_shared_memory` after upstream's lowering, in bytes.
_UPSTREAM_ALIGNMENT = 16

#: Alignment attributes in upstream's lowering: of a kernel's workgroup buffer, and of a variable.
_BUFFER_ALIGNMENT, _VARIABLE_ALIGNMENT = "llvm.align", "alignment"


class Memory(NamedTuple):
    """The memory of a memref.

    Attributes:
        base: the memref of the whole memory.
        shift: bytes from its beginning to the memref; None if not known.
    """

    base: Value
    shift: int | None

    @property
    def op(self) -> Op | None:
        """The op that defines the memory; None for an argument."""
        return None if isinstance(self.base.owner, ir.Block) else self.base.owner.operation

    @property
    def is_dynamic(self) -> bool:
        """Whether it is dynamic shared memory."""
        return self.op is not None and self.op.name == "gpu.dynamic_shared_memory"


def memory_of(memref: Value) -> Memory:
    """Return the memory of a memref, through `memref.view` and `memref.cast`."""
    shift: int | None = 0
    while not isinstance(memref.owner, ir.Block):
        op = memref.owner.operation
        if op.name == "memref.view":
            offset = constant_of(op.operands[1])
            shift = None if shift is None or offset is None else shift + offset
        elif op.name != "memref.cast":
            break
        memref = op.operands[0]
    return Memory(memref, shift)


def declaration_of(memory: Memory, function: Op) -> "Variable | WorkgroupAttribution | None":
    """Return the declaration of a memory, whose alignment can be set.

    It is a workgroup buffer of the kernel, a variable of the module, or an op that allocates; None if the
    module declares none.
    """
    op = memory.op
    if op is None:
        numbers = (i for i, buffer in enumerate(_buffers(function)) if buffer == memory.base)
        return next((WorkgroupAttribution(function, i) for i in numbers), None)
    if op.name in ("memref.alloc", "memref.alloca"):
        return Variable(op)
    if op.name != "memref.get_global":
        return None
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    variables = module_of(function).regions[0].blocks[0].operations
    globals_ = (op.operation for op in variables if op.operation.name == "memref.global")
    return next((Variable(op) for op in globals_ if _symbol(op) == name), None)


class Variable(NamedTuple):
    """A `memref.global`, or an op that allocates."""

    op: Op

    @property
    def alignment(self) -> int:
        """The alignment in bytes; 1 without the attribute."""
        attributes = self.op.attributes
        return attributes[_VARIABLE_ALIGNMENT].value if _VARIABLE_ALIGNMENT in attributes else 1

    def align(self, alignment: int) -> None:
        """Set the alignment, in bytes."""
        self.op.attributes[_VARIABLE_ALIGNMENT] = i64(alignment)


class WorkgroupAttribution(NamedTuple):
    """A workgroup attribution (buffer) of a `gpu.func`, by its number."""

    function: Op
    number: int

    @property
    def alignment(self) -> int:
        """The alignment in bytes; 1 without the attribute.

        Raises:
            OpError: if the attribute is not a power of two within the size of shared memory.
        """
        attributes = self._all()[self.number]
        if _BUFFER_ALIGNMENT not in attributes:
            return 1
        attribute = attributes[_BUFFER_ALIGNMENT].maybe_downcast()
        alignment = attribute.value if isinstance(attribute, ir.IntegerAttr) else 0
        if not 1 <= alignment <= WINDOW_BYTES or alignment & (alignment - 1):
            raise OpError(
                self.function,
                f"has a workgroup buffer with {_BUFFER_ALIGNMENT} = {attribute}; expected a power of two "
                f"from 1 to {WINDOW_BYTES}",
            )
        return alignment

    def align(self, alignment: int) -> None:
        """Set the alignment, in bytes."""
        attributes = self._all()
        buffer_attributes = attributes[self.number]
        # Reading `named.attr` ends the process for attributes without a Python class.
        entries = {named.name: buffer_attributes[named.name] for named in buffer_attributes}
        entries[_BUFFER_ALIGNMENT] = i64(alignment)
        attributes[self.number] = ir.DictAttr.get(entries)
        self.function.attributes["workgroup_attrib_attrs"] = ir.ArrayAttr.get(attributes)

    def _all(self) -> list[Attribute]:
        attributes = self.function.attributes
        if "workgroup_attrib_attrs" in attributes:
            return list(attributes["workgroup_attrib_attrs"])
        return [ir.DictAttr.get()] * len(_buffers(self.function))


def known_alignment(memory: Memory, function: Op) -> int:
    """Return a number that is known to divide the address of a memref's first byte."""
    if memory.shift is None:
        return 1
    declaration = declaration_of(memory, function)
    alignment = (
        _UPSTREAM_ALIGNMENT if memory.is_dynamic else declaration.alignment if declaration else 1
    )
    return gcd(alignment, memory.shift) if memory.shift else alignment


def buffer_bytes(function: Op) -> int:
    """Return the total bytes of the workgroup buffers of a `gpu.func`, each at a multiple of its
    alignment.

    Raises:
        Invalid: if the size of the elements is not known.
    """
    end = 0
    for number, buffer in enumerate(_buffers(function)):
        alignment = WorkgroupAttribution(function, number).alignment
        end = -(-end // alignment) * alignment + memref_bytes(buffer.type)
    return end


def memref_bytes(memref: Type) -> int:
    """Return the bytes of a memref of static shape and any element type, without padding for the
    alignment of vectors.

    Raises:
        Invalid: if the size of the elements is not known.
    """
    return prod(memref.shape) * -(-_bits(memref.element_type) // 8)


def _bits(type_: Type) -> int:
    if isinstance(type_, ir.VectorType):
        return prod(type_.shape) * _bits(type_.element_type)
    if isinstance(type_, ir.ComplexType):
        return 2 * _bits(type_.element_type)
    if isinstance(type_, ir.IndexType):
        return 64
    if not isinstance(type_, ir.IntegerType | ir.FloatType):
        raise Invalid(
            f"declares workgroup memory of {type_}; expected integers, floats, or vectors of them"
        )
    return type_.width


def _buffers(function: Op) -> list[Value]:
    """The arguments of a `gpu.func` that are its workgroup buffers."""
    if "workgroup_attributions" not in function.attributes:
        return []
    count = ir.IntegerAttr(function.attributes["workgroup_attributions"]).value
    inputs = len(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    return list(function.regions[0].blocks[0].arguments)[inputs : inputs + count]


def _symbol(op: Op) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value
