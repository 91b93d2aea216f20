"""The kernel that upstream's passes make of the loop nest in outlined.mlir, as text.

    python outline.py | smem-compile - -o outlined.cubin

The passes run before those of smem: tiles are ops among others to them.
"""

from pathlib import Path

import mlir_smem
from mlir_smem.bindings import ir, passmanager

PIPELINE = (
    "builtin.module(func.func(gpu-map-parallel-loops,convert-parallel-loops-to-gpu,canonicalize,"
    "gpu-launch-sink-index-computations),gpu-kernel-outlining)"
)


def outline() -> str:
    """Return the module with the kernel @linear_kernel and the host function that launches it."""
    with mlir_smem.register(ir.Context()):
        module = ir.Module.parse((Path(__file__).parent / "outlined.mlir").read_text())
        passmanager.PassManager.parse(PIPELINE).run(module.operation)
        return str(module)


if __name__ == "__main__":
    print(outline())
