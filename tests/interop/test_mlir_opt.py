"""`mlir-opt` of another version before and after the lowering, as two ends of a pipe."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mlir_smem.interop import lower_text

EXAMPLES = Path(__file__).parents[2] / "examples"
MLIR_OPT = shutil.which("mlir-opt-22")

pytestmark = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed")

PRINTED = ("--mlir-print-op-generic", "--mlir-print-debuginfo")


def mlir_opt(text, *options):
    ran = subprocess.run(
        [MLIR_OPT, *options], check=False, input=text, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("name, count", [("mma", 4), ("matmul", 4), ("attention", 8)])
def test_examples_pass_through_mlir_opt(name, count):
    text = (EXAMPLES / f"{name}.mlir").read_text()
    printed = mlir_opt(text, "--allow-unregistered-dialect", *PRINTED)
    lowered = mlir_opt(lower_text(printed, host_llvm=22), *PRINTED)
    ops = re.findall(r'"([a-z_.]+)"\(', lowered)
    assert lowered.count("wgmma.mma_async") == count
    assert not [op for op in ops if op.startswith("smem.")]
    # Locations are those of the text that mlir-opt was given.
    line = text[: text.index('"smem.mma"(')].count("\n") + 1
    assert f'"<stdin>":{line}:' in lowered
