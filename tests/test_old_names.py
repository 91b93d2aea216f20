"""Old names of the dialect, which only the changelog may contain."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: Old and new names of ops, types, attributes and passes, without sigils.
#: The new ones are those of CUTLASS, CuTe, Triton and PTX.
RENAMED = {
    "smem.ring": "smem.create_pipeline",
    "smem.barriers": "smem.pipeline",
    "smem.roles": "smem.warp_specialize",
    "smem.role": "smem.partition",
    "smem.wgmma": "smem.mma_desc",
    "smem.wgmma_sp": "smem.mma_desc_sp",
    "smem.tcgen05_scaled": "smem.mma_desc_scaled",
    "smem.multiplicand": "smem.a_fragment",
    "smem.part": "smem.composed_layout",
    "smem-lower-roles": "smem-lower-warp-specialize",
}

#: Files that may contain old names.
ALLOWED = {"CHANGELOG.md", "tests/test_old_names.py"}


def test_old_names_are_gone():
    pattern = "|".join(re.escape(name) for name in RENAMED)
    command = ["git", "-C", str(ROOT), "grep", "-nIE", rf"({pattern})($|[^A-Za-z0-9_-])"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode in (0, 1), process.stderr
    lines = process.stdout.splitlines()
    assert [line for line in lines if line.split(":")[0] not in ALLOWED] == []
