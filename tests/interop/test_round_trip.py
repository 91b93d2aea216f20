"""mlir-opt 22 reads and prints what passes made of the lit tests and examples, and changes nothing."""

import re
import subprocess
from pathlib import Path

import pytest
from plugin import MLIR_OPT, build_library

from mlir_smem.bindings import ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.interop.host_version import HostVersionError, for_llvm, from_llvm
from mlir_smem.passes import add_pass, pass_named

ROOT = Path(__file__).parents[2]
FILES = sorted((*ROOT.glob("lit_tests/**/*.mlir"), *ROOT.glob("examples/*.mlir")))

#: Its `test` dialect is unregistered for us; mlir-opt has one of that name, without the type.
UNREADABLE = "unregistered-dialects.mlir"

#: LLVM 22 has no barrier that orders accesses to some address spaces alone: it orders all.
SPACES = re.compile(r"address_spaces = \[[^\]]*\], ")


def steps(path, text):
    """The passes of ours that the first command of a lit test runs; the lowering for an example."""
    if path.parent.name == "examples":
        arch = "sm_100" if "nvfp4" in path.name else "sm_90"
        return [pass_named("smem-to-nvvm").from_text(f"arch={arch}")]
    command = re.search(r"^// RUN: smem-opt ([^|\n]*)", text, re.M)
    flags = re.findall(r"--(smem-[\w-]+)(?:=([^\s']+))?", command[1] if command else "")
    return [pass_named(name).from_text(options) for name, options in flags]


def modules(path):
    """Yield the modules of a file after its passes; those that are refused are left out."""
    text = path.read_text()
    for part in text.split("// -----"):
        with new_context() as context:
            context.allow_unregistered_dialects = True
            pm = passmanager.PassManager("builtin.module")
            for pass_ in steps(path, text):
                add_pass(pm, pass_)
            try:
                module = ir.Module.parse(part)
                pm.run(module.operation)
            except ir.MLIRError:
                continue
            yield module


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name != UNREADABLE and "Output" not in path.parts],
    ids=lambda path: path.stem,
)
def test_modules_survive_llvm_22(path):
    command = [MLIR_OPT, f"--load-dialect-plugin={build_library()}", "--allow-unregistered-dialect"]
    command += ["--mlir-print-op-generic", "--mlir-print-debuginfo"]
    for module in modules(path):
        operation = module.operation
        printed = operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        try:
            text = for_llvm(printed, 22)
        except HostVersionError:
            continue
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        again = ir.Module.parse(from_llvm(done.stdout, 22)).operation
        expected = SPACES.sub("", operation.get_asm(print_generic_op_form=True))
        assert again.get_asm(print_generic_op_form=True) == expected
