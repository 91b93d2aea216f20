"""Write tests/data/tensor_core_h200.npz: sums of products as an H200's tensor core computes them.

    python tests/data/tensor_core.py

For each element type and each case of `tests/support/edge_cases.py` the file holds 8 rows of A, 8 columns
of B and their product for K = 32: two instructions, of which the second adds to the first.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from edge_cases import CASES, DTYPES, kernel_of, operands

import mlir_smem
from mlir_smem.runtime import run_on_gpu

OUTPUT = Path(__file__).parent / "tensor_core_h200.npz"
K, EXTENT = 32, 8


def main() -> None:
    arrays = {}
    for element in DTYPES:
        compiled = mlir_smem.compile(kernel_of(element, K))
        for case in CASES:
            inputs = operands(case, element, K)
            d = run_on_gpu(compiled, "product", inputs, ["D"], (1,))["D"]
            arrays[f"{element}/{case}/A"] = inputs["A"][:EXTENT].view(np.uint16)
            arrays[f"{element}/{case}/B"] = inputs["B"].T[:EXTENT].view(np.uint16)
            arrays[f"{element}/{case}/D"] = d[:EXTENT, :EXTENT].view(np.uint32)
    np.savez_compressed(OUTPUT, **arrays)


if __name__ == "__main__":
    main()
