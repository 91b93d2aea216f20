"""The scale factors of a block-scaled product: tiles, copies to tensor memory, ids by K step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ..layout import Mismatch, Role, TileLayout
from ..layout.tcgen05 import SCALE_ELEMENTS, ScaleBlocks, scale_blocks, scale_layout, scale_step
from ..layout.tcgen05.scales import BLOCK_BYTES, BLOCK_COLUMNS, BLOCK_FACTORS, BLOCK_ROWS
from .columns import columns

if TYPE_CHECKING:
    from .tcgen05_product import Tcgen05Product

_TILE_HEADS = ("", "rows", "factors", "layout", "bytes", "columns", "a word")
_STEP_HEADS = ("k", "word", "A's column", "B's column", "id", "instruction descriptor")


@dataclass(frozen=True)
class FactorTile:
    """One block's tile of the factors of an operand.

    Attributes:
        role: the operand.
        layout: the tile's, (rows, factors).
    """

    role: Role
    layout: TileLayout

    @cached_property
    def blocks(self) -> ScaleBlocks:
        """What `tcgen05.cp` copies."""
        found = scale_blocks(self.layout)
        assert not isinstance(found, Mismatch)
        return found

    @property
    def row(self) -> tuple[str, ...]:
        """The tile as the table of tiles has it."""
        numbers = (self.layout.size_bytes, self.blocks.columns, self.blocks.word_columns)
        return (self.role.name, *map(str, (*self.layout.shape, self.layout, *numbers)))

    def data(self) -> dict[str, Any]:
        """The tile for JSON; offsets in bytes, indexed [rows / 128][factors / 4]."""
        found = self.blocks
        places = [
            [(block, word) for word in range(len(line))] for block, line in enumerate(found.offsets)
        ]
        return {
            "shape": list(self.layout.shape),
            "layout": str(self.layout),
            "bytes": self.layout.size_bytes,
            "columns": found.columns,
            "word_columns": found.word_columns,
            "copies": [
                {
                    "offset": found.offsets[block][word],
                    "descriptor": f"{found.descriptor(block, word).encode():#018x}",
                    "column": found.column(block, word),
                }
                for line in places
                for block, word in line
            ],
        }


@dataclass(frozen=True)
class Factors:
    """The factors of both operands of a product.

    Attributes:
        product: the product, of a block-scaled kind.
        size: elements along K that share a factor.
    """

    product: Tcgen05Product
    size: int

    @property
    def each(self) -> int:
        """Factors of a row that an instruction reads."""
        return self.product.a.instruction_k // self.size

    @cached_property
    def tiles(self) -> tuple[FactorTile, FactorTile]:
        """A's and B's: of A's rows in each block, and of all columns of B in both."""
        product = self.product
        assert product.by.scale is not None
        element = SCALE_ELEMENTS[product.by.scale]
        factors = -(-product.k // self.size // BLOCK_FACTORS) * BLOCK_FACTORS
        found = []
        for role, extent in ((Role.A, product.m // product.by.ctas), (Role.B, product.n)):
            rows = -(-extent // BLOCK_ROWS) * BLOCK_ROWS
            found.append(FactorTile(role, scale_layout(element, rows, factors)))
        return found[0], found[1]

    @property
    def columns(self) -> int:
        """Columns of tensor memory that both take in each block."""
        return sum(tile.blocks.columns for tile in self.tiles)

    @property
    def steps(self) -> list[tuple[int, int, int]]:
        """(first k, word, id) of each instruction along K."""
        k = self.product.a.instruction_k
        return [(step * k, *scale_step(step, self.each)) for step in range(self.product.steps)]

    def data(self) -> dict[str, Any]:
        """The factors for JSON."""
        a, b = self.tiles
        shapes = self.product.shapes
        return {
            "type": self.product.by.scale,
            "block": self.size,
            "factors": self.each,
            "a": a.data(),
            "b": b.data(),
            "steps": [
                {
                    "k": k,
                    "word": word,
                    "id": id_,
                    "descriptors": [f"{self._encoded(m, n, id_):#010x}" for m, n in shapes],
                }
                for k, word, id_ in self.steps
            ],
        }

    def _encoded(self, m: int, n: int, id_: int) -> int:
        return self.product.descriptor(m, n, id_).encode()

    def __str__(self) -> str:
        product, (a, b) = self.product, self.tiles
        k, shape = product.a.instruction_k, next(iter(product.shapes))
        tiles = [tile.row for tile in (a, b)]
        steps = [
            (
                f"{at}-{at + k - 1}",
                str(word),
                f"+{a.blocks.column(0, word)}",
                f"+{b.blocks.column(0, word)}",
                str(id_),
                f"{self._encoded(*shape, id_):#010x}",
            )
            for at, word, id_ in self.steps
        ]
        head = (
            f"Scale factors: {product.by.scale}, one for {self.size} elements along K; an instruction "
            f"reads {self.each} of each row"
        )
        descriptor = a.blocks.descriptor(0, 0).encode()
        copies = (
            f"Blocks of {BLOCK_BYTES} bytes, a word of {BLOCK_FACTORS} factors of {BLOCK_ROWS} rows, go "
            f"to {BLOCK_COLUMNS} columns each:\n"
            f"tcgen05.cp.cta_group::{product.by.ctas}.32x128b.warpx4, descriptor {descriptor:#018x} | "
            "(address & 0x3ffff) >> 4"
        )
        parts = (columns(_TILE_HEADS, tiles), copies, columns(_STEP_HEADS, steps))
        return "\n\n".join([head, *(indent(part, "  ") for part in parts)])
