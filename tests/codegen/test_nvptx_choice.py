"""The LLVM that writes PTX, and that both write the same matrix instructions and descriptors."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bindings_at_hand import NVPTX, by_nvptx

import mlir_smem
from mlir_smem.bindings import PACKAGE
from mlir_smem.codegen import CompileError, nvptx_choice, toolchain
from mlir_smem.codegen.nvptx_of_bindings import BindingsNvptx, has_nvptx
from mlir_smem.codegen.nvptx_of_llvmlite import LlvmliteNvptx
from mlir_smem.codegen.ptx import to_ptx
from mlir_smem.codegen.targets import target

EXAMPLES = Path(__file__).parents[2] / "examples"
CASES = [
    *((name, "sm_90a") for name in ("matmul", "attention", "mma")),
    *((name, "sm_100a") for name in ("matmul", "mma", "nvfp4", "nvfp4_pair")),
]

needs_own_nvptx = pytest.mark.skipif(
    not has_nvptx(PACKAGE), reason=f"the LLVM of {PACKAGE} has no NVPTX target"
)

COMPILE = f"""
import sys
import mlir_smem
assert mlir_smem.compile(open({str(EXAMPLES / "mma.mlir")!r}).read()).cubin
print(*{{"llvmlite"}} & set(sys.modules))
"""


def test_the_bindings_own_target_comes_first():
    assert nvptx_choice.nvptx_for(PACKAGE) == by_nvptx(
        llvmlite=LlvmliteNvptx(), bindings=BindingsNvptx(PACKAGE)
    )
    assert f"NVPTX {NVPTX}" in toolchain()


def test_no_target_at_all(monkeypatch):
    monkeypatch.setattr(nvptx_choice, "has_nvptx", lambda bindings: False)
    monkeypatch.setitem(sys.modules, "mlir_smem.codegen.nvptx_of_llvmlite", None)
    with pytest.raises(CompileError) as error:
        nvptx_choice.nvptx_for.__wrapped__("bare_mlir")
    assert str(error.value) == (
        "the LLVM of bare_mlir has no NVPTX target, and llvmlite is not installed; install llvmlite, or "
        "use bindings with that target, as numba-cuda-mlir's"
    )


@needs_own_nvptx
def test_llvmlite_is_not_imported():
    ran = subprocess.run(
        [sys.executable, "-c", COMPILE], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == ""


def instruction_counts(ptx):
    """Return how often each instruction on tiles, and each constant of 64 bits, is written."""
    words = re.compile(
        r"^\s*(?:@!?%\w+ )?((?:wgmma|tcgen05|cp\.async\.bulk|ldmatrix|stmatrix)[\w.:]*)", re.M
    )
    return Counter(words.findall(ptx)), Counter(re.findall(r"\b-?\d{12,}\b", ptx))


@needs_own_nvptx
@pytest.mark.parametrize("name, arch", CASES)
def test_both_write_the_same_instructions_and_descriptors(name, arch):
    compiled = mlir_smem.compile((EXAMPLES / f"{name}.mlir").read_text(), arch, emit="ptx")
    by_llvmlite = to_ptx(None, compiled.llvm, target(arch), LlvmliteNvptx())
    assert instruction_counts(compiled.ptx) == instruction_counts(by_llvmlite)
    assert instruction_counts(compiled.ptx)[0]


@pytest.mark.parametrize(
    "llvm", [LlvmliteNvptx(), BindingsNvptx(PACKAGE)], ids=["llvmlite", "bindings"]
)
def test_bitcode_that_cannot_be_read(llvm):
    if isinstance(llvm, BindingsNvptx) and not has_nvptx(PACKAGE):
        pytest.skip(f"the LLVM of {PACKAGE} has no NVPTX target")
    with pytest.raises(RuntimeError, match=r"\w+"):
        llvm.functions(b"BC\xc0\xde" + bytes(60))
