"""compute-sanitizer on `examples/matmul.mlir`, run by `smem-run` on random matrices.

    python benchmarks/memcheck.py [--record FILE]

memcheck, racecheck and initcheck; exits with 1 if one of them reports anything, or if the result is
wrong.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
from record import record

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.mlir"
TOOLS = ("memcheck", "racecheck", "initcheck")
M, N, K = 256, 512, 320


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()

    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((M, K), (K, N)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    summaries, wrong = {}, False
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.npy") for name in "ABC"}
        np.save(files["A"], a.astype(np.float32))
        np.save(files["B"], b.astype(np.float32))
        kernel = ["smem-run", str(EXAMPLE), "--in", f"A={files['A']}", "--in", f"B={files['B']}"]
        for tool in TOOLS:
            run = subprocess.run(
                ["compute-sanitizer", "--tool", tool, *kernel, "--out", f"C={files['C']}"],
                capture_output=True,
                text=True,
                check=True,
            )
            summary = re.search(r"(?:ERROR|RACECHECK) SUMMARY: .*", run.stdout)
            summaries[tool] = summary[0] if summary else "no summary"
            error = np.linalg.norm(np.load(files["C"]) - exact) / np.linalg.norm(exact)
            wrong |= error > 2**-8 or not re.search(r": 0 (errors|hazards)", summaries[tool])
            print(f"{tool}: {summaries[tool]}; relative error {error:.2e}")
    if options.record:
        record(options.record, {"m": M, "n": N, "k": K, "summaries": summaries})
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
