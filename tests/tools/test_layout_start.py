"""`smem-layout` starts fast: it does not import MLIR and uses little CPU time."""

import json
import os
import subprocess
import sys

import pytest
import tiers

from mlir_smem.tools.smem_layout import COMMANDS

#: Maximum CPU time of a command in seconds, user and system, on a machine as that of the table of slow
#: cases.
LIMIT = 0.3

PLAIN = ["choose", "--a", "128x64xbf16", "--b", "64x256xbf16"]

CODE = """
import sys
from mlir_smem.tools.entry import smem_layout
try:
    smem_layout()
finally:
    import json, resource
    used = resource.getrusage(resource.RUSAGE_SELF)
    packages = ("mlir", "torch_mlir", "numba_cuda_mlir", "llvmlite")
    foreign = [m for m in sys.modules if m.split(".")[0] in packages]
    print(json.dumps([used.ru_utime + used.ru_stime, foreign]), file=sys.stderr)
"""


def run_process(arguments):
    """Return the CPU time of a process in seconds, and the MLIR modules that it imported."""
    process = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout
    return json.loads(process.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        *([name, "--help"] for name in COMMANDS),
        PLAIN,
        [*PLAIN, "--json"],
        [*PLAIN, "--arch", "sm_100"],
    ],
    ids=" ".join,
)
def test_it_starts_quickly_and_without_mlir(arguments):
    best, limit = float("inf"), LIMIT * tiers.slowness()
    for _ in range(8):
        seconds, foreign = run_process(arguments)
        assert foreign == []
        best = min(best, seconds)
        if best < limit:
            break
    assert best < limit, f"{best:.2f} s on {os.cpu_count()} CPUs"
