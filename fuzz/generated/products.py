"""Random kernels that multiply matrices through shared memory in every way that lowers, with the
product that each must compute."""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .choices import Choose
from .elements import DTYPES
from .kernels import Kernel

SWIZZLES = ("auto", "none", "32B", "64B", "128B")

#: Shared memory that a program may use, in bytes; a view lies in the reserved part.
_MAX_BYTES = 227 * 1024
_RESERVED = 64 * 1024

#: Columns of tensor memory of a block (PTX ISA 9.7.16.1).
_TENSOR_COLUMNS = 512


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
        """A random operand."""
        major = choose(f"{name} major", ("k", "mn"))
        # Rows of an MN-major part begin at an atom, those of a K-major part anywhere.
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
        m: rows of D that each warpgroup computes; n, columns that each block computes.
        k: what is multiplied of each chunk.
        chunks: iterations of the loop over K.
        stages: stages of the tiles; 1 waits for each mma before the next copy.
        warpgroups, blocks: how many there are; blocks lie along N.
        a, b: the operands.
        view: lines of 128 bytes past a multiple of 1024 at which A's tile lies, in memory that the
            program has already; None for a tile of its own.
        seed: of the matrices' values.
        registers: whether A is loaded into registers before it is multiplied.
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
    registers: bool = False

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

    def fits_on(self, arch: str) -> bool:
        """Whether it fits what an architecture has; on those with tensor memory its columns, too."""
        # A takes a column for each 32 bits along K.
        of_a = self.k // 2 if self.registers else 0
        columns = (self.n + of_a) * -(-self.m // 128) * self.warpgroups
        return self.fits and (arch == "sm_90a" or columns <= _TENSOR_COLUMNS)

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

        The bound is that of `tests/support/reference.py`, and half a unit in the last place of the result.
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
        from .product_text import text_of

        return text_of(self)

    def kernel(self, arch: str = "sm_90a") -> Kernel:
        """The kernel with its data."""
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
            # tcgen05 takes A from tensor memory, to which its registers are copied before.
            tells=arch == "sm_90a" or not self.registers,
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
