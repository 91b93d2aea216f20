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
from .elements import DTYPES, packed
from .kernels import Kernel


@dataclass(frozen=True)
class Format:
    """Types of A and B.

    Attributes:
        element: MLIR type of elements of A and B in tiles.
        bits: bits of an element.
        held: MLIR type in global memory.
        archs: the architectures that have an mma of it.
        line_bytes: the bytes along K that a stage can have.
        factor: MLIR type of scale factors; None without.
        block: elements along K that share a scale factor.
    """

    element: str
    bits: int
    held: str
    archs: tuple[str, ...]
    line_bytes: tuple[int, ...] = (32, 64, 128)
    factor: str | None = None
    block: int = 0

    @property
    def per_held(self) -> int:
        """Elements in one element of global memory."""
        return 2 if self.bits == 4 else 1

    @property
    def accumulator(self) -> str:
        """MLIR type of the accumulator."""
        return "i32" if self.element == "i8" else "f32"


#: The most K steps of all warpgroups of all CTAs together, so that the emulator is fast.
_MOST_WORK = 24

_ALL, _BLACKWELL = ("sm_90a", "sm_100a", "sm_103a"), ("sm_100a", "sm_103a")

FORMATS = {
    "bf16": Format("bf16", 16, "bf16", _ALL),
    "f16": Format("f16", 16, "f16", _ALL),
    "tf32": Format("tf32", 32, "f32", _ALL),
    "e4m3": Format("f8E4M3FN", 8, "f8E4M3FN", _ALL),
    "i8": Format("i8", 8, "i8", ("sm_90a", "sm_100a")),
    "mxfp8": Format("f8E4M3FN", 8, "f8E4M3FN", _BLACKWELL, (128,), "f8E8M0FNU", 32),
    "mxfp4": Format("f4E2M1FN", 4, "i8", _BLACKWELL, (64, 128), "f8E8M0FNU", 32),
    "nvfp4": Format("f4E2M1FN", 4, "i8", _BLACKWELL, (32, 64, 128), "f8E4M3FN", 16),
}


@dataclass(frozen=True)
class Pipeline:
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
    def draw(cls, choose: Choose) -> Pipeline:
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
    def operands(self) -> Format:
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
            each * rows * (self.line_bytes + of_factors)
            for each, rows in zip(stages, lines, strict=True)
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
        a, b = (packed(values[name], self.operands.element) for name in "AB")
        m, n, _ = self.extents
        orders = {"k": "C", "mn": "F"}
        made = {
            "A": np.asarray(a, order=orders[self.a_major]),
            "B": np.asarray(b, order=orders[self.b_major]).T,
        }
        if self.operands.factor:
            made |= {name: blocked(values[name]) for name in ("SA", "SB")}
        return made | {"D": np.zeros((m, n), DTYPES[self.result])}

    def expected(self) -> np.ndarray:
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
        found = {}
        for name, rows in (("A", m), ("B", n)):
            found[name] = random.choice(drawn, (rows, k)).astype(DTYPES[self.operands.element])
            if self.operands.factor:
                powers = 2.0 ** random.integers(-2, 3, (rows, k // self.operands.block))
                found[f"S{name}"] = powers.astype(DTYPES[self.operands.factor])
        return found

    @property
    def text(self) -> str:
        """The kernel."""
        from .pipeline_text import text_of

        return text_of(self)

    def kernel(self) -> Kernel:
        """The kernel, its inputs and its result."""
        exact = self.expected().astype(np.float64)
        return Kernel(
            self.text,
            "product",
            self.inputs(),
            "D",
            self.ctas,
            exact,
            np.zeros_like(exact),
            arch=self.arch,
            tells=self.static and self._goes_round,
        )
