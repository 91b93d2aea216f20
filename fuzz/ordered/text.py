"""The text of a program: without ops that order accesses, or with all of them after each op."""

from __future__ import annotations

from itertools import count

from .functions import FUNCTIONS
from .program import (
    BOUND,
    COLUMNS,
    ROWS,
    BulkStore,
    Carried,
    Condition,
    Convert,
    Copy,
    Fill,
    For,
    If,
    Index,
    Load,
    LoadGlobal,
    Map,
    Mma,
    OrderedProgram,
    OrderingOp,
    Output,
    ReadMemory,
    Statement,
    Store,
    View,
    Window,
    WriteMemory,
)

#: Indices that every program has as constants.
_CONSTANTS = (*range(8), 16, 64, 128)

_DYNAMIC = -(1 << 63)

_GLOBAL = f"strided<[{COLUMNS}, 1], offset: ?>"
_WORKGROUP = "#gpu.address_space<workgroup>"

#: Ops that together order any op before the next one.
_EVERYTHING = (
    '"smem.copy_commit"() : () -> ()',
    '"smem.copy_wait"() {pending = 0 : i32} : () -> ()',
    '"smem.fence"() : () -> ()',
    "gpu.barrier",
)


def text_of(program: OrderedProgram, ordered: bool = False) -> str:
    """Return a program as MLIR.

    Args:
        program: the program.
        ordered: whether each op is followed by every op that orders accesses.
    """
    return _Text(program, ordered).module()


class _Text:
    """The lines of a program."""

    def __init__(self, program: OrderedProgram, ordered: bool) -> None:
        self._program, self._ordered = program, ordered
        self._lines: list[str] = []
        self._names = count()
        self._types: dict[int, str] = {}

    def module(self) -> str:
        program = self._program
        rows = program.rows
        arguments = [
            ("X", f"memref<{program.input_rows}x{COLUMNS}xbf16>"),
            ("C", f"memref<{program.input_rows}x{COLUMNS}xf32>"),
            ("D", f"memref<{max(1, program.outputs) * program.blocks * rows}x{COLUMNS}xf32>"),
            ("E", f"memref<{max(1, program.bulk_outputs) * program.blocks * ROWS}x{COLUMNS}xbf16>"),
            ("F", f"memref<{max(1, program.reads) * program.blocks * rows * 2}xbf16>"),
        ]
        self._prelude()
        self._body(program.body)
        body = "\n".join(f"    {line}" for line in self._lines)
        named = ", ".join(f'%{name}: !{name} {{smem.name = "{name}"}}' for name, _ in arguments)
        viewed = "\n".join(
            f'  memref.global "private" @memory{i} : !memory'
            for i, tile in enumerate(program.tiles)
            if tile.viewed
        )
        aliases = [*arguments, ("memory", f"memref<{rows}x{COLUMNS}xbf16, {_WORKGROUP}>")]
        aliases.append(("accumulator", self._fragment("f32", "accumulator")))
        aliases.append(("in_flight", self._fragment("f32", "in_flight")))
        aliases.append(("a", self._fragment("bf16", "a_fragment")))
        lines = "\n".join(f"!{name} = {type_}" for name, type_ in aliases)
        return f"""{lines}
gpu.module @kernels {{
{viewed}
  gpu.func @program({named}, %n: index {{smem.name = "n"}})
      kernel attributes {{known_block_size = array<i32: {128 * program.warpgroups}, 1, 1>}} {{
{body}
    gpu.return
  }}
}}
"""

    def _fragment(self, element: str, state: str) -> str:
        return f"!smem.fragment<tensor<{ROWS}x{COLUMNS}x{element}>, #smem.{state}>"

    def _prelude(self) -> None:
        program = self._program
        for number in _CONSTANTS:
            self._add(f"%c{number} = arith.constant {number} : index")
        for number in range(-BOUND, BOUND + 1):
            self._add(f"%f{number + BOUND} = arith.constant {number}.0 : f32")
        self._add("%block = gpu.block_id x")
        self._add("%thread = gpu.thread_id x")
        self._add("%warpgroup = arith.divui %thread, %c128 : index")
        self._add("%own = arith.muli %warpgroup, %c64 : index")
        for number, tile in enumerate(program.tiles):
            type_ = self._tile_type(number)
            if tile.viewed:
                self._add(f"%memory{number} = memref.get_global @memory{number} : !memory")
                self._add(f'%tile{number} = "smem.view"(%memory{number}) : (!memory) -> {type_}')
            else:
                self._add(f'%tile{number} = "smem.alloc"() : () -> {type_}')

    def _add(self, line: str) -> None:
        self._lines.append(line)

    def _new(self, op: str) -> str:
        """Add an op, and return the name of its result."""
        name = f"%{next(self._names)}"
        self._add(f"{name} = {op}")
        return name

    # -- tiles and windows -------------------------------------------------------------------------

    def _tile_type(self, number: int, rows: int = 0, staged: bool = True) -> str:
        tile = self._program.tiles[number]
        stages = f"{tile.stages}x" if tile.stages and staged else ""
        layout = '#smem.swizzle<"none", "row-major">' if tile.viewed else "#smem.auto"
        return f"!smem.tile<tensor<{stages}{rows or self._program.rows}x{COLUMNS}xbf16>, {layout}>"

    def _index(self, index: Index) -> str:
        """Compute an index; return its name."""
        value = self._constant(index.add)
        if index.loop is not None:
            loop = f"%i{index.loop}"
            value = self._new(f"arith.addi {loop}, {value} : index") if index.add else loop
        if index.modulus:
            value = self._new(f"arith.remui {value}, {self._constant(index.modulus)} : index")
        if index.scale != 1:
            value = self._new(f"arith.muli {value}, {self._constant(index.scale)} : index")
        return value

    def _constant(self, number: int) -> str:
        if number in _CONSTANTS:
            return f"%c{number}"
        return self._new(f"arith.constant {number} : index")

    def _view(self, view: View) -> tuple[str, str]:
        """Take rows of a tile; return their name and type."""
        name, type_ = f"%tile{view.tile}", self._tile_type(view.tile)
        if view.stage is not None:
            stage = self._index(view.stage)
            result_type = self._tile_type(view.tile, staged=False)
            name = self._new(f'"smem.stage"({name}, {stage}) : ({type_}, index) -> {result_type}')
            type_ = result_type
        if view.row is None:
            return name, type_
        result_type = self._tile_type(view.tile, view.rows, staged=False)
        static = view.row.loop is None and not view.per_warpgroup
        if static:
            first = view.row.add * view.row.scale
            offsets = f"{{static_offsets = array<i64: {first}, 0>}}"
            return self._new(
                f'"smem.subtile"({name}) {offsets} : ({type_}) -> {result_type}'
            ), result_type
        row = self._index(view.row) if view.row.loop is not None or view.row.add else None
        if view.per_warpgroup:
            row = self._new(f"arith.addi {row}, %own : index") if row else "%own"
        offsets = f"{{static_offsets = array<i64: {_DYNAMIC}, 0>}}"
        op = f'"smem.subtile"({name}, {row}) {offsets} : ({type_}, index) -> {result_type}'
        return self._new(op), result_type

    def _window(self, array: str, row: str, rows: int, element: str) -> tuple[str, str]:
        """Take rows of an array in global memory; return their name and type."""
        type_ = f"memref<{rows}x{COLUMNS}x{element}, {_GLOBAL}>"
        op = f"memref.subview %{array}[{row}, 0] [{rows}, {COLUMNS}] [1, 1] : !{array} to {type_}"
        return self._new(op), type_

    def _part(self, window: Index, windows: int, per: int) -> str:
        """Return where a window of an output begins, in units of `per` for each CTA."""
        base = self._new(f"arith.muli %block, {self._constant(windows)} : index")
        window_number = self._new(f"arith.addi {base}, {self._index(window)} : index")
        return self._new(f"arith.muli {window_number}, {self._constant(per)} : index")

    # -- statements --------------------------------------------------------------------------------

    def _body(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._statement(statement)
            if self._ordered and not isinstance(statement, For | If | OrderingOp | BulkStore):
                # Kernels that store in bulk have no other asynchronous copies.
                self._lines += _EVERYTHING[2 if self._program.bulk_outputs else 0 :]

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Copy():
                self._copy(statement)
            case Mma():
                self._mma(statement)
            case Load(result, source, as_a):
                self._types[result] = "!a" if as_a else "!accumulator"
                name, type_ = self._view(source)
                self._add(f'%v{result} = "smem.load"({name}) : ({type_}) -> {self._types[result]}')
            case LoadGlobal(result, slot):
                part = self._constant(slot * self._program.rows)
                row = self._new(f"arith.addi {part}, %own : index")
                name, type_ = self._window("C", row, ROWS, "f32")
                self._add(f'%v{result} = "smem.load"({name}) : ({type_}) -> !accumulator')
            case Fill(result, value):
                element = f"%f{value + BOUND}"
                self._add(f'%v{result} = "smem.fill"({element}) : (f32) -> !accumulator')
            case Map(result, function, inputs):
                self._map(f"%v{result}", FUNCTIONS[function].lines, inputs)
            case Convert(result, source):
                clamped = self._clamp(source)
                self._types[result] = "!a"
                self._add(f'%v{result} = "smem.convert"({clamped}) : (!accumulator) -> !a')
            case Store(value, target):
                clamped = self._clamp(value)
                name, type_ = self._view(target)
                self._add(f'"smem.store"({clamped}, {name}) : (!accumulator, {type_}) -> ()')
            case Output(value, window):
                start = self._part(window, self._program.outputs, self._program.rows)
                row = self._new(f"arith.addi {start}, %own : index")
                name, type_ = self._window("D", row, ROWS, "f32")
                self._add(f'"smem.store"(%v{value}, {name}) : (!accumulator, {type_}) -> ()')
            case BulkStore():
                self._bulk_store(statement)
            case WriteMemory():
                self._write(statement)
            case ReadMemory():
                self._read(statement)
            case OrderingOp(text):
                self._add(text)
            case For():
                self._for(statement)
            case If():
                self._if(statement)

    def _copy(self, copy: Copy) -> None:
        if isinstance(copy.source, Window):
            row = self._index(copy.source.row)
            source, from_type = self._window("X", row, copy.source.rows, "bf16")
        else:
            source, from_type = self._view(copy.source)
        target, to_type = self._view(copy.target)
        name = "copy_async" if copy.asynchronous else "copy"
        self._add(f'"smem.{name}"({source}, {target}) : ({from_type}, {to_type}) -> ()')

    def _mma(self, mma: Mma) -> None:
        a, a_type = (f"%v{mma.a}", "!a") if isinstance(mma.a, int) else self._view(mma.a)
        b, b_type = self._view(mma.b)
        operands, types = [a, b], [a_type, b_type]
        if mma.accumulator is not None:
            operands.append(f"%v{mma.accumulator}")
            types.append("!accumulator")
        op = f'"smem.mma"({", ".join(operands)}) : ({", ".join(types)}) -> '
        if not self._ordered:
            self._add(f"%v{mma.result} = {op}!accumulator")
            return
        started = self._new(f"{op}!in_flight")
        wait = f'"smem.wait"({started}) {{pending = 0 : i32}} : (!in_flight) -> !accumulator'
        self._add(f"%v{mma.result} = {wait}")

    def _map(self, result: str, lines: tuple[str, ...], inputs: tuple[int, ...]) -> None:
        operands = ", ".join(f"%v{number}" for number in inputs)
        types = ", ".join(["!accumulator"] * len(inputs))
        arguments = ", ".join(f"%{name}: f32" for name, _ in zip("xy", inputs, strict=False))
        self._add(f'{result} = "smem.map"({operands}) ({{')
        self._add(f"^bb0({arguments}):")
        for line in lines:
            self._add(f"  {line}")
        self._add(f"  gpu.yield %z : f32\n    }}) : ({types}) -> !accumulator")

    def _clamp(self, value: int) -> str:
        name = f"%{next(self._names)}"
        self._map(name, FUNCTIONS["clamp"].lines, (value,))
        return name

    def _bulk_store(self, store: BulkStore) -> None:
        row = self._part(store.window, self._program.bulk_outputs, ROWS)
        name, type_ = self._view(store.source)
        self._lines += [_EVERYTHING[2], _EVERYTHING[3]] * self._ordered
        self._add('"smem.elect"() ({')
        self._add(f'  "smem.tma_store"({name}, %E, {row}, %c0) : ({type_}, !E, index, index) -> ()')
        if self._ordered:
            self._add('  "smem.tma_commit"() : () -> ()')
            self._add('  "smem.tma_wait"() {pending = 0 : i32} : () -> ()')
        self._add('}) {scope = "cta"} : () -> ()')
        self._lines += [_EVERYTHING[3]] * self._ordered

    # Each thread has the element at row thread / 2 and column thread % 2 of a viewed tile, in whose
    # layout 8 elements of a row are contiguous, then the next rows follow.

    def _element(self) -> str:
        row = self._new("arith.divui %thread, %c2 : index")
        column = self._new("arith.remui %thread, %c2 : index")
        first = self._new(f"arith.muli {row}, {self._constant(8)} : index")
        linear = self._new(f"arith.addi {first}, {column} : index")
        indices = [self._new(f"arith.{op} {linear}, %c16 : index") for op in ("divui", "remui")]
        return f"[{', '.join(indices)}] : !memory"

    def _write(self, write: WriteMemory) -> None:
        moved = self._new(f"arith.addi %thread, {self._constant(write.value)} : index")
        number = self._new(f"arith.remui {moved}, %c5 : index")
        as_i32 = self._new(f"arith.index_cast {number} : index to i32")
        value = self._new(f"arith.sitofp {as_i32} : i32 to bf16")
        self._add(f"memref.store {value}, %memory{write.tile}{self._element()}")

    def _read(self, read: ReadMemory) -> None:
        element = self._element()
        value = self._new(f"memref.load %memory{read.tile}{element}")
        start = self._part(read.window, self._program.reads, self._program.rows * 2)
        place = self._new(f"arith.addi {start}, %thread : index")
        self._add(f"memref.store {value}, %F[{place}] : !F")

    # -- control flow ------------------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        trips = "%n" if loop.trips is None else f"%c{loop.trips}"
        head = f"scf.for %i{loop.number} = %c0 to {trips} step %c1"
        results = ", ".join(f"%v{carry.result}" for carry in loop.carried)
        types = ", ".join(["!accumulator"] * len(loop.carried))
        if loop.carried:
            initial_values = ", ".join(
                f"%v{carry.argument} = %v{carry.initial}" for carry in loop.carried
            )
            head = f"{results} = {head} iter_args({initial_values}) -> ({types})"
        self._add(f"{head} {{")
        self._body(loop.body)
        self._end(loop.carried, types)

    def _end(self, carried: tuple[Carried, ...], types: str) -> None:
        if carried:
            yielded = ", ".join(f"%v{carry.yielded}" for carry in carried)
            self._add(f"scf.yield {yielded} : {types}")
        self._add("}")

    def _if(self, choice: If) -> None:
        condition = self._condition(choice.condition)
        results = ", ".join(f"%v{branch_result.result}" for branch_result in choice.results)
        types = ", ".join(["!accumulator"] * len(choice.results))
        head = f"{results} = scf.if {condition} -> ({types})" if results else f"scf.if {condition}"
        self._add(f"{head} {{")
        self._body(choice.then)
        if results:
            yielded = ", ".join(f"%v{branch_result.then}" for branch_result in choice.results)
            self._add(f"scf.yield {yielded} : {types}")
        if results or choice.otherwise:
            self._add("} else {")
            self._body(choice.otherwise)
        if results:
            yielded = ", ".join(f"%v{branch_result.otherwise}" for branch_result in choice.results)
            self._add(f"scf.yield {yielded} : {types}")
        self._add("}")

    def _condition(self, condition: Condition) -> str:
        value = {"block": "%block", "trips": "%n", "loop": f"%i{condition.loop}"}[condition.operand]
        return self._new(f"arith.cmpi {condition.predicate}, {value}, %c{condition.number} : index")
