"""What a program computes: its statements executed one after the other, in NumPy."""

from __future__ import annotations

from typing import NamedTuple

import ml_dtypes
import numpy as np

from .functions import FUNCTIONS
from .program import (
    BOUND,
    COLUMNS,
    ROWS,
    BulkStore,
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

_BF16 = np.dtype(ml_dtypes.bfloat16)


def inputs_of(program: OrderedProgram) -> dict[str, np.ndarray]:
    """Return the arrays that the program reads; small integers, so that all sums are exact."""
    random = np.random.default_rng(program.seed)
    shape = (program.input_rows, COLUMNS)
    return {
        "X": random.integers(-BOUND, BOUND + 1, shape).astype(_BF16),
        "C": random.integers(-8, 9, shape).astype(np.float32),
    }


def results_of(program: OrderedProgram) -> dict[str, np.ndarray]:
    """Return the arrays that the program writes; zeros where it writes nothing."""
    inputs = {name: array.astype(np.float32) for name, array in inputs_of(program).items()}
    blocks = [_Block(program, block, inputs).run() for block in range(program.blocks)]
    return {
        "D": np.concatenate([block_.d for block_ in blocks]).reshape(-1, COLUMNS),
        "E": np.concatenate([block_.e for block_ in blocks]).reshape(-1, COLUMNS).astype(_BF16),
        "F": np.concatenate([block_.f for block_ in blocks]).reshape(-1).astype(_BF16),
    }


class _Results(NamedTuple):
    """The arrays that a CTA writes.

    Attributes:
        d: [windows, rows, columns].
        e: [windows, 64, columns].
        f: [windows, threads].
    """

    d: np.ndarray
    e: np.ndarray
    f: np.ndarray


class _Block:
    """A CTA.

    Its memory and registers hold float32, of which all numbers are small integers. A register is an array
    [warpgroups, rows, columns].
    """

    def __init__(self, program: OrderedProgram, block: int, inputs: dict[str, np.ndarray]) -> None:
        self._program, self._block, self._inputs = program, block, inputs
        self._warpgroups = range(program.warpgroups)
        self._tiles = [
            np.full((max(1, tile.stages), program.rows, COLUMNS), np.nan, np.float32)
            for tile in program.tiles
        ]
        self._values: dict[int, np.ndarray] = {}
        self._loops: dict[int, int] = {}
        self._results = _Results(
            np.zeros((max(1, program.outputs), program.rows, COLUMNS), np.float32),
            np.zeros((max(1, program.bulk_outputs), ROWS, COLUMNS), np.float32),
            np.zeros((max(1, program.reads), program.rows * 2), np.float32),
        )

    def run(self) -> _Results:
        """Execute the program."""
        self._execute(self._program.body)
        return self._results

    def _execute(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        values, results = self._values, self._results
        match statement:
            case Copy(source, target):
                self._rows(target, 0)[:] = self._source(source)
            case Mma(result, a, b, accumulator):
                products = self._a_operand(a) @ self._load(b)
                added = 0 if accumulator is None else values[accumulator]
                values[result] = products + added
            case Load(result, source):
                values[result] = self._load(source)
            case LoadGlobal(result, slot):
                first = slot * self._program.rows
                values[result] = self._split(self._inputs["C"][first : first + self._program.rows])
            case Fill(result, value):
                shape = (self._program.warpgroups, ROWS, COLUMNS)
                values[result] = np.full(shape, value, np.float32)
            case Map(result, function, inputs):
                values[result] = FUNCTIONS[function].compute(*(values[number] for number in inputs))
            case Convert(result, source):
                values[result] = np.clip(values[source], -BOUND, BOUND)
            case Store(value, target):
                for warpgroup in self._warpgroups:
                    stored = np.clip(values[value][warpgroup], -BOUND, BOUND)
                    self._rows(target, warpgroup)[:] = stored
            case Output(value, window):
                self._split(results.d[self._evaluate(window)])[:] = values[value]
            case BulkStore(source, window):
                results.e[self._evaluate(window)] = self._rows(source, 0)
            case WriteMemory(tile, value):
                threads = np.arange(self._program.rows * 2)
                numbers = (threads + value) % 5
                self._tiles[tile][0, :, :2] = numbers.reshape(-1, 2)
            case ReadMemory(tile, window):
                results.f[self._evaluate(window)] = self._tiles[tile][0, :, :2].reshape(-1)
            case OrderingOp():
                pass
            case For():
                self._for(statement)
            case If():
                self._if(statement)

    def _for(self, loop: For) -> None:
        values = self._values
        carried = [values[carry.initial] for carry in loop.carried]
        for i in range(self._program.trips if loop.trips is None else loop.trips):
            self._loops[loop.number] = i
            for carry, value in zip(loop.carried, carried, strict=True):
                values[carry.argument] = value
            self._execute(loop.body)
            carried = [values[carry.yielded] for carry in loop.carried]
        for carry, value in zip(loop.carried, carried, strict=True):
            values[carry.result] = value

    def _if(self, choice: If) -> None:
        holds = self._holds(choice.condition)
        self._execute(choice.then if holds else choice.otherwise)
        for branch_result in choice.results:
            self._values[branch_result.result] = self._values[
                branch_result.then if holds else branch_result.otherwise
            ]

    def _holds(self, condition: Condition) -> bool:
        operands = {"block": self._block, "trips": self._program.trips}
        value = operands.get(condition.operand, self._loops.get(condition.loop, 0))
        number = condition.number
        return {"eq": value == number, "ne": value != number, "ult": value < number}[
            condition.predicate
        ]

    # -- tiles -------------------------------------------------------------------------------------

    def _evaluate(self, index: Index) -> int:
        value = index.add + (0 if index.loop is None else self._loops[index.loop])
        return (value % index.modulus if index.modulus else value) * index.scale

    def _rows(self, view: View, warpgroup: int) -> np.ndarray:
        """Return the rows of a tile that a view is for a warpgroup."""
        stage = self._tiles[view.tile][0 if view.stage is None else self._evaluate(view.stage)]
        if view.row is None:
            return stage
        first = self._evaluate(view.row) + (ROWS * warpgroup if view.per_warpgroup else 0)
        assert first + view.rows <= len(stage), "a view lies in its tile"
        return stage[first : first + view.rows]

    def _source(self, source: Window | View) -> np.ndarray:
        if isinstance(source, View):
            return self._rows(source, 0)
        first = self._evaluate(source.row)
        assert first + source.rows <= len(self._inputs["X"]), "a window lies in its array"
        return self._inputs["X"][first : first + source.rows]

    def _load(self, view: View) -> np.ndarray:
        return np.stack([self._rows(view, warpgroup) for warpgroup in self._warpgroups])

    def _a_operand(self, a: View | int) -> np.ndarray:
        return self._values[a] if isinstance(a, int) else self._load(a)

    def _split(self, rows: np.ndarray) -> np.ndarray:
        """Rows of all warpgroups, by warpgroup."""
        return rows.reshape(-1, ROWS, COLUMNS)
