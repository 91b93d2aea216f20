"""Inputs and expected results of the examples with block-scaled mma."""

from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

from fuzz.generated.elements import DTYPES, pack_elements
from mlir_smem.layout.tcgen05 import blocked

_EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Format:
    """The format that an example has, or that its comment describes.

    Attributes:
        element, factor: MLIR types.
        storage: MLIR type in global memory, of which one holds `packed` elements.
        k: elements along K of a tile; each `block` of them share a factor.
        stages: those of the pipeline.
    """

    element: str = "f4E2M1FN"
    factor: str = "f8E4M3FN"
    storage: str = "i8"
    packed: int = 2
    k: int = 256
    block: int = 16
    stages: int = 4

    def text(self, example: str) -> str:
        """Return an example for this format."""
        default = Format()
        text = (_EXAMPLES / f"{example}.mlir").read_text()
        for alias, name in (("element", "element"), ("factor", "factor"), ("held", "storage")):
            old = f"!{alias} = {getattr(default, name)}\n"
            text = _replace(text, old, f"!{alias} = {getattr(self, name)}\n")
        text = _replace(text, "stages = 4", f"stages = {self.stages}")
        text = _replace(text, "tensor<4x", f"tensor<{self.stages}x")
        for columns in (128, 64):
            text = text.replace(f"256x{columns}x!element", f"{self.k}x{columns}x!element")
        text = _replace(text, "128x256x!element", f"128x{self.k}x!element")
        text = _replace(text, "x16x!factor", f"x{self.factors}x!factor")
        text = _replace(text, "%step_factors = arith.constant 16", self._constant("factors"))
        text = _replace(text, "%step_bytes = arith.constant 128", self._constant("bytes"))
        return _replace(text, '"K bytes" = 128', f'"K bytes" = {self.bytes}')

    def _constant(self, name: str) -> str:
        return f"%step_{name} = arith.constant {getattr(self, name)}"

    @property
    def is_long(self) -> bool:
        """Whether instructions read 48 bytes along K on sm_103a."""
        return self.k % 96 == 0

    @property
    def factors(self) -> int:
        """Scale factors of a row of a tile."""
        return self.k // self.block

    @property
    def bytes(self) -> int:
        """Bytes of a row of a tile of A."""
        return self.k // self.packed

    def values(self, m: int, n: int, k: int) -> dict[str, np.ndarray]:
        """Return A and B, [m or n, k], and their factors: numbers with exact products and sums."""
        random = np.random.default_rng(m + 3 * n + 7 * k)
        arrays = {}
        for name, rows in (("A", m), ("B", n)):
            drawn = random.choice([0, 0.5, 1, 1.5, 2, -1, -2, -0.5], (rows, k))
            arrays[name] = drawn.astype(DTYPES[self.element])
            powers = 2.0 ** random.integers(-2, 3, (rows, k // self.block))
            arrays[f"S{name}"] = powers.astype(DTYPES[self.factor])
        return arrays | {"Alpha": np.array([0.375], np.float32)}

    def inputs(self, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the arrays that the kernel reads."""
        a, b = (pack_elements(values[name], self.element) for name in "AB")
        factors = {name: blocked(values[name]) for name in ("SA", "SB")}
        return {"A": a, "B": b.T, **factors, "Alpha": values["Alpha"]}

    def expected_c(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """Return C."""
        wide = {name: array.astype(np.float64) for name, array in values.items()}
        a, b = (wide[name] * np.repeat(wide[f"S{name}"], self.block, 1) for name in "AB")
        return (wide["Alpha"] * (a @ b.T)).astype(np.float32).astype(ml_dtypes.bfloat16)


def _replace(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new)


#: The formats that the examples describe, by name.
FORMATS = {
    "nvfp4": Format(),
    "mxfp4": Format(factor="f8E8M0FNU", block=32),
    "mxfp8": Format("f8E4M3FN", "f8E8M0FNU", "f8E4M3FN", 1, 128, 32),
    "nvfp4-long": Format(k=768, stages=2),
    "mxfp4-long": Format(factor="f8E8M0FNU", block=32, k=768, stages=2),
}

#: M and N of a tile, by example.
TILES = {"nvfp4": (128, 128), "nvfp4_pair": (256, 128)}
