"""Random warp-specialized kernels: threads that load by TMA, warpgroups that multiply and store.

They have one pipeline or one for each operand; single CTAs, clusters with multicast, or CTA pairs; block
scaling or not; several tiles, so that pipelines wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlir_smem.layout.banks import MAX_BYTES
from mlir_smem.layout.tcgen05 import blocked, scaled_rows

from .choices import Choose
from .elements import DTYPES, pack_elements
from .kernels import KernelCase


@dataclass(frozen=True)
class OperandFormat:
    """Types of A and B.

    Attributes:
        element: MLIR type of elements of A and B in tiles.
        bits: bits of an element.
        storage: MLIR type in global memory.
        archs: the architectures that have an mma of it.
        line_bytes: the bytes along K that a stage can have.
        factor: MLIR type of scale factors; None without.
        block: elements along K that share a scale factor.
    """

    element: str
    bits: int
    storage: str
    archs: tuple[str, ...]
    line_bytes: tuple[int, ...] = (32, 64, 128)
    factor: str | None = None
    block: int = 0

    @property
    def per_storage_element(self) -> int:
        """Elements in one element of global memory."""
        return 2 if self.bits == 4 else 1

    @property
    def accumulator(self) -> str:
        """MLIR type of the accumulator."""
        return "i32" if self.element == "i8" else "f32"


#: The static offset of a dimension whose offset is an operand (`ShapedType::kDynamic`).
_DYNAMIC = -(1 << 63)

#: Types of the operands of a pipeline op.
_STEP = "(!pipeline, index)"

#: The most K steps of all warpgroups of all CTAs together, so that the emulator is fast.
_MOST_WORK = 24

_ALL, _BLACKWELL = ("sm_90a", "sm_100a", "sm_103a"), ("sm_100a", "sm_103a")

FORMATS = {
    "bf16": OperandFormat("bf16", 16, "bf16", _ALL),
    "f16": OperandFormat("f16", 16, "f16", _ALL),
    "tf32": OperandFormat("tf32", 32, "f32", _ALL),
    "e4m3": OperandFormat("f8E4M3FN", 8, "f8E4M3FN", _ALL),
    "i8": OperandFormat("i8", 8, "i8", ("sm_90a", "sm_100a")),
    "mxfp8": OperandFormat("f8E4M3FN", 8, "f8E4M3FN", _BLACKWELL, (128,), "f8E8M0FNU", 32),
    "mxfp4": OperandFormat("f4E2M1FN", 4, "i8", _BLACKWELL, (64, 128), "f8E8M0FNU", 32),
    "nvfp4": OperandFormat("f4E2M1FN", 4, "i8", _BLACKWELL, (32, 64, 128), "f8E4M3FN", 16),
}


@dataclass(frozen=True)
class PipelineCase:
    """A kernel D = A * B, or D = (A * SA) * (B * SB).

    Attributes:
        arch: the architecture.
        format: a name of `FORMATS`.
        result: MLIR type of D.
        a_major, b_major: "k" or "mn".
        rows: rows of D that each warpgroup computes.
        consumers: warpgroups of a CTA that multiply.
        n: columns of B that each CTA loads; a CTA pair computes twice as many columns of D.
        line_bytes: bytes along K of a stage.
        steps: iterations along K.
        tail: units of 16 bytes along K that the last iteration lacks; zeros are loaded for them.
        tiles: tiles of D that each CTA computes, next to each other.
        stages: stages of each pipeline.
        loaders: threads that load: one, or one for A and one for B.
        cluster: CTAs along M, which share B, and along N, which share A.
        pair: whether the two CTAs of a cluster multiply together.
        late: whether a stage is released when the next mma has started.
        store: "direct", by "tma" of each warpgroup, or "handed" to a thread that stores.
        buffers: buffers that are handed to the storing thread.
        parts: groups of columns, stored one after the other.
        grid: clusters along M and N.
        static: whether the extents are known to the compiler.
        seed: the seed of the values.
    """

    arch: str
    format: str
    result: str
    a_major: str
    b_major: str
    rows: int
    consumers: int
    n: int
    line_bytes: int
    steps: int
    tail: int
    tiles: int
    stages: tuple[int, ...]
    loaders: int
    cluster: tuple[int, int]
    pair: bool
    late: bool
    store: str
    buffers: int
    parts: int
    grid: tuple[int, int]
    static: bool
    seed: int

    @classmethod
    def draw(cls, choose: Choose) -> PipelineCase:
        """Draw a random kernel; it may not fit."""
        arch = choose("arch", _ALL)
        name = choose("format", [name for name, f in FORMATS.items() if arch in f.archs])
        operands = FORMATS[name]
        majors = ("k", "mn") if operands.bits == 16 else ("k",)
        pair = arch != "sm_90a" and choose("pair", (False, True))
        consumers = choose("consumers", (1, 2))
        results = ("i32",) if operands.accumulator == "i32" else ("f32", "bf16", "f16")
        columns = (64, 128) if pair else (128, 256)
        long = (
            arch == "sm_103a" and operands.bits == 4 and choose("48 bytes", (False,) * 9 + (True,))
        )
        return cls(
            arch,
            name,
            choose("result", results),
            choose("A major", majors),
            choose("B major", majors),
            128 if operands.factor or pair else choose("rows", (64, 128)),
            consumers,
            choose("n", columns if operands.factor else (16, 32, 64, 96, 128)),
            384 if long else choose("line bytes", operands.line_bytes),
            choose("steps", (1, 2, 3, 5)),
            0 if operands.factor else choose("tail", (0, 0, 1)),
            choose("tiles", (1, 2, 3)),
            choose("stages", ((2,), (3,), (4,), (2, 2), (2, 3), (4, 2), (1,), (1, 2))),
            choose("loaders", (1, 2)),
            (2, 1) if pair else choose("cluster", ((1, 1), (1, 1), (2, 1), (1, 2), (2, 2))),
            pair,
            choose("late", (False, True)),
            choose("store", ("direct", "tma", "handed")),
            choose("buffers", (1, 2, 3)),
            choose("parts", (1, 2)),
            choose("grid", ((1, 1), (1, 1), (1, 1), (2, 1), (1, 2))),
            choose("static", (True, False)),
            choose("seed", range(1 << 16)),
        )

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def operands(self) -> OperandFormat:
        """The types of A and B."""
        return FORMATS[self.format]

    @property
    def depth(self) -> int:
        """Elements along K of a stage."""
        return self.line_bytes * 8 // self.operands.bits

    @property
    def columns(self) -> int:
        """Columns of D that a CTA computes at a time."""
        return self.n * (2 if self.pair else 1)

    @property
    def factors(self) -> int:
        """Scale factors of a row of a stage."""
        return self.depth // self.operands.block

    @property
    def cta_rows(self) -> int:
        """Rows of D that a CTA computes."""
        return self.rows * self.consumers

    @property
    def ctas(self) -> tuple[int, int]:
        """CTAs along M and N."""
        (x, y), (along_m, along_n) = self.grid, self.cluster
        return x * along_m, y * along_n

    @property
    def extents(self) -> tuple[int, int, int]:
        """M, N and K, in elements."""
        x, y = self.ctas
        k = self.depth * self.steps - self.tail * 128 // self.operands.bits
        return self.cta_rows * x, self.columns * self.tiles * y, k

    @property
    def part(self) -> int:
        """Columns of D that are stored at a time."""
        return self.columns // self.parts

    @property
    def stores(self) -> int:
        """Buffers of a tile of D that a CTA hands to the storing thread."""
        return self.consumers * self.parts

    @property
    def store_stages(self) -> int:
        """Stages of the pipeline of buffers.

        Each holds one group of columns of every tile, so that its waiter sees all of its phases.
        """
        return self.stores * -(-self.buffers // self.stores)

    @property
    def _goes_round(self) -> bool:
        """Whether each pipeline uses each stage at least three times."""
        stored = self.store != "handed" or self.tiles * self.stores > 2 * self.store_stages
        return self.tiles * self.steps > 2 * max(self.stages) and stored

    @property
    def fits(self) -> bool:
        """Whether such a kernel is legal."""
        of_d = np.dtype(DTYPES[self.result]).itemsize
        lines = [self.cta_rows, self.n]
        if self.operands.factor:
            # The scale factors of a row, in bytes.
            lines = [lines[0], lines[1] + scaled_rows(self.columns) - self.n]
        of_factors = self.factors if self.operands.factor else 0
        stages = self.stages if len(self.stages) == 2 else self.stages * 2
        size = sum(
            count * rows * (self.line_bytes + of_factors)
            for count, rows in zip(stages, lines, strict=True)
        )
        if self.store != "direct":
            buffers = self.buffers if self.store == "handed" else self.consumers
            size += buffers * self.rows * self.part * of_d
        work = self.ctas[0] * self.ctas[1] * self.tiles * (self.steps + 1) * self.consumers
        shares = self.n // self.cluster[0] % 8 == 0 and self.cta_rows // self.cluster[1] % 8 == 0
        return (
            size + 2048 <= MAX_BYTES
            and work <= _MOST_WORK
            and self.rows * self.columns <= 128 * 128
            and self.part % 8 == 0
            and (self.store == "direct" or self.part * of_d % 16 == 0)
            and (self.pair or shares)
            # A consumer that releases a stage only after the next one arrived holds two.
            and (not self.late or min(self.stages) > 1)
            and self.extents[2] > self.depth * (self.steps - 1)
        )

    # -- data --------------------------------------------------------------------------------------

    def inputs(self) -> dict[str, np.ndarray]:
        """The arguments. All products and sums of the numbers are exact; D is zero."""
        values = self._values()
        a, b = (pack_elements(values[name], self.operands.element) for name in "AB")
        m, n, _ = self.extents
        orders = {"k": "C", "mn": "F"}
        arrays = {
            "A": np.asarray(a, order=orders[self.a_major]),
            "B": np.asarray(b, order=orders[self.b_major]).T,
        }
        if self.operands.factor:
            arrays |= {name: blocked(values[name]) for name in ("SA", "SB")}
        return arrays | {"D": np.zeros((m, n), DTYPES[self.result])}

    def expected_result(self) -> np.ndarray:
        """D."""
        wide = {name: array.astype(np.float64) for name, array in self._values().items()}
        a, b = (wide[name] for name in "AB")
        if self.operands.factor:
            a, b = (wide[n] * np.repeat(wide[f"S{n}"], self.operands.block, 1) for n in "AB")
        product = a @ b.T
        if self.result == "i32":
            return product.astype(np.int32)
        return product.astype(np.float32).astype(DTYPES[self.result])

    def _values(self) -> dict[str, np.ndarray]:
        """A and B, [m or n, k], and their scale factors."""
        random = np.random.default_rng(self.seed)
        m, n, k = self.extents
        drawn = [0, 1, 2, -1, -2] if self.operands.element == "i8" else [0, 0.5, 1, 1.5, 2, -1, -2]
        arrays = {}
        for name, rows in (("A", m), ("B", n)):
            arrays[name] = random.choice(drawn, (rows, k)).astype(DTYPES[self.operands.element])
            if self.operands.factor:
                powers = 2.0 ** random.integers(-2, 3, (rows, k // self.operands.block))
                arrays[f"S{name}"] = powers.astype(DTYPES[self.operands.factor])
        return arrays

    @property
    def text(self) -> str:
        """The kernel."""
        return _PipelineText(self).module()

    def kernel(self) -> KernelCase:
        """The kernel, its inputs and its result."""
        exact = self.expected_result().astype(np.float64)
        return KernelCase(
            self.text,
            "product",
            self.inputs(),
            "D",
            self.ctas,
            exact,
            np.zeros_like(exact),
            arch=self.arch,
            is_conclusive=self.static and self._goes_round,
        )


class _PipelineText:
    """The sections of a kernel's text.

    Attributes:
        pipelines: the name of each pipeline, and the operands that it loads.
    """

    def __init__(self, p: PipelineCase) -> None:
        self.p = p
        names = [["A", "B"]] if len(p.stages) == 1 else [["A"], ["B"]]
        if p.operands.factor:
            names = [[*pipeline, *(f"S{name}" for name in pipeline)] for pipeline in names]
        self.pipelines = {f"%pipeline{i}": pipeline for i, pipeline in enumerate(names)}

    def module(self) -> str:
        p = self.p
        aliases = "\n".join(f"!{name} = {type_}" for name, type_ in self._types().items())
        constants = "\n    ".join(
            f"%{name} = arith.constant {number} : index" for name, number in self._numbers().items()
        )
        names = [name for names in self.pipelines.values() for name in names]
        arguments = ", ".join(f'%{n}: !{n} {{smem.name = "{n}"}}' for n in (*sorted(names), "D"))
        x, y = p.cluster
        cluster = f", known_cluster_size = array<i32: {x}, {y}, 1>" if x * y > 1 else ""
        steps = "%steps = arith.addi %c0, %all_steps : index"
        if not p.static:
            steps = "%k = memref.dim %A, %c1 : !A\n    %steps = arith.ceildivui %k, %held : index"
        return f"""{aliases}
gpu.module @kernels {{
  gpu.func @product({arguments})
      kernel attributes {{known_block_size = array<i32: {128 * (1 + p.consumers)}, 1, 1>{cluster}}} {{
    {constants}
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %rank = gpu.cluster_block_id x
    %row = arith.muli %bx, %block_rows : index
    %first_tile = arith.muli %by, %tiles : index
    %half = arith.muli %rank, %n : index
    {steps}
    {self._declarations()}
    "smem.warp_specialize"() ({{
      "smem.partition"() ({{
        {self._loaders()}
      }}) {{warpgroups = 1 : i32}} : () -> ()
      "smem.partition"() ({{
      ^bb0(%wg: index):
        {self._consumer()}
      }}) {{warpgroups = {p.consumers} : i32}} : () -> ()
    }}) : () -> ()
    gpu.return
  }}
}}
"""

    # -- declarations ------------------------------------------------------------------------------

    def _types(self) -> dict[str, str]:
        p, of_ab = self.p, self.p.operands
        m, n, k = p.extents
        stored_k = k // of_ab.per_storage_element
        if not p.static:
            m = n = stored_k = "?"
        stages = dict(zip("AB", p.stages * 2 if len(p.stages) == 1 else p.stages, strict=True))
        a_order = "" if p.a_major == "k" else f", strided<[1, {m}]>"
        b_order = "" if p.b_major == "mn" else f", strided<[1, {stored_k}]>"
        tiles = {"A": (p.cta_rows, p.depth), "B": (p.depth, p.n)}
        elements = dict.fromkeys(tiles, of_ab.element)
        types = {
            "A": f"memref<{m}x{stored_k}x{of_ab.storage}{a_order}>",
            "B": f"memref<{stored_k}x{n}x{of_ab.storage}{b_order}>",
            "D": f"memref<{m}x{n}x{p.result}>",
        }
        if of_ab.factor:
            for name, rows in (("SA", p.extents[0]), ("SB", p.extents[1])):
                blocks = f"{rows // 128}x{k // of_ab.block // 4}" if p.static else "?x?"
                types[name] = f"memref<{blocks}x32x4x4x{of_ab.factor}>"
                elements[name] = of_ab.factor
            tiles["SA"] = (p.cta_rows, p.factors)
            tiles["SB"] = (scaled_rows(p.columns), p.factors)
        for name, (rows, columns) in tiles.items():
            shape = f"{rows}x{columns}x{elements[name]}"
            types[f"{name}s"] = f"!smem.tile<tensor<{stages[name[-1]]}x{shape}>, #smem.auto>"
            types[f"{name}t"] = f"!smem.tile<tensor<{shape}>, #smem.auto>"
        if p.consumers > 1:
            for name in ("A", "SA") if of_ab.factor else ("A",):
                shape = f"{p.rows}x{tiles[name][1]}x{elements[name]}"
                types[f"{name}p"] = f"!smem.tile<tensor<{shape}>, #smem.auto>"
        count = p.buffers if p.store == "handed" else p.consumers
        columns = n if p.static else "?"
        fragment = f"!smem.fragment<tensor<{p.rows}x{{}}x{of_ab.accumulator}>, #smem.{{}}>"
        return types | {
            "pipeline": "!smem.pipeline",
            "running": fragment.format(p.columns, "in_flight"),
            "ready": fragment.format(p.columns, "accumulator"),
            "some": fragment.format(p.part, "accumulator"),
            "Ds": f"!smem.tile<tensor<{count}x{p.rows}x{p.part}x{p.result}>, #smem.auto>",
            "Dt": f"!smem.tile<tensor<{p.rows}x{p.part}x{p.result}>, #smem.auto>",
            "Dp": f"memref<{p.rows}x{p.part}x{p.result}, strided<[{columns}, 1], offset: ?>>",
        }

    def _numbers(self) -> dict[str, int]:
        p = self.p
        return {
            "c0": 0,
            "c1": 1,
            "block_rows": p.cta_rows,
            "rows": p.rows,
            "n": p.n,
            "columns": p.columns,
            "part": p.part,
            "parts": p.parts,
            "tiles": p.tiles,
            "all_steps": p.steps,
            "held": p.depth // p.operands.per_storage_element,
            "factors": p.factors if p.operands.factor else 0,
            "consumers": p.consumers,
            "stores": p.stores,
            "buffers": p.buffers,
            "store_stages": p.store_stages,
        }

    def _declarations(self) -> str:
        p = self.p
        lines = [
            f'%{name}s = "smem.alloc"() : () -> !{name}s'
            for names in self.pipelines.values()
            for name in names
        ]
        if p.store != "direct":
            lines.append('%Ds = "smem.alloc"() : () -> !Ds')
        for stages, (pipeline, names) in zip(p.stages, self.pipelines.items(), strict=True):
            producers = p.loaders if "A" in names and "B" in names else 1
            lines.append(_pipeline(pipeline, stages, producers, p.consumers))
        if p.store == "handed":
            lines.append(_pipeline("%stored", p.store_stages, 1, 1))
        return "\n    ".join(lines)

    # -- loading -----------------------------------------------------------------------------------

    def _loaders(self) -> str:
        p = self.p
        threads = ["AB"] if p.loaders == 1 else ["A", "B"]
        texts = [self._loader(names, warp) for warp, names in enumerate(threads)]
        if p.store == "handed":
            texts.append(self._sender(len(threads)))
        return "\n        ".join(texts)

    def _loader(self, operands: str, warp: int) -> str:
        lines = []
        for pipeline, names in self.pipelines.items():
            loaded = [name for name in names if name[-1] in operands]
            if loaded:
                slot = f"%slot{pipeline[1:]}"
                lines.append(
                    f'{slot} = "smem.producer_acquire"({pipeline}, %step) : {_STEP} -> index'
                )
                for name in loaded:
                    lines += [
                        f'%{name}t = "smem.stage"(%{name}s, {slot}) : (!{name}s, index) -> !{name}t',
                        self._load(name, pipeline),
                    ]
                lines.append(f'"smem.producer_commit"({pipeline}, %step) : {_STEP} -> ()')
        body = "\n              ".join(lines)
        return f"""\
"smem.elect"() ({{
          scf.for %t = %c0 to %tiles step %c1 {{
            {_tile_of_d()}
            %own = arith.addi %column, %half : index
            scf.for %i = %c0 to %steps step %c1 {{
              %step = arith.addi %first, %i : index
              %at = arith.muli %i, %held : index
              %factor = arith.muli %i, %factors : index
              {body}
            }}
          }}
        }}) {{scope = "warpgroup", warp = {warp} : i32}} : () -> ()"""

    def _load(self, name: str, pipeline: str) -> str:
        p = self.p
        column = "%own" if p.pair else "%column"
        coordinates = {
            "A": ("%row", "%at"),
            "B": ("%at", column),
            "SA": ("%row", "%factor"),
            "SB": ("%column", "%factor"),
        }[name]
        along_m, along_n = p.cluster
        shared = {"A": ("y", along_n), "B": ("x", along_m)}.get(name, ("", 1))
        multicast = f' {{multicast = "{shared[0]}"}}' if shared[1] > 1 and not p.pair else ""
        return (
            f'"smem.tma_load"(%{name}, %{name}t, {pipeline}, %step, {coordinates[0]}, '
            f"{coordinates[1]}){multicast}"
            f" : (!{name}, !{name}t, !pipeline, index, index, index) -> ()"
        )

    def _sender(self, warp: int) -> str:
        """A thread that stores what warpgroups have written; it provides the buffers as a producer."""
        ahead = min(1, self.p.buffers - 1)
        free = "\n          ".join(
            f"%free{i} = arith.constant {i} : index\n          "
            f'"smem.producer_commit"(%stored, %free{i}) : {_STEP} -> ()'
            for i in range(self.p.buffers - ahead)
        )
        return f"""\
"smem.elect"() ({{
          {free}
          %behind = arith.constant {self.p.buffers - ahead} : index
          scf.for %t = %c0 to %tiles step %c1 {{
            {_tile_of_d()}
            scf.for %i = %c0 to %stores step %c1 {{
              %of = arith.divui %i, %parts : index
              %at = arith.remui %i, %parts : index
              %before = arith.muli %t, %stores : index
              %step = arith.addi %before, %i : index
              %own_row = arith.muli %of, %rows : index
              %r = arith.addi %row, %own_row : index
              %own_column = arith.muli %at, %part : index
              %c = arith.addi %column, %own_column : index
              %written = arith.addi %step, %store_stages : index
              %slot = "smem.producer_acquire"(%stored, %written) : {_STEP} -> index
              %buffer = arith.remui %step, %buffers : index
              %Dt = "smem.stage"(%Ds, %buffer) : (!Ds, index) -> !Dt
              "smem.tma_store"(%Dt, %D, %r, %c) : (!Dt, !D, index, index) -> ()
              "smem.tma_commit"() : () -> ()
              "smem.tma_wait"() {{pending = {ahead} : i32, read}} : () -> ()
              %next = arith.addi %step, %behind : index
              "smem.producer_commit"(%stored, %next) : {_STEP} -> ()
            }}
          }}
          "smem.tma_wait"() {{pending = 0 : i32, read}} : () -> ()
        }}) {{scope = "warpgroup", warp = {warp} : i32}} : () -> ()"""

    # -- multiplying -------------------------------------------------------------------------------

    def _consumer(self) -> str:
        loop = self._late() if self.p.late else self._early()
        return f"""\
%own_row = arith.muli %wg, %rows : index
        %r = arith.addi %row, %own_row : index
        scf.for %t = %c0 to %tiles step %c1 {{
          {_tile_of_d()}
          {loop}
          {self._store()}
        }}"""

    def _early(self) -> str:
        """Release a stage as soon as its mma has completed."""
        zero = "0" if self.p.operands.accumulator == "i32" else "0.0"
        accumulator = self.p.operands.accumulator
        return f"""\
%zero = arith.constant {zero} : {accumulator}
          %start = "smem.fill"(%zero) : ({accumulator}) -> !running
          %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %start) -> (!running) {{
            %step = arith.addi %first, %i : index
            {self._multiply("%d", "%step", "%acc")}
            %over = "smem.wait"(%d) {{pending = 0 : i32}} : (!running) -> !running
            {self._release("%step")}
            scf.yield %over : !running
          }}
          %done = "smem.wait"(%sum) {{pending = 0 : i32}} : (!running) -> !ready"""

    def _late(self) -> str:
        """Release a stage when the mma of the next one has started."""
        return f"""\
{self._multiply("%d0", "%first")}
          %sum = scf.for %i = %c1 to %steps step %c1 iter_args(%acc = %d0) -> (!running) {{
            %step = arith.addi %first, %i : index
            {self._multiply("%d", "%step", "%acc")}
            %next = "smem.wait"(%d) {{pending = 1 : i32}} : (!running) -> !running
            %before = arith.subi %step, %c1 : index
            {self._release("%before")}
            scf.yield %next : !running
          }}
          %done = "smem.wait"(%sum) {{pending = 0 : i32}} : (!running) -> !ready
          %end = arith.addi %first, %steps : index
          %last = arith.subi %end, %c1 : index
          {self._release("%last")}"""

    def _multiply(self, result: str, step: str, accumulator: str = "") -> str:
        """The lines that wait for a stage and multiply it."""
        p, lines, operands = self.p, [], {}
        for pipeline, names in self.pipelines.items():
            slot = f"%slot{pipeline[1:]}{result[1:]}"
            lines.append(f'{slot} = "smem.consumer_wait"({pipeline}, {step}) : {_STEP} -> index')
            for name in names:
                tile = f"%{name}{result[1:]}"
                lines.append(
                    f'{tile} = "smem.stage"(%{name}s, {slot}) : (!{name}s, index) -> !{name}t'
                )
                operands[name] = (tile, f"!{name}t")
                if name[-1] == "A" and p.consumers > 1:
                    operands[name] = (f"{tile}p", f"!{name}p")
                    lines.append(
                        f'{tile}p = "smem.subtile"({tile}, %own_row) '
                        f"{{static_offsets = array<i64: {_DYNAMIC}, 0>, "
                        f"multiple_of = array<i64: {p.rows}>}} : (!{name}t, index) -> !{name}p"
                    )
        values = [operands[name] for name in ("A", "B", "SA", "SB") if name in operands]
        values += [(accumulator, "!running")] if accumulator else []
        op, pair = "mma_scaled" if p.operands.factor else "mma", " {pair}" if p.pair else ""
        lines.append(
            f'{result} = "smem.{op}"({", ".join(value for value, _ in values)}){pair}'
            f" : ({', '.join(type_ for _, type_ in values)}) -> !running"
        )
        return "\n            ".join(lines)

    def _release(self, step: str) -> str:
        lines = [
            f'"smem.consumer_release"({pipeline}, {step}) : {_STEP} -> ()'
            for pipeline in self.pipelines
        ]
        return "\n            ".join(lines)

    # -- storing -----------------------------------------------------------------------------------

    def _store(self) -> str:
        return "\n          ".join(self._store_part(i) for i in range(self.p.parts))

    def _store_part(self, i: int) -> str:
        """The lines that store some columns."""
        p = self.p
        lines = [
            f"%first{i} = arith.constant {i * p.part} : index",
            f"%c{i}of = arith.addi %column, %first{i} : index",
            f'%some{i} = "smem.columns"(%done) {{first = {i * p.part} : i64}} : (!ready) -> !some',
        ]
        if p.store == "direct":
            lines += [
                f"%Dp{i} = memref.subview %D[%r, %c{i}of] [{p.rows}, {p.part}] [1, 1] : !D to !Dp",
                f'"smem.store"(%some{i}, %Dp{i}) : (!some, !Dp) -> ()',
            ]
        elif p.store == "tma":
            lines += [
                f'%Dt{i} = "smem.stage"(%Ds, %wg) : (!Ds, index) -> !Dt',
                f'"smem.store"(%some{i}, %Dt{i}) : (!some, !Dt) -> ()',
                '"smem.fence"() : () -> ()',
                '"smem.warpgroup_barrier"() : () -> ()',
                '"smem.elect"() ({',
                f'"smem.tma_store"(%Dt{i}, %D, %r, %c{i}of) : (!Dt, !D, index, index) -> ()',
                '"smem.tma_commit"() : () -> ()',
                '"smem.tma_wait"() {pending = 0 : i32, read} : () -> ()',
                '}) {scope = "warpgroup"} : () -> ()',
                '"smem.warpgroup_barrier"() : () -> ()',
            ]
        else:
            lines += [
                f"%turns{i} = arith.muli %t, %consumers : index",
                f"%turn{i} = arith.addi %turns{i}, %wg : index",
                f"%parts{i} = arith.muli %turn{i}, %parts : index",
                f"%number{i} = arith.constant {i} : index",
                f"%store{i} = arith.addi %parts{i}, %number{i} : index",
                f'%given{i} = "smem.consumer_wait"(%stored, %store{i}) : {_STEP} -> index',
                f"%buffer{i} = arith.remui %store{i}, %buffers : index",
                f'%Dt{i} = "smem.stage"(%Ds, %buffer{i}) : (!Ds, index) -> !Dt',
                f'"smem.store"(%some{i}, %Dt{i}) : (!some, !Dt) -> ()',
                '"smem.fence"() : () -> ()',
                f'"smem.consumer_release"(%stored, %store{i}) : {_STEP} -> ()',
            ]
        return "\n          ".join(lines)


def _tile_of_d() -> str:
    """The lines that compute where the tile of D of an iteration begins, and its first pipeline index."""
    return """\
%tile = arith.addi %first_tile, %t : index
            %column = arith.muli %tile, %columns : index
            %first = arith.muli %t, %steps : index"""


def _pipeline(name: str, stages: int, producers: int, consumers: int) -> str:
    counts = (
        f"stages = {stages} : i32, producers = {producers} : i32, consumers = {consumers} : i32"
    )
    return f'{name} = "smem.create_pipeline"() {{{counts}}} : () -> !pipeline'
