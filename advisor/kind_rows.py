"""The kinds of `tcgen05.mma`: which shapes their instructions have, and which scale factors they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..layout.arch import Arch
from ..layout.elements import INSTRUCTION_K_BYTES, UE8M0
from ..layout.tcgen05 import LONG_K_BYTES, Kind, Shape, scale_blocks, scale_factors, scale_layout
from ..layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS, SCALE_IDS, ScaleBlocks
from ..layout.tcgen05.shapes import legal_m, legal_n


@dataclass(frozen=True)
class KindRow:
    """A kind, and the shapes of its instructions."""

    kind: Kind
    arch: Arch

    def data(self) -> dict[str, Any]:
        """The row for JSON: K in elements, of each number of bytes that is read; M and N of all blocks,
        by how many multiply together, N where B is K-major and K the first."""
        kind, (element, *_) = self.kind, self.kind.codes
        return {
            "kind": str(kind),
            "types": [str(each) for each in kind.codes],
            "same": kind.same,
            "accumulators": list(kind.accumulators),
            "k": [Shape(0, 0, k_bytes=size).k(element) for size in k_bytes_of(kind, self.arch)],
            "shapes": [
                {
                    "ctas": ctas,
                    "m": list(legal_m(kind, ctas)),
                    "n": list(legal_n(kind, element, ctas)),
                }
                for ctas in (1, 2)
            ],
            "negates": kind.negates,
            "saturates": kind.saturates,
        }


@dataclass(frozen=True)
class ScaleRow:
    """Scale factors that a kind takes.

    Attributes:
        kind: the kind.
        scale: the factors' type.
        block: elements along K that share one.
        k_bytes: bytes along K that an instruction reads.
    """

    kind: Kind
    scale: str
    block: int
    k_bytes: int

    def data(self) -> dict[str, Any]:
        """The row for JSON: how many factors of a row an instruction reads, what the ISA calls that
        (`vector`, null for K = 96), and the ids at which they can begin."""
        shape = Shape(0, 0, k_bytes=self.k_bytes)
        factors = scale_factors(self.kind, shape, self.block)
        long = self.k_bytes == LONG_K_BYTES
        return {
            "kind": str(self.kind),
            "scale": self.scale,
            "block": self.block,
            "k": shape.k(next(iter(self.kind.codes))),
            "factors": factors,
            "vector": None if long else f"scale_vec::{factors}X",
            "ids": list(SCALE_IDS[factors]),
        }


def k_bytes_of(kind: Kind, arch: Arch) -> tuple[int, ...]:
    """Bytes along K that instructions of a kind read, the usual number first."""
    packed = all(element.bits == 4 for element in kind.codes)
    return arch.k_bytes if packed else (INSTRUCTION_K_BYTES,)


def kinds(arch: Arch) -> list[KindRow]:
    """The kinds that an architecture has; `wgmma` has none."""
    return [KindRow(kind, arch) for kind in arch.kinds]


def scales(arch: Arch) -> list[ScaleRow]:
    """The scale factors that the kinds of an architecture take."""
    return [
        ScaleRow(kind, scale, block, k_bytes)
        for kind in arch.kinds
        for k_bytes in k_bytes_of(kind, arch)
        for scale, block in kind.scales
    ]


def scale_block() -> dict[str, Any]:
    """A block of scale factors in shared memory, for JSON: its layout, and the constant of the descriptor
    by which `tcgen05.cp` copies it to that many columns of tensor memory."""
    layout = scale_layout(UE8M0, BLOCK_ROWS, BLOCK_FACTORS)
    blocks = scale_blocks(layout)
    assert isinstance(blocks, ScaleBlocks)
    return {
        "shape": list(layout.shape),
        "layout": str(layout),
        "bytes": BLOCK_BYTES,
        "columns": blocks.columns,
        "descriptor": f"{blocks.descriptor(0, 0).encode():#018x}",
    }


def runs(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words, for example `8, 16, 24, 32-256 by 16`."""
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = numbers[-1] - numbers[-2]
    first = len(numbers) - 2
    while first and numbers[first] - numbers[first - 1] == step:
        first -= 1
    said = [*map(str, numbers[:first]), f"{numbers[first]}-{numbers[-1]} by {step}"]
    return ", ".join(said)
