"""Machine instructions of main loops: of plain loops, and of the same kernels with pipelines by hand.

    python benchmarks/loop_instructions.py [--record FILE]

Products have tiles of 128x256x64 in bf16. No GPU is needed.
"""

import argparse
import sys
from typing import Any

from record import record
from sass import code_of, main_loop
from tables import table

import mlir_smem
from mlir_smem.examples import plain_loops
from mlir_smem.examples.manual_sync.matmul import matmul as staged_by_hand
from mlir_smem.examples.matmul import matmul as staged
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.kernel import text

_TYPES = ("bf16",) * 3


def kernels() -> dict[str, tuple[Any, Any]]:
    """The compiled kernels of each row: the plain loop, and the one by hand."""
    generated = text(Problem(), Config(tile=(128, 256, 64), stages=4, group=8))
    return {
        "product, TMA": (plain_loops.matmul.compile(*_TYPES), mlir_smem.compile(generated)),
        "product, cp.async": (staged.compile(*_TYPES), staged_by_hand.compile(*_TYPES)),
    }


def count(compiled: Any) -> dict[str, Any]:
    """Return the instructions of the main loop, and for each wgmma in it."""
    code = code_of(compiled.cubin)
    loop = main_loop(code)
    instructions = (*loop.always, *loop.branches)
    products = sum(instruction.multiplies for instruction in instructions)
    return {
        "loop": len(instructions),
        "for each wgmma": round(len(instructions) / products, 2),
        "kernel": len(code),
        "registers": compiled.report.registers,
        "spill bytes": compiled.report.spill_bytes,
        "ptxas": [*compiled.report.warnings],
    }


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    rows = {
        name: {"plain": count(plain), "by hand": count(by_hand)}
        for name, (plain, by_hand) in kernels().items()
    }
    columns = [(kind, what) for kind in ("plain", "by hand") for what in ("loop", "for each wgmma")]
    heading = ["instructions", *(f"{kind}: {what}" for kind, what in columns)]
    cells = [
        [name, *(str(row[kind][what]) for kind, what in columns)] for name, row in rows.items()
    ]
    print(table(heading, cells, markdown=False))
    if options.record:
        record(options.record, {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
