"""A kernel, decoded once: its ops as steps over numbered values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..dialect.bindings import ir
from .errors import EmulationError
from .registry import Executor, executor, load_ops

#: The attribute of an argument that is a tensor map.
TENSOR_MAP = "smem.tensor_map"


@dataclass(eq=False)
class Block:
    """A block of instructions.

    Attributes:
        arguments: numbers of the values that those who enter it set.
        instructions: its ops.
        successors: blocks that its terminator may go to.
    """

    arguments: list[int]
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[Block] = field(default_factory=list)


@dataclass(eq=False)
class Region:
    """Blocks of which the first is entered.

    Attributes:
        blocks: in the order of the text.
        waits: whether threads may have to wait for others within.
    """

    blocks: list[Block]
    waits: bool = False

    @property
    def entry(self) -> Block:
        """The block that is entered."""
        return self.blocks[0]


@dataclass(eq=False)
class Instruction:
    """One op.

    Attributes:
        number: its position in the program; indexes `Program.locations`.
        name: the op's.
        location: where it was written.
        operands, results: numbers of values.
        executor: how it is executed.
        step: what is called; see `registry.Executor`.
        waits: whether threads may have to wait for others at it.
        collective: whether the threads of a warpgroup execute it together.
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


class Op:
    """An op as the functions that are registered for it see it while the program is decoded."""

    def __init__(self, decoder: Decoder, op: Any) -> None:
        self._decoder = decoder
        self._op = op
        self.name: str = op.operation.name
        self.location = op.location
        self.operand_types = [operand.type for operand in op.operands]
        self.result_types = [result.type for result in op.results]
        self.regions: list[Region] = []
        self.successors: list[Block] = []
        self.operand_numbers: tuple[int, ...] = ()
        self.result_numbers: tuple[int, ...] = ()
        self.symbols = decoder.symbols
        #: What the executor says, unless this op is special.
        self.waits = self.collective = False

    def has(self, name: str) -> bool:
        """Whether the op has that attribute."""
        return name in self._op.attributes

    def attribute(self, name: str) -> Any:
        """An attribute."""
        return self._op.attributes[name].maybe_downcast()

    def number(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        if default is not None and not self.has(name):
            return default
        return ir.IntegerAttr(self._op.attributes[name]).value

    def text(self, name: str, default: str = "") -> str:
        """An attribute as it prints."""
        return str(self._op.attributes[name]) if self.has(name) else default

    def string(self, name: str) -> str:
        """A string attribute."""
        return ir.StringAttr(self._op.attributes[name]).value

    def numbers(self, name: str) -> list[int]:
        """A dense array of integers."""
        return list(self.attribute(name))

    def new_value(self) -> int:
        """The number of a new value that no SSA value has: state of the op for each thread."""
        return self._decoder.new_number()

    def check_agrees(self, what: str, value: str) -> None:
        """Checks that ops of the kernel that must agree on something do.

        Raises:
            EmulationError: if an op before this has said something else of it.
        """
        said = self._decoder.agreed.setdefault(what, value)
        if said != value:
            raise self.refuse(
                f"is of {what} {value}, but an op before it is of {said}; all must agree"
            )

    def refuse(self, message: str) -> EmulationError:
        """An error at this op."""
        return EmulationError(f"'{self.name}' {message}", self.location)


@dataclass(frozen=True)
class Buffer:
    """A workgroup buffer that a kernel declares.

    Attributes:
        type: a memref.
        alignment: of its first byte; None if the kernel says nothing.
    """

    type: Any
    alignment: int | None


@dataclass
class Program:
    """A kernel that can be run.

    Attributes:
        name: the kernel's.
        body: its code; the entry's arguments are the kernel's, then its workgroup buffers.
        values: how many values there are.
        locations: where each instruction was written.
        inputs: types of its arguments, without tensor maps, which stand behind them.
        tensor_maps: for each argument that is one, by its position, what it describes.
        cluster: blocks of a cluster along x, y, z.
        buffers: the workgroup buffers that it declares.
        symbols: ops of the module by their name.
        tracks: whether it holds ops of which an mbarrier says when they are complete; copies with
            tensor maps, which are known by these, apart.
    """

    name: str
    body: Region
    values: int
    locations: list[Any]
    inputs: list[Any]
    tensor_maps: dict[int, Any]
    cluster: tuple[int, int, int]
    buffers: list[Buffer]
    symbols: dict[str, Any]
    tracks: bool


class Decoder:
    """Numbers values and makes steps."""

    def __init__(self, symbols: dict[str, Any]) -> None:
        self.symbols = symbols
        self.locations: list[Any] = []
        self.tracks = False
        self.agreed: dict[str, str] = {}
        self._numbers: dict[Any, int] = {}
        self._count = 0

    def new_number(self) -> int:
        """A number that no other value has."""
        self._count += 1
        return self._count - 1

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._count

    def region(self, region: Any) -> Region:
        """Decodes a region."""
        blocks = list(region.blocks)
        codes = {block: Block([self._number(a) for a in block.arguments]) for block in blocks}
        waits = False
        for block, code in codes.items():
            for op in block.operations:
                instruction = self._instruction(op, codes)
                code.instructions.append(instruction)
                waits |= instruction.waits
            code.successors = [codes[s] for s in block.successors]
        return Region(list(codes.values()), waits)

    def _number(self, value: Any) -> int:
        """The number of an SSA value; blocks need not stand in the order of dominance."""
        if value not in self._numbers:
            self._numbers[value] = self.new_number()
        return self._numbers[value]

    def _instruction(self, op: Any, codes: dict[Any, Block]) -> Instruction:
        how = executor(op.operation.name, op.location)
        position = len(self.locations)
        self.locations.append(op.location)
        self.tracks |= how.tracked
        seen = Op(self, op)
        operands = tuple(self._number(operand) for operand in op.operands)
        seen.operand_numbers = operands
        seen.regions = [self.region(r) for r in op.operation.regions if len(r.blocks)]
        seen.successors = [codes[s] for s in op.operation.successors]
        seen.result_numbers = results = tuple(self._number(result) for result in op.results)
        seen.waits = how.waits or any(region.waits for region in seen.regions)
        seen.collective = how.collective
        step = how.make(seen)
        name = op.operation.name
        return Instruction(
            position, name, op.location, operands, results, how, step, seen.waits, seen.collective
        )


def decode(module: Any, name: str) -> Program:
    """The kernel of that name in a module after `smem-to-nvvm`.

    Args:
        module: a `builtin.module` that holds a `gpu.module`.
        name: the kernel's symbol.

    Raises:
        EmulationError: if there is no such kernel, or it holds an op that the emulator does not know.
    """
    load_ops()
    for holder in module.body.operations:
        if holder.operation.name != "gpu.module":
            continue
        ops = list(holder.regions[0].blocks[0].operations)
        symbols = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in ops
            if "sym_name" in op.attributes
        }
        if name in symbols and symbols[name].operation.name == "gpu.func":
            return _decode_function(symbols[name], name, symbols)
    raise EmulationError(f"the module holds no gpu.func '{name}'")


def _decode_function(function: Any, name: str, symbols: dict[str, Any]) -> Program:
    decoder = Decoder(symbols)
    body = decoder.region(function.regions[0])
    inputs = list(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    arguments = list(function.regions[0].blocks[0].arguments)
    buffers = _buffers(function, arguments[len(inputs) :])
    maps = _tensor_maps(function)
    own = len(inputs) - len(maps)
    if list(maps) != list(range(own, len(inputs))):
        raise EmulationError(
            f"{name} has tensor maps at {list(maps)} of its {len(inputs)} arguments; expected them "
            "after all others"
        )
    return Program(
        name,
        body,
        decoder.count,
        decoder.locations,
        inputs[:own],
        maps,
        _cluster(function),
        buffers,
        symbols,
        decoder.tracks,
    )


def _buffers(function: Any, arguments: list[Any]) -> list[Buffer]:
    """The workgroup buffers of a kernel.

    Raises:
        EmulationError: if it has private buffers, too.
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
    said = (
        list(attributes["workgroup_attrib_attrs"]) if "workgroup_attrib_attrs" in attributes else []
    )
    given = [*said, *[{}] * (count - len(said))]
    return [
        Buffer(argument.type, each["llvm.align"].value if "llvm.align" in each else None)
        for argument, each in zip(arguments, given, strict=True)
    ]


def _tensor_maps(function: Any) -> dict[int, Any]:
    if "arg_attrs" not in function.attributes:
        return {}
    attributes = enumerate(ir.ArrayAttr(function.attributes["arg_attrs"]))
    return {at: found[TENSOR_MAP] for at, found in attributes if TENSOR_MAP in found}


def _cluster(function: Any) -> tuple[int, int, int]:
    if "known_cluster_size" not in function.attributes:
        return 1, 1, 1
    x, y, z = ir.DenseI32ArrayAttr(function.attributes["known_cluster_size"])
    return x, y, z
