"""A host program through Debian's C++ tools of another version, to an object file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from host_programs import DEVICE, DYNAMIC, HOST, STATIC, copying

from mlir_smem.interop import lower_text

TOOLS = [shutil.which(name) for name in ("mlir-opt-22", "mlir-translate-22", "llc-22")]

#: The form that other versions of MLIR read.
GENERIC = ("--mlir-print-op-generic", "--mlir-print-debuginfo")

pytestmark = pytest.mark.skipif(
    None in TOOLS, reason="mlir-opt-22, mlir-translate-22 or llc-22 is not installed"
)


def run(tool, *options, stdin):
    ran = subprocess.run([tool, *options], check=False, input=stdin, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


#: From linalg on tensors to kernels, and a plain kernel for the op that is none of the library's.
LINALG = (
    "linalg-to-smem-prepare,linalg-to-smem,canonicalize,cse,one-shot-bufferize{"
    "bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},"
    "canonicalize,cse,linalg-to-launches,gpu-kernel-outlining,smem-to-nvvm"
)

#: A product that is rounded to bf16, and stored by a kernel that converts.
LAYER = """func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %begin = linalg.fill ins(%zero : bf16) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>)
    outs(%begin : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %f = tensor.empty() : tensor<64xbf16>
  %start = linalg.fill ins(%zero : bf16) outs(%f : tensor<64xbf16>) -> tensor<64xbf16>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<64x64xbf16>) outs(%start : tensor<64xbf16>)
    dimensions = [1]
  return %s : tensor<64xbf16>
}"""


def lower(text, ours):
    """Lower a program by turns with Debian's tools; return the host's module and its LLVM IR."""
    mlir_opt, translate, _ = TOOLS
    text = lower_text(text, f"builtin.module({ours})", host_llvm=22)
    device = (f"--pass-pipeline=builtin.module({DEVICE})", *GENERIC)
    lowered = run(mlir_opt, *device, stdin=text.encode())
    ours = lower_text(lowered.decode(), "builtin.module(smem-lower-launches)", host_llvm=22)
    host = (
        f"nvvm-attach-target{{chip=sm_90a features=+ptx80}},{HOST},"
        "gpu-module-to-binary{format=isa}"
    )
    module = run(mlir_opt, f"--pass-pipeline=builtin.module({host})", stdin=ours.encode())
    return module, run(translate, "--mlir-to-llvmir", stdin=module)


@pytest.mark.parametrize("matrix", [STATIC, DYNAMIC])
def test_to_an_object_file(matrix):
    module, llvm = lower(copying(matrix), "smem-to-nvvm")
    # The kernel takes its maps by value, where TMA reads them.
    assert module.count(b".param .align 64 .b8 copy_param_") == 2
    assert llvm.count(b"call void @mgpuTensorMapEncodeTiled(") == 2
    code = run(TOOLS[2], "-filetype=obj", "-relocation-model=pic", "-o", "-", stdin=llvm)
    assert code.startswith(b"\x7fELF") and b"mgpuTensorMapEncodeTiled" in code


@pytest.mark.parametrize("program", [copying(STATIC), LAYER])
def test_the_page_runs_as_it_is_printed(program, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text()
    (command,) = re.findall(r"```sh\n(smem-opt program.mlir .*?)```", page, re.S)
    (linalg,) = re.findall(r"```\n(linalg-to-smem-prepare,.*?)```", page, re.S)
    if program is LAYER:
        command = command.replace("gpu-kernel-outlining,smem-to-nvvm", linalg)
    (tmp_path / "program.mlir").write_text(program)
    bash = ["bash", "-o", "pipefail", "-c", command]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        bash, check=False, cwd=tmp_path, capture_output=True, env={**os.environ, "PATH": path}
    )
    assert ran.returncode == 0, ran.stderr.decode()
    host = (tmp_path / "program.ll").read_bytes()
    assert b"@mgpuLaunchKernel(" in host and b"@malloc(" not in host
    # Its result is the caller's, and freed there.
    allocated, freed = (host.count(b"@mgpuMem%b(" % name) for name in (b"Alloc", b"Free"))
    assert bool(allocated) == bool(freed) == (program is LAYER)


def test_a_layer_of_bf16():
    """Conversions of floats have flags since LLVM 23."""
    module, llvm = lower(LAYER, LINALG)
    assert module.count(b"cvt.rn.bf16x2.f32") and module.count(b".visible .entry") == 3
    assert (
        llvm.count(b"call void @mgpuLaunchKernel(") + llvm.count(b"mgpuLaunchClusterKernel(") >= 3
    )
