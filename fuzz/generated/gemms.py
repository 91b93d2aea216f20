"""Random GEMMs through shared memory, in every form that lowers, with the result of each."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .choices import Choose
from .elements import DTYPES
from .kernels import KernelCase

SWIZZLES = ("auto", "none", "32B", "64B", "128B")

#: Bytes of shared memory that a program may use; a view is in the reserved bytes.
_MAX_BYTES = 227 * 1024
_RESERVED = 64 * 1024

#: Columns of tensor memory of a CTA (PTX ISA 9.7.16.1).
_TENSOR_COLUMNS = 512

#: The static offset of a dimension whose offset is an operand (`ShapedType::kDynamic`).
_DYNAMIC = -(1 << 63)


@dataclass(frozen=True)
class GemmOperand:
    """How one operand is stored.

    Attributes:
        major: "k", or "mn" for M-major A and N-major B.
        layout: a forced swizzle, or "auto".
        margin: rows (along M or N) and K blocks of the tile before the subtile that is multiplied.
        run_time: whether the subtile has a run-time start.
        asynchronous: whether `smem.copy_async` copies it.
        split: elements along the contiguous dimension that the first of two copies fills; None if
            one fills the tile.
    """

    major: str
    layout: str
    margin: tuple[int, int]
    run_time: bool
    asynchronous: bool
    split: int | None = None

    @classmethod
    def draw(cls, choose: Choose, name: str) -> GemmOperand:
        """Draw a random operand."""
        major = choose(f"{name} major", ("k", "mn"))
        # Rows of an MN-major subtile begin at an atom, those of a K-major one anywhere.
        rows = (0, 0, 8, 24, 3, 64) if major == "k" else (0, 0, 64, 128)
        return cls(
            major,
            choose(f"{name} layout", SWIZZLES),
            (choose(f"{name} row", rows), choose(f"{name} k", (0, 0, 16, 48, 64))),
            choose(f"{name} run time", (False, True)),
            choose(f"{name} asynchronous", (False, True)),
            choose(f"{name} split", (None, None, 8, 24, 64)),
        )


@dataclass(frozen=True)
class GemmCase:
    """A kernel D = A * B, in a loop over chunks of K.

    Attributes:
        element: element type of A and B.
        result: element type of D.
        column_major: whether D is column-major.
        m: rows of D that each warpgroup computes; n, columns that each CTA computes.
        k: elements along K of each chunk.
        chunks: iterations of the loop along K.
        stages: stages of the tiles; 1 waits for each mma before the next copy.
        warpgroups, ctas: the numbers of warpgroups and CTAs; CTAs are along N.
        a, b: the operands.
        view: lines of 128 bytes past a multiple of 1024 at which A's tile begins, in an `smem.view` of
            memory of the program; None for an `smem.alloc`.
        seed: the seed of the values.
        registers: whether A is loaded into registers before it is multiplied.
        vectors: whether D, and an A in registers, pass through vectors of each thread.
        stores: whether the threads fill the view by their own stores, at offsets in its memory.
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
    ctas: int
    a: GemmOperand
    b: GemmOperand
    view: int | None
    seed: int
    registers: bool = False
    vectors: bool = False
    stores: bool = False

    @classmethod
    def draw(cls, choose: Choose) -> GemmCase:
        """Draw a random program."""
        a, b = GemmOperand.draw(choose, "A"), GemmOperand.draw(choose, "B")
        # Only a forced swizzled layout can begin anywhere.
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
            choose("ctas", (1, 1, 2)),
            a,
            b,
            view,
            choose("seed", range(1 << 16)),
        )

    @classmethod
    def from_seed(cls, seed: int) -> GemmCase:
        """The first program of a seed that fits into shared memory."""
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
        """Whether its tiles and accumulators fit, including the padding of swizzles."""
        padded = [
            -(-rows // 64) * 64 * -(-columns // 64) * 64 * 2
            for rows, columns in (self.a_tile, self.b_tile)
        ]
        registers = self.m * self.n // 128
        if self.view is not None:
            return padded[0] + 1024 <= _RESERVED and padded[1] + _RESERVED <= _MAX_BYTES
        return self.stages * sum(padded) <= _MAX_BYTES and registers <= 128

    def fits_on(self, arch: str) -> bool:
        """Whether it fits an architecture, including the columns of tensor memory."""
        # A takes one column for each 32 bits along K.
        of_a = self.k // 2 if self.registers else 0
        columns = (self.n + of_a) * -(-self.m // 128) * self.warpgroups
        return self.fits and (arch == "sm_90a" or columns <= _TENSOR_COLUMNS)

    @property
    def reserved_bytes(self) -> int:
        """Bytes of shared memory that the program uses without `smem.alloc`."""
        return 0 if self.view is None else _RESERVED

    @property
    def grid(self) -> tuple[int]:
        """The grid."""
        return (self.ctas,)

    # -- data --------------------------------------------------------------------------------------

    def inputs(self) -> dict[str, np.ndarray]:
        """A and B, normally distributed."""
        random = np.random.default_rng(self.seed)
        arrays = {}
        (a_rows, a_columns), (b_rows, b_columns) = self.a_tile, self.b_tile
        for name, shape, row_major in (
            ("A", (a_rows, a_columns * self.chunks), self.a.major == "k"),
            ("B", (b_rows * self.chunks, b_columns * self.ctas), self.b.major == "mn"),
        ):
            values = random.standard_normal(shape).astype(DTYPES[self.element])
            arrays[name] = np.asarray(values, order="C" if row_major else "F")
        return arrays

    def product(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """D in float64, and the allowed error.

        The bound is that of `tests/support/gpu_reference.py`, plus half a ULP of the result.
        """
        a, b = (inputs[name].astype(np.float64) for name in "AB")
        m, n = self.m * self.warpgroups, self.n
        exact = np.zeros((m, n * self.ctas))
        size = np.zeros_like(exact)
        for i in range(self.chunks):
            for cta in range(self.ctas):
                left = a[self.a.margin[0] :, i * self.a_tile[1] + self.a.margin[1] :][:m, : self.k]
                right = b[
                    i * self.b_tile[0] + self.b.margin[1] :,
                    cta * self.b_tile[1] + self.b.margin[0] :,
                ][: self.k, :n]
                columns = slice(cta * n, (cta + 1) * n)
                exact[:, columns] += left @ right
                size[:, columns] += np.abs(left) @ np.abs(right)
        bound = 2 * self.k * self.chunks * 2.0**-23 * size
        unit = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[self.result]
        return exact, bound + unit * (np.abs(exact) + bound)

    # -- text --------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The kernel."""
        return _text_of(self)

    def kernel(self, arch: str = "sm_90a") -> KernelCase:
        """The kernel, its inputs and its result."""
        inputs = self.inputs()
        exact, bound = self.product(inputs)
        return KernelCase(
            self.text,
            "product",
            inputs,
            "D",
            self.grid,
            exact,
            bound,
            self.reserved_bytes,
            arch,
            # tcgen05 reads A from tensor memory, to which its registers are copied.
            is_conclusive=arch == "sm_90a" or not self.registers,
        )


def describe(program: GemmCase) -> dict[str, Any]:
    """A description of a program, for a record."""
    return {
        "shape": [program.m, program.n, program.k, program.chunks],
        "element": program.element,
        "result": program.result,
        "a": f"{program.a.major}/{program.a.layout}",
        "b": f"{program.b.major}/{program.b.layout}",
    }


# -- text ------------------------------------------------------------------------------------------


def _text_of(p: GemmCase) -> str:
    """The kernel, as MLIR with `smem` ops."""
    (am, ak), (bk, bn) = p.a_tile, p.b_tile
    a_rows, b_rows, d_rows = p.a.major == "k", p.b.major == "mn", not p.column_major
    element, m = p.element, p.m * p.warpgroups
    types = {
        "A": _matrix(am, ak * p.chunks, element, a_rows),
        "B": _matrix(bk * p.chunks, bn * p.ctas, element, b_rows),
        "D": _matrix(m, p.n * p.ctas, p.result, d_rows),
        "ga": _subview(am, ak, element, a_rows, ak * p.chunks if a_rows else am),
        "gb": _subview(bk, bn, element, b_rows, bn * p.ctas if b_rows else bk * p.chunks),
        "gd": _subview(p.m, p.n, p.result, d_rows, p.n * p.ctas if d_rows else m),
        "ra": _tile((p.stages, am, ak), element, _layout(p.a, a_rows)),
        "rb": _tile((p.stages, bk, bn), element, _layout(p.b, b_rows)),
        "ta": _tile((am, ak), element, _layout(p.a, a_rows)),
        "tb": _tile((bk, bn), element, _layout(p.b, b_rows)),
        "pa": _tile((p.m, p.k), element, "#smem.auto"),
        "pb": _tile((p.k, p.n), element, "#smem.auto"),
        "fa": f"!smem.fragment<tensor<{p.m}x{p.k}x{element}>, #smem.a_fragment>",
        "flying": f"!smem.fragment<tensor<{p.m}x{p.n}xf32>, #smem.in_flight>",
        "ready": f"!smem.fragment<tensor<{p.m}x{p.n}xf32>, #smem.accumulator>",
        "unit": f"vector<8x{element}>",
        "va": f"vector<{p.m * p.k // 128}x{element}>",
        "vd": f"vector<{p.m * p.n // 128}xf32>",
        "bytes": "memref<?xi8, #gpu.address_space<workgroup>>",
        "buffer": f"memref<{_whole_atoms(am) * _whole_atoms(ak)}x{element}, "
        "#gpu.address_space<workgroup>>",
    }
    numbers = {
        "c0": 0,
        "c1": 1,
        "c128": 128,
        "c8": 8,
        "threads": 128 * p.warpgroups,
        "units": am * ak // 8,
        "per_row": ak // 8,
        "chunks": p.chunks,
        "stages": p.stages,
        "m": p.m,
        "n": p.n,
        "ak": ak,
        "bk": bk,
        "bn": bn,
        "am0": p.a.margin[0],
        "ak0": p.a.margin[1],
        "bk0": p.b.margin[1],
        "bn0": p.b.margin[0],
        "lines": 128 * (p.view or 0),
        "a_at": p.a.split or 0,
        "b_at": p.b.split or 0,
    }
    aliases = "\n".join(f"!{name} = {type_}" for name, type_ in types.items())
    constants = "\n    ".join(
        f"%{name} = arith.constant {number} : index" for name, number in numbers.items()
    )
    # With several stages, a copy overwrites what the mma two iterations ago or earlier has read.
    # Each iteration writes the registers of A.
    pending = 0 if p.stages == 1 or p.registers else 1
    return f"""{aliases}
gpu.module @kernels {{
  gpu.func @product(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {128 * p.warpgroups}, 1, 1>}} {{
    {constants}
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %nothing = gpu.block_id y
    %warpgroup = arith.divui %thread, %c128 : index
    %first = arith.muli %warpgroup, %m : index
    %row = arith.addi %first, %am0 : index
    %ka = arith.addi %nothing, %ak0 : index
    %kb = arith.addi %nothing, %bk0 : index
    %column = arith.addi %nothing, %bn0 : index
    %a_split = arith.addi %nothing, %a_at : index
    %b_split = arith.addi %nothing, %b_at : index
    %from = arith.muli %block, %bn : index
    %to = arith.muli %block, %n : index
    %zero = arith.constant 0.0 : f32
    {_alloc_or_view(p)}
    %rb = "smem.alloc"() : () -> !rb
    %start = "smem.fill"(%zero) : (f32) -> !flying
    %sum = scf.for %i = %c0 to %chunks step %c1 iter_args(%acc = %start) -> (!flying) {{
      %slot = arith.remui %i, %stages : index
      %ia = arith.muli %i, %ak : index
      %ib = arith.muli %i, %bk : index
      %ga = memref.subview %A[0, %ia] [{am}, {ak}] [1, 1] : !A to !ga
      %gb = memref.subview %B[%ib, %from] [{bk}, {bn}] [1, 1] : !B to !gb
      {'%ta = "smem.stage"(%ra, %slot) : (!ra, index) -> !ta' if p.view is None else ""}
      %tb = "smem.stage"(%rb, %slot) : (!rb, index) -> !tb
      {_copies(p)}
      "smem.fence"() : () -> ()
      gpu.barrier
      {_subtile_of_a(p)}
      {_subtile_of_b(p)}
      {_mma(p)}
      %on = "smem.wait"(%d) {{pending = {pending} : i32}} : (!flying) -> !flying
      gpu.barrier
      scf.yield %on : !flying
    }}
    %summed = "smem.wait"(%sum) {{pending = 0 : i32}} : (!flying) -> !ready
    {_through_vector("done", "summed", "vd", "ready", p.vectors)}
    %gd = memref.subview %D[%first, %to] [{p.m}, {p.n}] [1, 1] : !D to !gd
    "smem.store"(%{"done" if p.vectors else "summed"}, %gd) : (!ready, !gd) -> ()
    gpu.return
  }}
}}
"""


def _matrix(rows: int, columns: int, element: str, row_major: bool) -> str:
    layout = "" if row_major else f", strided<[1, {rows}]>"
    return f"memref<{rows}x{columns}x{element}{layout}>"


def _subview(rows: int, columns: int, element: str, row_major: bool, pitch: int) -> str:
    strides = f"[{pitch}, 1]" if row_major else f"[1, {pitch}]"
    return f"memref<{rows}x{columns}x{element}, strided<{strides}, offset: ?>>"


def _tile(shape: tuple[int, ...], element: str, layout: str) -> str:
    return f"!smem.tile<tensor<{'x'.join(map(str, shape))}x{element}>, {layout}>"


def _layout(operand: GemmOperand, row_major: bool) -> str:
    if operand.layout == "auto":
        return "#smem.auto"
    order = "row-major" if row_major else "column-major"
    return f'#smem.swizzle<"{operand.layout}", "{order}">'


def _whole_atoms(extent: int) -> int:
    return -(-extent // 64) * 64


def _alloc_or_view(p: GemmCase) -> str:
    if p.view is None:
        return '%ra = "smem.alloc"() : () -> !ra'
    return """%bytes = gpu.dynamic_shared_memory : !bytes
    %buffer = memref.view %bytes[%lines][] : !bytes to !buffer
    %ta = "smem.view"(%buffer) {alignment = 128} : (!buffer) -> !ta"""


#: The threads store each 16 bytes of A where the layout of the view has them.
_STORES = """scf.for %u = %thread to %units step %threads {
        %line = arith.divui %u, %per_row : index
        %within = arith.remui %u, %per_row : index
        %along = arith.muli %within, %c8 : index
        %moved = vector.load %ga[%line, %along] : !ga, !unit
        %place = "smem.offset"(%ta, %line, %along) {vector = array<i64: 1, 8>}
          : (!ta, index, index) -> index
        vector.store %moved, %buffer[%place] : !buffer, !unit
      }"""


def _copies(p: GemmCase) -> str:
    (am, ak), (bk, bn) = p.a_tile, p.b_tile
    a_rows, b_rows = p.a.major == "k", p.b.major == "mn"
    a_pitch = ak * p.chunks if a_rows else am
    b_pitch = bn * p.ctas if b_rows else bk * p.chunks
    copy_of_a = _copy("a", p.a, p.element, p.a_tile, a_rows, a_pitch)
    copies = [
        *([_STORES] if p.stores else copy_of_a),
        *_copy("b", p.b, p.element, p.b_tile, b_rows, b_pitch),
    ]
    if p.a.asynchronous or p.b.asynchronous:
        copies += ['"smem.copy_commit"() : () -> ()']
        copies += ['"smem.copy_wait"() {pending = 0 : i32} : () -> ()']
    return "\n      ".join(copies)


def _copy(
    name: str,
    operand: GemmOperand,
    element: str,
    shape: tuple[int, int],
    row_major: bool,
    pitch: int,
) -> list[str]:
    """The copy that fills a tile, or two copies to two subtiles where it is split."""
    op = "smem.copy_async" if operand.asynchronous else "smem.copy"
    extent, split = shape[row_major], operand.split
    if split is None or split >= extent:
        return [f'"{op}"(%g{name}, %t{name}) : (!g{name}, !t{name}) -> ()']
    lines = []
    for i, (start, size) in enumerate([(0, split), (split, extent - split)]):
        offset, part = (
            ((0, start), (shape[0], size)) if row_major else ((start, 0), (size, shape[1]))
        )
        source = _subview(*part, element, row_major, pitch)
        target = _tile(part, element, "#smem.auto")
        lines += [
            f"%g{name}{i} = memref.subview %g{name}[{offset[0]}, {offset[1]}] [{part[0]}, "
            f"{part[1]}] [1, 1]"
            f" : !g{name} to {source}",
            # The second subtile has a run-time start.
            _subtile(
                f"{name}{i}",
                [
                    (0, "", 0, False),
                    (start, f"%{name}_split", 8, operand.run_time and i == 1),
                ][:: 1 if row_major else -1],
                tile=name,
                type_=target,
            ),
            f'"{op}"(%g{name}{i}, %p{name}{i}) : ({source}, {target}) -> ()',
        ]
    return lines


def _mma(p: GemmCase) -> str:
    a = "pa"
    lines = []
    if p.registers:
        a = "fa"
        loaded = "loaded" if p.vectors else "fa"
        lines.append(f'%{loaded} = "smem.load"(%pa) : (!pa) -> !fa')
        lines.append(_through_vector("fa", "loaded", "va", "fa", p.vectors))
    lines.append(f'%d = "smem.mma"(%{a}, %pb, %acc) : (!{a}, !pb, !flying) -> !flying')
    return "\n      ".join(lines)


def _through_vector(result: str, value: str, vector: str, fragment: str, used: bool) -> str:
    """The lines that make fragment `result` of the registers of `value`; empty if not used."""
    if not used:
        return ""
    return (
        f'%v_{value} = "smem.to_registers"(%{value}) : (!{fragment}) -> !{vector}\n      '
        f'%{result} = "smem.from_registers"(%v_{value}) : (!{vector}) -> !{fragment}'
    )


def _subtile_of_a(p: GemmCase) -> str:
    rows, k = p.a.margin
    # A warpgroup's rows have a run-time start.
    return _subtile(
        "a",
        [
            (rows, "%row", _rows_multiple(p.a), p.a.run_time or p.warpgroups > 1),
            (k, "%ka", 16, p.a.run_time),
        ],
    )


def _subtile_of_b(p: GemmCase) -> str:
    columns, k = p.b.margin
    return _subtile(
        "b", [(k, "%kb", 16, p.b.run_time), (columns, "%column", _rows_multiple(p.b), p.b.run_time)]
    )


def _rows_multiple(operand: GemmOperand) -> int:
    """The promised divisor of a run-time start along M or N."""
    if operand.major == "mn":
        return 64
    return 8 if operand.margin[0] % 8 == 0 else 1


def _subtile(
    name: str,
    starts: list[tuple[int, str, int, bool]],
    tile: str | None = None,
    type_: str | None = None,
) -> str:
    """The lines of subtile `name`.

    Each dimension has its start, the value that holds it, the value's divisor, and whether it is used.
    """
    static = ", ".join(str(_DYNAMIC if used else start) for start, _, _, used in starts)
    values = [(value, multiple) for _, value, multiple, used in starts if used]
    operands = "".join(f", {value}" for value, _ in values)
    types = ", index" * len(values)
    promise = (
        f", multiple_of = array<i64: {', '.join(str(m) for _, m in values)}>" if values else ""
    )
    attributes = f"static_offsets = array<i64: {static}>{promise}"
    return (
        f'%p{name} = "smem.subtile"(%t{tile or name}{operands}) {{{attributes}}}'
        f" : (!t{tile or name}{types}) -> {type_ or f'!p{name}'}"
    )
