"""Matrices for the kernel of `kernels/transpose.py`."""

import numpy as np

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.kernels.transpose import TransposeConfig, build_transpose

DTYPES = {"i8": np.dtype(np.int8), "f32": np.dtype(np.float32)}

#: Extents smaller than a window, of whole windows, and not multiples of a window, along each dimension.
EXTENTS = [(16, 16), (64, 128), (256, 128), (208, 144), (16, 304), (304, 16)]


def text_of(element: str, config: TransposeConfig | None = None) -> str:
    """The text of the kernel."""
    with new_context(), ir.Location.unknown():
        return str(build_transpose(element, config))


def random_matrix(element: str, rows: int, columns: int) -> np.ndarray:
    """A matrix X with contiguous columns."""
    random = np.random.default_rng(rows)
    return random.integers(-128, 128, (columns, rows)).astype(DTYPES[element]).T
