"""Random GEMMs through shared memory, in every form that lowers, with the result of each."""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .choices import Choose
from .elements import DTYPES
from .kernels import Kernel

SWIZZLES = ("auto", "none", "32B", "64B", "128B")

#: Bytes of shared memory that a program may use; a view is in the reserved bytes.
_MAX_BYTES = 227 * 1024
_RESERVED = 64 * 1024

#: Columns of tensor memory of a CTA (PTX ISA 9.7.16.1).
_TENSOR_COLUMNS = 512


@dataclass(frozen=True)
class Operand:
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
    def draw(cls, choose: Choose, name: str) -> "Operand":
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
class Program:
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
    a: Operand
    b: Operand
    view: int | None
    seed: int
    registers: bool = False
    vectors: bool = False
    stores: bool = False

    @classmethod
    def draw(cls, choose: Choose) -> "Program":
        """Draw a random program."""
        a, b = Operand.draw(choose, "A"), Operand.draw(choose, "B")
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
    def seeded(cls, seed: int) -> "Program":
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
        made = {}
        (a_rows, a_columns), (b_rows, b_columns) = self.a_tile, self.b_tile
        for name, shape, row_major in (
            ("A", (a_rows, a_columns * self.chunks), self.a.major == "k"),
            ("B", (b_rows * self.chunks, b_columns * self.ctas), self.b.major == "mn"),
        ):
            values = random.standard_normal(shape).astype(DTYPES[self.element])
            made[name] = np.asarray(values, order="C" if row_major else "F")
        return made

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
                at = slice(cta * n, (cta + 1) * n)
                exact[:, at] += left @ right
                size[:, at] += np.abs(left) @ np.abs(right)
        bound = 2 * self.k * self.chunks * 2.0**-23 * size
        unit = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[self.result]
        return exact, bound + unit * (np.abs(exact) + bound)

    # -- text --------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The kernel."""
        from .gemm_text import text_of

        return text_of(self)

    def kernel(self, arch: str = "sm_90a") -> Kernel:
        """The kernel, its inputs and its result."""
        inputs = self.inputs()
        exact, bound = self.product(inputs)
        return Kernel(
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
            tells=arch == "sm_90a" or not self.registers,
        )


def described(program: Program) -> dict[str, Any]:
    """A description of a program, for a record."""
    return {
        "shape": [program.m, program.n, program.k, program.chunks],
        "element": program.element,
        "result": program.result,
        "a": f"{program.a.major}/{program.a.layout}",
        "b": f"{program.b.major}/{program.b.layout}",
    }
