"""Kernels of block-scaled mma; operands and scale factors are placed element by element."""

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from tcgen05_kernels import BASE, BYTES, cp, matrix_of, mma_kernel, scaled_mma, tmem_address
from tcgen05_operands import Operands, bytes_of, values

from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

M = 128

FACTORS = {
    "ue8m0": (ml_dtypes.float8_e8m0fnu, [0.25, 0.5, 1, 2, 4]),
    "ue4m3": (ml_dtypes.float8_e4m3fn, [0.5, 1, 1.5, 2, 3]),
}


def word_columns(rows):
    """Columns between successive words of the scale factors of `rows` rows."""
    return 4 * -(-rows // 128)


def factor_bytes(factors):
    """The bytes that `tcgen05.cp` copies: blocks of 512 bytes for 4 columns each; unused bytes are NaN.

    Args:
        factors: the scale factors, [rows, factors along K], of one byte each.
    """
    rows, count = factors.shape
    columns = word_columns(rows) * -(-count // 4)
    blocks = np.full((columns // 4, 32, 4, 4), 0xFF, np.uint8)
    for row in range(rows):
        for i in range(count):
            column = word_columns(rows) * (i // 4) + row // 32
            blocks[column // 4, row % 32, column % 4, i % 4] = factors[row, i].view(np.uint8)
    return blocks.reshape(-1, 512)


class LongRows:
    """An operand whose rows are read 48 bytes at a time, in separate buffers 128 bytes wide."""

    def __init__(self, operands, values, first, always):
        """Place the rows' bytes from byte `first` of 384 on.

        The leading dimension is absolute in every descriptor if `always`, else only in those of rows that
        cross into the next buffer.
        """
        raw = bytes_of(values, "e2m1")
        start = -(-operands.next // 1024) * 1024
        size = -(-len(raw) // 8) * 1024
        self._first, self._always = first, always
        numbers = range(first // 128, -(-(first + raw.shape[1]) // 128))
        # Buffers later along K have lower addresses.
        self._buffers = {n: start + size * i for i, n in enumerate(reversed(numbers))}
        for row, its_bytes in enumerate(raw):
            for i, byte in enumerate(its_bytes):
                number, within = divmod(first + i, 128)
                place = self._buffers[number] + row // 8 * 1024 + row % 8 * 128 + within
                place ^= (place >> 7 & 7) << 4
                assert not operands.taken[place - BASE]
                operands.image[place - BASE], operands.taken[place - BASE] = byte, True
        operands.next = start + size * len(numbers)

    def descriptor(self, k_block):
        """The descriptor of a K block."""
        number, within = divmod(self._first + 48 * k_block, 128)
        start = self._buffers[number] + within
        lbo = self._buffers[number + 1] if within + 48 > 128 else self._buffers[number]
        absolute = self._always or within + 48 > 128
        mode = 2 << 61 | absolute << 52 | 1 << 46
        return mode | (1024 >> 4) << 32 | (lbo >> 4 if absolute else 0) << 16 | start >> 4


@dataclass
class ScaledMma:
    """Block-scaled mma of K blocks that add to one D.

    Attributes:
        kind: the instructions'.
        a, b: the types of A and B.
        n: the number of columns of D.
        block: the number of elements that share a scale factor.
        scale: the scale factors' type.
        k_blocks: the number of instructions along K.
        long: None for instructions that read 32 bytes of each row. Otherwise they read 48: the byte of
            384 at which the first begins, and whether every descriptor has an absolute leading dimension.
        majors: the majorness of A and B.
        negate: whether A and B are negated.
        factors: the scale factors of A and B, [rows, count]; random if empty.
        flip: bits that are flipped in the instruction descriptors.
    """

    kind: str
    a: str
    b: str
    n: int = 16
    block: int = 32
    scale: str = "ue8m0"
    k_blocks: int = 2
    long: tuple[int, bool] | None = None
    majors: tuple[str, str] = ("k", "k")
    negate: tuple[bool, bool] = (False, False)
    factors: list = field(default_factory=list)
    flip: int = 0

    def __post_init__(self):
        rng, self.operands = np.random.default_rng(0), Operands()
        k = (48 if self.long else 32) * (1 if self.kind == "mxf8f6f4" else 2)
        self.factors_each, self.values = k // self.block, []
        whole, scaled, self.descriptors = k * self.k_blocks, [], []
        dtype, choices = FACTORS[self.scale]
        names, extents = (self.a, self.b), (M, self.n)
        self.factors = self.factors or [
            rng.choice(choices, (rows, self.factors_each * self.k_blocks)).astype(dtype)
            for rows in extents
        ]
        for name, rows, factors, major in zip(
            names, extents, self.factors, self.majors, strict=True
        ):
            numbers = values(name, rng, (rows, whole))
            if self.long:
                placed = LongRows(self.operands, numbers, *self.long)
                self.descriptors.append([placed.descriptor(i) for i in range(self.k_blocks)])
            else:
                blocks = np.split(numbers, self.k_blocks, 1)
                swizzle = Swizzle.B32 if name == self.a else Swizzle.NONE
                self.descriptors.append(
                    [self.operands.place(block, name, major, swizzle) for block in blocks]
                )
            self.values.append(numbers)
            scaled.append(numbers * np.repeat(factors.astype(np.float64), self.block, axis=1))
        self.expected = (-1) ** sum(self.negate) * (scaled[0] @ scaled[1].T)
        self.columns = [
            self.n,
            self.n + word_columns(M) * -(-self.factors_each * self.k_blocks // 4),
        ]

    def kernel(self):
        """The kernel, which copies the scale factors to tensor memory first."""
        lines, end = [], self.columns[0]
        for side, factors, start in zip("xy", self.factors, self.columns, strict=True):
            for i, raw in enumerate(factor_bytes(factors)):
                place = -(-self.operands.next // 16) * 16
                self.operands.image[place - BASE :][:512] = raw.reshape(-1)
                self.operands.next = place + 512
                end = start + 4 * i + 4
                lines.append(tmem_address(f"{side}{i}", 0, start + 4 * i))
                rows = place >> 4 | 8 << 32 | 1 << 46
                lines.append(cp(f"{side}{i}k", f"{side}{i}", rows))
        assert self.operands.next <= BASE + BYTES
        for k_block in range(self.k_blocks):
            word, first = divmod(self.factors_each * k_block, 4)
            form = InstructionDescriptor(
                KINDS[self.kind],
                element(self.a),
                element(self.b),
                M,
                self.n,
                "f32",
                *(major == "mn" for major in self.majors),
                negate_a=self.negate[0],
                negate_b=self.negate[1],
                scale=self.scale,
                a_scale=first,
                b_scale=first,
                k_bytes=48 if self.long else 32,
            )
            form.check(1)
            at_words = [
                column + word_columns(rows) * word
                for column, rows in zip(self.columns, (M, self.n), strict=True)
            ]
            both = [descriptors[k_block] for descriptors in self.descriptors]
            bits = form.encode() ^ self.flip
            lines.append(
                scaled_mma(f"m{k_block}", self.kind, self.block, both, bits, k_block > 0, at_words)
            )
        return mma_kernel(self.kind, [], M, self.n, lines="\n".join(lines), columns=end)

    def run(self):
        """Return the kernel's faults, and D."""
        faults, registers = self.kernel().run(self.operands.image)
        return faults, matrix_of(registers.view(np.float32), M, self.n)
