"""The memory that an `smem.view` shows: where it begins, and what its alignment is known to be."""

from math import gcd
from typing import Any, NamedTuple

from ..dialect.bindings import ir
from ..dialect.build import i64
from ..dialect.divisibility import constant_of
from ..layout.elements import WINDOW_BYTES
from .errors import OpError
from .kernel import module_of

#: What dynamic shared memory is aligned to: the widest swizzle pattern. The symbol of the tiles says so,
#: and code generation says it of upstream's.
DYNAMIC_ALIGNMENT = 1024

#: What upstream's lowering aligns `gpu.dynamic_shared_memory` to.
_UPSTREAM_ALIGNMENT = 16

#: The attribute by which upstream's lowering aligns a kernel's workgroup buffer, and a variable.
_BUFFER_ALIGNMENT, _VARIABLE_ALIGNMENT = "llvm.align", "alignment"


class Memory(NamedTuple):
    """What a memref shows.

    Attributes:
        base: the memref of the whole memory.
        shift: bytes from its beginning; None if not known.
    """

    base: Any
    shift: int | None

    @property
    def op(self) -> Any:
        """The op that gives the memory; None for an argument."""
        return None if isinstance(self.base.owner, ir.Block) else self.base.owner.operation

    @property
    def is_dynamic(self) -> bool:
        """Whether it is the block's dynamic shared memory."""
        return self.op is not None and self.op.name == "gpu.dynamic_shared_memory"


def memory_of(memref: Any) -> Memory:
    """The memory that a memref shows, as far as views and casts lead to it."""
    shift: int | None = 0
    while not isinstance(memref.owner, ir.Block):
        op = memref.owner.operation
        if op.name == "memref.view":
            by = constant_of(op.operands[1])
            shift = None if shift is None or by is None else shift + by
        elif op.name != "memref.cast":
            break
        memref = op.operands[0]
    return Memory(memref, shift)


def declaration_of(memory: Memory, function: Any) -> Any:
    """What declares a memory, and can be told its alignment: a workgroup buffer of the kernel, a variable
    of the module, or an op that allocates; None if nothing here does."""
    op = memory.op
    if op is None:
        buffers = list(_buffers(function))
        return next((Buffer(function, i) for i, b in enumerate(buffers) if b == memory.base), None)
    if op.name in ("memref.alloc", "memref.alloca"):
        return Variable(op)
    if op.name != "memref.get_global":
        return None
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    variables = module_of(function).regions[0].blocks[0].operations
    found = (v.operation for v in variables if v.operation.name == "memref.global")
    return next((Variable(v) for v in found if _symbol(v) == name), None)


class Variable(NamedTuple):
    """A `memref.global`, or an op that allocates."""

    op: Any

    @property
    def alignment(self) -> int:
        """Its alignment in bytes; 1 if it says nothing."""
        given = self.op.attributes
        return given[_VARIABLE_ALIGNMENT].value if _VARIABLE_ALIGNMENT in given else 1

    def align(self, alignment: int) -> None:
        """Sets its alignment, in bytes."""
        self.op.attributes[_VARIABLE_ALIGNMENT] = i64(alignment)


class Buffer(NamedTuple):
    """A workgroup buffer of a `gpu.func`, by its number."""

    function: Any
    number: int

    @property
    def alignment(self) -> int:
        """Its alignment in bytes; 1 if it says nothing.

        Raises:
            OpError: if what it says is no power of two that shared memory has.
        """
        own = self._all()[self.number]
        if _BUFFER_ALIGNMENT not in own:
            return 1
        given = own[_BUFFER_ALIGNMENT].maybe_downcast()
        value = given.value if isinstance(given, ir.IntegerAttr) else 0
        if not 1 <= value <= WINDOW_BYTES or value & (value - 1):
            raise OpError(
                self.function,
                f"has a workgroup buffer with {_BUFFER_ALIGNMENT} = {given}; expected a power of two "
                f"from 1 to {WINDOW_BYTES}",
            )
        return value

    def align(self, alignment: int) -> None:
        """Sets its alignment, in bytes."""
        attributes = self._all()
        own = attributes[self.number]
        # To ask an entry of the dictionary itself ends the process on attributes without a class.
        kept = {each.name: own[each.name] for each in own}
        attributes[self.number] = ir.DictAttr.get({**kept, _BUFFER_ALIGNMENT: i64(alignment)})
        self.function.attributes["workgroup_attrib_attrs"] = ir.ArrayAttr.get(attributes)

    def _all(self) -> list[Any]:
        given = self.function.attributes
        if "workgroup_attrib_attrs" in given:
            return list(given["workgroup_attrib_attrs"])
        return [ir.DictAttr.get()] * len(_buffers(self.function))


def known_alignment(memory: Memory, function: Any) -> int:
    """What the address of the first byte of a memory is certainly a multiple of."""
    if memory.shift is None:
        return 1
    declared = declaration_of(memory, function)
    alignment = _UPSTREAM_ALIGNMENT if memory.is_dynamic else declared.alignment if declared else 1
    return gcd(alignment, memory.shift) if memory.shift else alignment


def buffer_bytes(function: Any, size_of: Any) -> int:
    """Bytes of the workgroup buffers that a `gpu.func` declares, each at a multiple of its alignment.

    Args:
        function: the function.
        size_of: gives the bytes of a memref's type.
    """
    end = 0
    for number, buffer in enumerate(_buffers(function)):
        alignment = Buffer(function, number).alignment
        end = -(-end // alignment) * alignment + size_of(buffer.type)
    return end


def _buffers(function: Any) -> list[Any]:
    """The arguments of a `gpu.func` that are its workgroup buffers."""
    if "workgroup_attributions" not in function.attributes:
        return []
    count = ir.IntegerAttr(function.attributes["workgroup_attributions"]).value
    inputs = len(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    return list(function.regions[0].blocks[0].arguments)[inputs : inputs + count]


def _symbol(op: Any) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value
