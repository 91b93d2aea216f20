"""Writes tests/data/tensor_core_h200.npz: sums of products as an H200's tensor core computes them.

    python tests/data/tensor_core.py

For each element type and kind of operands (`tests/support/edge_cases.py`) it holds 8 rows of A, 8 columns of B
and their products, for K = 32: two instructions, of which the second adds to the first.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from edge_cases import DTYPES, KINDS, operands, product_of

import mlir_smem
from mlir_smem.runtime import run_on_gpu

OUTPUT = Path(__file__).parent / "tensor_core_h200.npz"
K, KEPT = 32, 8


def main() -> None:
    kept = {}
    for element in DTYPES:
        compiled = mlir_smem.compile(product_of(element, K))
        for kind in KINDS:
            inputs = operands(kind, element, K)
            product = run_on_gpu(compiled, "product", inputs, ["D"], (1,))["D"]
            kept[f"{element}/{kind}/A"] = inputs["A"][:KEPT].view(np.uint16)
            kept[f"{element}/{kind}/B"] = inputs["B"].T[:KEPT].view(np.uint16)
            kept[f"{element}/{kind}/D"] = product[:KEPT, :KEPT].view(np.uint32)
    np.savez_compressed(OUTPUT, **kept)


if __name__ == "__main__":
    main()
