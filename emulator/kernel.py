"""A decoded kernel: instructions over numbered values, each with the function that executes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..bindings.mlir import ir
from .errors import EmulationError
from .registry import Executor, executor, load_ops
from .types import space_of

#: The attribute of a tensor map argument.
TENSOR_MAP = "smem.tensor_map"


@dataclass(eq=False)
class DecodedBlock:
    """A basic block.

    Attributes:
        arguments: numbers of its arguments, which the branch to it sets.
        instructions: its ops.
        successors: the targets of its terminator.
    """

    arguments: list[int]
    instructions: list[ExecutableOp] = field(default_factory=list)
    successors: list[DecodedBlock] = field(default_factory=list)


@dataclass(eq=False)
class DecodedRegion:
    """A region; its first block is the entry.

    Attributes:
        blocks: in textual order.
        waits: whether threads may have to wait for others within it.
    """

    blocks: list[DecodedBlock]
    waits: bool = False

    @property
    def entry(self) -> DecodedBlock:
        """The entry block."""
        return self.blocks[0]


@dataclass(eq=False)
class ExecutableOp:
    """An op.

    Attributes:
        number: its position in the kernel; indexes `DecodedKernel.locations`.
        name: of the op.
        location: in the source.
        operands, results: numbers of its values.
        executor: its entry in the registry.
        step: executes it; see `registry.Executor`.
        waits: whether threads may have to wait for others at it.
        collective: whether the threads of a warpgroup execute it together.
        raw, controls: as of the executor.
        plain: whether it computes one result from operands, and nothing else.
    """

    number: int
    name: str
    location: Any
    operands: tuple[int, ...]
    results: tuple[int, ...]
    executor: Executor
    step: Callable[..., Any]
    waits: bool
    collective: bool
    raw: bool
    controls: bool = field(init=False)
    plain: bool = field(init=False)

    def __post_init__(self) -> None:
        self.controls = self.executor.controls
        self.plain = not self.raw and not self.collective and len(self.results) == 1


class Op:
    """An op, as it is passed to the functions of the registry while the program is decoded."""

    def __init__(
        self, decoder: Decoder, op: Any, entry: Executor, blocks: dict[Any, DecodedBlock]
    ) -> None:
        self._decoder = decoder
        # No op view: its properties are slower, since they belong to the op's class in Python.
        self._op = op
        self.name: str = op.name
        self.location = op.location
        self.operands = list(op.operands)
        self.operand_numbers = tuple(map(decoder.number_of, self.operands))
        self.regions = [decoder.region(region) for region in op.regions if len(region.blocks)]
        self.successors = [blocks[block] for block in op.successors] if entry.controls else []
        self.results = list(op.results)
        self.result_numbers = tuple(map(decoder.number_of, self.results))
        self.symbols = decoder.symbols
        #: Those of the executor; a registered function may set them for this op.
        self.waits = entry.waits or any(region.waits for region in self.regions)
        self.collective, self.raw = entry.collective, entry.raw

    @cached_property
    def operand_types(self) -> list[Any]:
        """The types of its operands."""
        return [operand.type for operand in self.operands]

    @cached_property
    def space(self) -> int:
        """The state space of its first operand, a pointer."""
        return space_of(str(self.operand_types[0]))

    @cached_property
    def result_types(self) -> list[Any]:
        """The types of its results."""
        return [result.type for result in self.results]

    def has(self, name: str) -> bool:
        """Whether the op has an attribute."""
        return name in self._op.attributes

    def attribute(self, name: str) -> Any:
        """Return an attribute."""
        return self._op.attributes[name].maybe_downcast()

    def number(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute."""
        if default is not None and not self.has(name):
            return default
        return ir.IntegerAttr(self._op.attributes[name]).value

    def text(self, name: str, default: str = "") -> str:
        """Return the text of an attribute."""
        return str(self._op.attributes[name]) if self.has(name) else default

    def string(self, name: str) -> str:
        """Return a string attribute."""
        return ir.StringAttr(self._op.attributes[name]).value

    def numbers(self, name: str) -> list[int]:
        """Return a dense array of integers."""
        return list(self.attribute(name))

    def definition_of_operand(self, position: int) -> tuple[str, tuple[int, ...]]:
        """Return the name and the operands of the op that defines an operand; of a block argument, an
        empty name and none."""
        owner = self.operands[position].owner
        if isinstance(owner, ir.Block):
            return "", ()
        operands = owner.operation.operands
        return owner.operation.name, tuple(map(self._decoder.number_of, operands))

    def is_last_use(self, position: int) -> bool:
        """Whether this op alone uses an operand that an op of the same name in the same block defines;
        it may then overwrite the operand's array."""
        value = self.operands[position]
        if isinstance(value.owner, ir.Block):
            return False
        definition = value.owner.operation
        return (
            definition.name == self.name
            and definition.block == self._op.block
            and len(list(value.uses)) == 1
        )

    def new_value(self) -> int:
        """Return the number of a new value that no SSA value has: state of the op for each thread."""
        return self._decoder.new_number()

    def check_agrees(self, property_name: str, value: str) -> None:
        """Check that all ops of the kernel have the same value of a property.

        Args:
            property_name: the property, for messages.
            value: its value for this op.

        Raises:
            EmulationError: if an earlier op has another value.
        """
        first = self._decoder.agreed.setdefault(property_name, value)
        if first != value:
            raise self.refuse(
                f"is of {property_name} {value}, but an op before it is of {first}; all must agree"
            )

    def refuse(self, message: str) -> EmulationError:
        """Return an error at this op."""
        return EmulationError(f"'{self.name}' {message}", self.location)


@dataclass(frozen=True)
class DeclaredBuffer:
    """A workgroup buffer that a kernel declares.

    Attributes:
        type: a memref.
        alignment: of its first byte; None for the natural alignment.
    """

    type: Any
    alignment: int | None


@dataclass
class DecodedKernel:
    """A decoded kernel.

    Attributes:
        name: the kernel's.
        body: its region; the entry block's arguments are the kernel's, then its workgroup buffers.
        values: number of values.
        locations: the source location of each instruction.
        inputs: types of its arguments, without tensor maps, which come after all others.
        tensor_maps: the attribute of each tensor map argument, by its position.
        cluster: CTAs of a cluster along x, y, z.
        buffers: the workgroup buffers that it declares.
        symbols: ops of the module by symbol name.
        tracks: whether it has ops whose completion is observed at an mbarrier, other than copies with
            tensor maps.
    """

    name: str
    body: DecodedRegion
    values: int
    locations: list[Any]
    inputs: list[Any]
    tensor_maps: dict[int, Any]
    cluster: tuple[int, int, int]
    buffers: list[DeclaredBuffer]
    symbols: dict[str, Any]
    tracks: bool


class Decoder:
    """Numbers the values of a kernel, and decodes its ops."""

    def __init__(self, symbols: dict[str, Any]) -> None:
        self.symbols = symbols
        self.locations: list[Any] = []
        self.tracks = False
        self.agreed: dict[str, str] = {}
        self._numbers: dict[Any, int] = {}
        self._count = 0

    def new_number(self) -> int:
        """Return a number that no other value has."""
        self._count += 1
        return self._count - 1

    @property
    def count(self) -> int:
        """Number of values."""
        return self._count

    def region(self, region: Any) -> DecodedRegion:
        """Decode a region."""
        decoded = {
            block: DecodedBlock([self.number_of(argument) for argument in block.arguments])
            for block in list(region.blocks)
        }
        waits = False
        for source, block in decoded.items():
            for op in source.operations:
                instruction = self._instruction(op.operation, decoded)
                block.instructions.append(instruction)
                waits |= instruction.waits
            block.successors = [decoded[s] for s in source.successors]
        return DecodedRegion(list(decoded.values()), waits)

    def number_of(self, value: Any) -> int:
        """Return the number of an SSA value; a use may come before its definition in textual order."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self.new_number()
        return number

    def _instruction(self, op: Any, blocks: dict[Any, DecodedBlock]) -> ExecutableOp:
        entry = executor(op)
        position = len(self.locations)
        self.locations.append(op.location)
        self.tracks |= entry.tracked
        decoded = Op(self, op, entry, blocks)
        step = entry.make(decoded)
        return ExecutableOp(
            position,
            decoded.name,
            decoded.location,
            decoded.operand_numbers,
            decoded.result_numbers,
            entry,
            step,
            decoded.waits,
            decoded.collective,
            decoded.raw,
        )


def decode_kernel(module: Any, name: str) -> DecodedKernel:
    """Decode a kernel of a module after `smem-to-nvvm`.

    Args:
        module: a `builtin.module` that holds a `gpu.module`.
        name: the kernel's symbol.

    Raises:
        EmulationError: if there is no such kernel, or it has an op that the emulator does not support.
    """
    load_ops()
    for gpu_module in module.body.operations:
        if gpu_module.operation.name != "gpu.module":
            continue
        ops = list(gpu_module.regions[0].blocks[0].operations)
        symbols = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in ops
            if "sym_name" in op.attributes
        }
        if name in symbols and symbols[name].operation.name == "gpu.func":
            return _decode_function(symbols[name], name, symbols)
    raise EmulationError(f"the module holds no gpu.func '{name}'")


def _decode_function(function: Any, name: str, symbols: dict[str, Any]) -> DecodedKernel:
    decoder = Decoder(symbols)
    body = decoder.region(function.regions[0])
    inputs = list(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    arguments = list(function.regions[0].blocks[0].arguments)
    buffers = _buffers(function, arguments[len(inputs) :])
    maps = _tensor_maps(function)
    count = len(inputs) - len(maps)
    if list(maps) != list(range(count, len(inputs))):
        raise EmulationError(
            f"{name} has tensor maps at {list(maps)} of its {len(inputs)} arguments; expected them "
            "after all others"
        )
    return DecodedKernel(
        name,
        body,
        decoder.count,
        decoder.locations,
        inputs[:count],
        maps,
        _cluster(function),
        buffers,
        symbols,
        decoder.tracks,
    )


def _buffers(function: Any, arguments: list[Any]) -> list[DeclaredBuffer]:
    """Return the workgroup buffers of a kernel.

    Raises:
        EmulationError: if it also has private buffers.
    """
    attributes = function.attributes
    name = "workgroup_attributions"
    count = ir.IntegerAttr(attributes[name]).value if name in attributes else 0
    if len(arguments) > count:
        raise EmulationError(
            f"has {len(arguments) - count} private buffers, which the emulator does not know; use "
            "memref.alloca",
            function.location,
        )
    key = "workgroup_attrib_attrs"
    dictionaries = list(attributes[key]) if key in attributes else []
    dictionaries += [{}] * (count - len(dictionaries))
    alignments = [d["llvm.align"].value if "llvm.align" in d else None for d in dictionaries]
    return [
        DeclaredBuffer(argument.type, alignment)
        for argument, alignment in zip(arguments, alignments, strict=True)
    ]


def _tensor_maps(function: Any) -> dict[int, Any]:
    if "arg_attrs" not in function.attributes:
        return {}
    attributes = enumerate(ir.ArrayAttr(function.attributes["arg_attrs"]))
    return {
        position: dictionary[TENSOR_MAP]
        for position, dictionary in attributes
        if TENSOR_MAP in dictionary
    }


def _cluster(function: Any) -> tuple[int, int, int]:
    if "known_cluster_size" not in function.attributes:
        return 1, 1, 1
    x, y, z = ir.DenseI32ArrayAttr(function.attributes["known_cluster_size"])
    return x, y, z
