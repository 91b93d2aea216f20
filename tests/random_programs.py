"""Random kernels that multiply matrices through shared memory in every way that lowers, with the
product that each must compute."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

Item = TypeVar("Item")

#: Chooses one of several items; the name says what is chosen.
Choose = Callable[[str, Sequence[Item]], Item]

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
SWIZZLES = ("auto", "none", "32B", "64B", "128B")

#: Shared memory that a program may use, in bytes; a view lies in the reserved part.
_MAX_BYTES = 227 * 1024
_RESERVED = 64 * 1024
_DYNAMIC = -(1 << 63)


@dataclass(frozen=True)
class Operand:
    """How one operand lies in memory.

    Attributes:
        major: "k", or "mn" for M-major A and N-major B.
        layout: a swizzle that is forced, or "auto".
        margin: rows (along M or N) and steps of k of the tile that come before the part that is
            multiplied.
        run_time: whether the part begins where only the running kernel knows.
        asynchronous: whether it is copied by `smem.copy_async`.
    """

    major: str
    layout: str
    margin: tuple[int, int]
    run_time: bool
    asynchronous: bool

    @classmethod
    def draw(cls, choose: Choose, name: str) -> "Operand":
        """A random operand."""
        major = choose(f"{name} major", ("k", "mn"))
        # Rows of an MN-major part begin at an atom, those of a K-major part anywhere.
        rows = (0, 0, 8, 24, 3, 64) if major == "k" else (0, 0, 64, 128)
        return cls(
            major,
            choose(f"{name} layout", SWIZZLES),
            (choose(f"{name} row", rows), choose(f"{name} k", (0, 0, 16, 64))),
            choose(f"{name} run time", (False, True)),
            choose(f"{name} asynchronous", (False, True)),
        )


@dataclass(frozen=True)
class Program:
    """A kernel D = A * B, in a loop over chunks of K.

    Attributes:
        element: element type of A and B.
        result: element type of D.
        column_major: whether D is column-major.
        m: rows of D that each warpgroup computes; n, columns that each block computes.
        k: what is multiplied of each chunk.
        chunks: iterations of the loop over K.
        stages: stages of the tiles; 1 waits for each mma before the next copy.
        warpgroups, blocks: how many there are; blocks lie along N.
        a, b: the operands.
        view: lines of 128 bytes past a multiple of 1024 at which A's tile lies, in memory that the
            program has already; None for a tile of its own.
        seed: of the matrices' values.
    """

    element: str
    result: str
    column_major: bool
    m: int
    n: int
    k: int
    chunks: int
    stages: int
    warpgroups: int
    blocks: int
    a: Operand
    b: Operand
    view: int | None
    seed: int

    @classmethod
    def draw(cls, choose: Choose) -> "Program":
        """A random program."""
        a, b = Operand.draw(choose, "A"), Operand.draw(choose, "B")
        # Only a swizzled layout that is given can lie anywhere.
        viewable = a.layout in ("32B", "64B", "128B") and not a.asynchronous
        lines = (None, None, None, 0, 1, 3, 6) if viewable else (None,)
        view = choose("view", lines)
        return cls(
            choose("element", ("f16", "bf16")),
            choose("result", ("f32", "f32", "f16", "bf16")),
            choose("column-major result", (False, True)),
            choose("m", (64, 64, 128)),
            choose("n", (*range(8, 257, 8), 320))
            if b.major == "k"
            else choose("n", (64, 128, 192)),
            choose("k", (16, 32, 48, 64, 128)),
            choose("chunks", (1, 2, 3, 5)),
            1 if view is not None else choose("stages", (1, 2, 3)),
            choose("warpgroups", (1, 1, 2)),
            choose("blocks", (1, 1, 2)),
            a,
            b,
            view,
            choose("seed", range(1 << 16)),
        )

    @classmethod
    def seeded(cls, seed: int) -> "Program":
        """The program of a seed; the first that fits into shared memory."""
        random = Random(seed)
        while True:
            program = cls.draw(lambda _, items: random.choice(items))
            if program.fits:
                return program

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def a_tile(self) -> tuple[int, int]:
        """Rows and columns of A's tile."""
        rows, k = self.a.margin
        return rows + self.m * self.warpgroups, k + self.k

    @property
    def b_tile(self) -> tuple[int, int]:
        """Rows and columns of B's tile."""
        columns, k = self.b.margin
        return k + self.k, columns + self.n

    @property
    def fits(self) -> bool:
        """Whether its tiles and accumulators fit, with what swizzles may pad."""
        padded = [
            -(-rows // 64) * 64 * -(-columns // 64) * 64 * 2
            for rows, columns in (self.a_tile, self.b_tile)
        ]
        registers = self.m * self.n // 128
        if self.view is not None:
            return padded[0] + 1024 <= _RESERVED and padded[1] + _RESERVED <= _MAX_BYTES
        return self.stages * sum(padded) <= _MAX_BYTES and registers <= 128

    @property
    def reserved_bytes(self) -> int:
        """Shared memory that the program uses without `smem.alloc`."""
        return 0 if self.view is None else _RESERVED

    @property
    def grid(self) -> tuple[int]:
        """Blocks."""
        return (self.blocks,)

    # -- data --------------------------------------------------------------------------------------

    def inputs(self) -> dict[str, np.ndarray]:
        """A and B, normally distributed."""
        random = np.random.default_rng(self.seed)
        made = {}
        (a_rows, a_columns), (b_rows, b_columns) = self.a_tile, self.b_tile
        for name, shape, row_major in (
            ("A", (a_rows, a_columns * self.chunks), self.a.major == "k"),
            ("B", (b_rows * self.chunks, b_columns * self.blocks), self.b.major == "mn"),
        ):
            values = random.standard_normal(shape).astype(DTYPES[self.element])
            made[name] = np.asarray(values, order="C" if row_major else "F")
        return made

    def product(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """D in float64, and how far the result may be from it.

        The bound is that of `tests/gpu/reference.py`, and half a unit in the last place of the result.
        """
        a, b = (inputs[name].astype(np.float64) for name in "AB")
        m, n = self.m * self.warpgroups, self.n
        exact = np.zeros((m, n * self.blocks))
        size = np.zeros_like(exact)
        for i in range(self.chunks):
            for block in range(self.blocks):
                left = a[self.a.margin[0] :, i * self.a_tile[1] + self.a.margin[1] :][:m, : self.k]
                right = b[
                    i * self.b_tile[0] + self.b.margin[1] :,
                    block * self.b_tile[1] + self.b.margin[0] :,
                ][: self.k, :n]
                at = slice(block * n, (block + 1) * n)
                exact[:, at] += left @ right
                size[:, at] += np.abs(left) @ np.abs(right)
        bound = 2 * self.k * self.chunks * 2.0**-23 * size
        unit = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[self.result]
        return exact, bound + unit * (np.abs(exact) + bound)

    # -- text --------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The kernel."""
        return _text(self)


def _memref(rows: int, columns: int, element: str, row_major: bool, part: bool = False) -> str:
    """The type of a matrix, or of a part of one (`rows` and `columns` are the part's)."""
    if part:
        strides = "[?, 1]" if row_major else "[1, ?]"
        return f"memref<{rows}x{columns}x{element}, strided<{strides}, offset: ?>>"
    layout = "" if row_major else f", strided<[1, {rows}]>"
    return f"memref<{rows}x{columns}x{element}{layout}>"


def _tile(rows: int, columns: int, element: str, layout: str, stages: int = 0) -> str:
    shape = f"{rows}x{columns}" if not stages else f"{stages}x{rows}x{columns}"
    return f"!smem.tile<tensor<{shape}x{element}>, {layout}>"


def _layout(operand: Operand, row_major: bool) -> str:
    if operand.layout == "auto":
        return "#smem.auto"
    order = "row-major" if row_major else "column-major"
    return f'#smem.swizzle<"{operand.layout}", "{order}">'


def _text(p: Program) -> str:
    a_row_major, b_row_major = p.a.major == "k", p.b.major == "mn"
    (am, ak), (bk, bn) = p.a_tile, p.b_tile
    whole_a = _memref(am, ak * p.chunks, p.element, a_row_major)
    whole_b = _memref(bk * p.chunks, bn * p.blocks, p.element, b_row_major)
    m = p.m * p.warpgroups
    whole_d = _memref(m, p.n * p.blocks, p.result, not p.column_major)
    part_a = _memref(am, ak, p.element, a_row_major, part=True)
    part_b = _memref(bk, bn, p.element, b_row_major, part=True)
    part_d = _memref(p.m, p.n, p.result, not p.column_major, part=True)
    flying = f"!smem.fragment<tensor<{p.m}x{p.n}xf32>, #smem.in_flight>"
    ready = f"!smem.fragment<tensor<{p.m}x{p.n}xf32>, #smem.accumulator>"
    la, lb = _layout(p.a, a_row_major), _layout(p.b, b_row_major)
    make_a, stage_a = _root(p, "A", (am, ak), la)
    make_b, stage_b = _root(p, "B", (bk, bn), lb)
    ta, tb = _tile(am, ak, p.element, la), _tile(bk, bn, p.element, lb)
    # A warpgroup's rows begin at run time; so may anything else.
    row = _start(p.a.margin[0], p.a.run_time or p.warpgroups > 1)
    starts_a = (row, _start(p.a.margin[1], p.a.run_time))
    starts_b = (_start(p.b.margin[1], p.b.run_time), _start(p.b.margin[0], p.b.run_time))
    mine = _subtile(
        "%mine", "%ta", ta, starts_a, ("%row", "%ka"), (p.m, p.k), p.element, _multiples(p.a)
    )
    right = _subtile(
        "%right",
        "%tb",
        tb,
        starts_b,
        ("%kb", "%column"),
        (p.k, p.n),
        p.element,
        _multiples(p.b)[::-1],
    )
    copies = [
        f'"smem.copy{"_async" if operand.asynchronous else ""}"(%g{name}, %t{name}) : ({part}, {tile})'
        " -> ()"
        for name, operand, part, tile in (("a", p.a, part_a, ta), ("b", p.b, part_b, tb))
    ]
    if p.a.asynchronous or p.b.asynchronous:
        copies += ['"smem.copy_commit"() : () -> ()']
        copies += ['"smem.copy_wait"() {pending = 0 : i32} : () -> ()']
    # With several stages, a copy overwrites what the mma two iterations ago or earlier has read.
    pending = 0 if p.stages == 1 else 1
    return f"""
gpu.module @kernels {{
  gpu.func @product(%A: {whole_a} {{smem.name = "A"}}, %B: {whole_b} {{smem.name = "B"}},
                    %D: {whole_d} {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {128 * p.warpgroups}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %chunks = arith.constant {p.chunks} : index
    %stages = arith.constant {p.stages} : index
    %am = arith.constant {p.m} : index
    %ak = arith.constant {ak} : index
    %bk = arith.constant {bk} : index
    %bn = arith.constant {bn} : index
    %n = arith.constant {p.n} : index
    %arow = arith.constant {p.a.margin[0]} : index
    %acolumn = arith.constant {p.a.margin[1]} : index
    %brow = arith.constant {p.b.margin[1]} : index
    %bcolumn = arith.constant {p.b.margin[0]} : index
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %size = gpu.block_dim x
    %nothing = arith.divui %thread, %size : index
    %warpgroup = arith.divui %thread, %c128 : index
    %first = arith.muli %warpgroup, %am : index
    %row = arith.addi %first, %arow : index
    %ka = arith.addi %nothing, %acolumn : index
    %kb = arith.addi %nothing, %brow : index
    %column = arith.addi %nothing, %bcolumn : index
    %from = arith.muli %block, %bn : index
    %to = arith.muli %block, %n : index
    %zero = arith.constant 0.0 : f32
    {make_a}
    {make_b}
    %start = "smem.fill"(%zero) : (f32) -> {flying}
    %sum = scf.for %i = %c0 to %chunks step %c1 iter_args(%acc = %start) -> ({flying}) {{
      %slot = arith.remui %i, %stages : index
      %ia = arith.muli %i, %ak : index
      %ib = arith.muli %i, %bk : index
      %ga = memref.subview %A[0, %ia] [{am}, {ak}] [1, 1] : {whole_a} to {_known(part_a, p, "A")}
      %gb = memref.subview %B[%ib, %from] [{bk}, {bn}] [1, 1] : {whole_b} to {_known(part_b, p, "B")}
      {stage_a}
      {stage_b}
      {(chr(10) + "      ").join(_with_known(copies, p, part_a, part_b))}
      "smem.fence"() : () -> ()
      gpu.barrier
      {mine}
      {right}
      %d = "smem.mma"(%mine, %right, %acc) : ({_part_type((p.m, p.k), p.element)}, {_part_type((p.k, p.n), p.element)}, {flying}) -> {flying}
      %on = "smem.wait"(%d) {{pending = {pending} : i32}} : ({flying}) -> {flying}
      gpu.barrier
      scf.yield %on : {flying}
    }}
    %done = "smem.wait"(%sum) {{pending = 0 : i32}} : ({flying}) -> {ready}
    %gd = memref.subview %D[%first, %to] [{p.m}, {p.n}] [1, 1] : {whole_d} to {_known(part_d, p, "D")}
    "smem.store"(%done, %gd) : ({ready}, {_known(part_d, p, "D")}) -> ()
    gpu.return
  }}
}}
"""


def _known(part: str, p: Program, name: str) -> str:
    """A part's type with the stride that its matrix has."""
    pitch = {
        "A": p.a_tile[1] * p.chunks if p.a.major == "k" else p.a_tile[0],
        "B": p.b_tile[1] * p.blocks if p.b.major == "mn" else p.b_tile[0] * p.chunks,
        "D": p.m * p.warpgroups if p.column_major else p.n * p.blocks,
    }[name]
    return part.replace("[?, 1]", f"[{pitch}, 1]").replace("[1, ?]", f"[1, {pitch}]")


def _with_known(copies: list[str], p: Program, part_a: str, part_b: str) -> list[str]:
    return [
        c.replace(part_a, _known(part_a, p, "A"))
        if "%ga" in c
        else c.replace(part_b, _known(part_b, p, "B"))
        for c in copies
    ]


def _part_type(shape: tuple[int, int], element: str) -> str:
    return _tile(*shape, element, "#smem.auto")


def _root(p: Program, name: str, shape: tuple[int, int], layout: str) -> tuple[str, str]:
    """The ops that make an operand's tile, and those that take the stage of an iteration."""
    lower = name.lower()
    whole = _tile(*shape, p.element, layout, p.stages)
    stage = _tile(*shape, p.element, layout)
    if name == "A" and p.view is not None:
        size = -(-shape[0] // 64) * 64 * -(-shape[1] // 64) * 64
        make = f"""
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %lines = arith.constant {128 * p.view} : index
    %memory = memref.view %bytes[%lines][] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<{size}x{p.element}, #gpu.address_space<workgroup>>
    %ta = "smem.view"(%memory) {{alignment = 128}}
        : (memref<{size}x{p.element}, #gpu.address_space<workgroup>>) -> {stage}"""
        return make, ""
    make = f'%r{lower} = "smem.alloc"() : () -> {whole}'
    take = f'%t{lower} = "smem.stage"(%r{lower}, %slot) : ({whole}, index) -> {stage}'
    return make, take


def _start(at: int, run_time: bool) -> int:
    return _DYNAMIC if run_time else at


def _multiples(operand: Operand) -> tuple[int, int]:
    """What run-time starts are promised to be multiples of, along M or N and along k."""
    rows = operand.margin[0]
    return (64 if operand.major == "mn" else (8 if rows % 8 == 0 else 1), 16)


def _subtile(
    name: str,
    tile: str,
    type_: str,
    starts: tuple[int, int],
    values: tuple[str, str],
    shape: tuple[int, int],
    element: str,
    multiples: tuple[int, int],
) -> str:
    dynamic = [(v, m) for s, v, m in zip(starts, values, multiples, strict=True) if s == _DYNAMIC]
    operands = "".join(f", {value}" for value, _ in dynamic)
    promise = (
        f", multiple_of = array<i64: {', '.join(str(m) for _, m in dynamic)}>" if dynamic else ""
    )
    types = ", index" * len(dynamic)
    return (
        f'{name} = "smem.subtile"({tile}{operands}) {{static_offsets = array<i64: {starts[0]}, {starts[1]}>'
        f"{promise}}} : ({type_}{types}) -> {_part_type(shape, element)}"
    )


def described(program: Program) -> dict[str, Any]:
    """What a program is, for a record."""
    return {
        "shape": [program.m, program.n, program.k, program.chunks],
        "element": program.element,
        "result": program.result,
        "a": f"{program.a.major}/{program.a.layout}",
        "b": f"{program.b.major}/{program.b.layout}",
    }
