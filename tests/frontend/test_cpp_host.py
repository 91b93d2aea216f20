"""A host program through Debian's C++ tools of another version, to an object file."""

import shutil
import subprocess

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


@pytest.mark.parametrize("matrix", [STATIC, DYNAMIC])
def test_to_an_object_file(matrix):
    mlir_opt, translate, llc = TOOLS
    text = lower_text(copying(matrix), "builtin.module(smem-to-nvvm)", host_llvm=22)
    device = (f"--pass-pipeline=builtin.module({DEVICE})", *GENERIC)
    lowered = run(mlir_opt, *device, stdin=text.encode())
    ours = lower_text(lowered.decode(), "builtin.module(smem-lower-launches)", host_llvm=22)
    host = f"nvvm-attach-target{{chip=sm_90a features=+ptx80}},{HOST},gpu-module-to-binary{{format=isa}}"
    module = run(mlir_opt, f"--pass-pipeline=builtin.module({host})", stdin=ours.encode())
    # The kernel takes its maps by value, where TMA reads them.
    assert module.count(b".param .align 64 .b8 copy_param_") == 2
    llvm = run(translate, "--mlir-to-llvmir", stdin=module)
    assert llvm.count(b"call void @mgpuTensorMapEncodeTiled(") == 2
    code = run(llc, "-filetype=obj", "-relocation-model=pic", "-o", "-", stdin=llvm)
    assert code.startswith(b"\x7fELF") and b"mgpuTensorMapEncodeTiled" in code
