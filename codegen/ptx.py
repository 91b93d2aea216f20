"""From the LLVM dialect to LLVM IR and PTX, with the NVPTX target that llvmlite carries."""

import re
from functools import cache
from importlib.metadata import version
from typing import Any

import llvmlite.binding as llvmlite

from ..dialect.bindings import llvm
from . import libdevice
from .errors import CompileError
from .literals import portable_literals
from .narrow_stores import explicit_narrow_stores
from .targets import Target

TRIPLE = "nvptx64-nvidia-cuda"


def to_llvm_ir(device_module: Any) -> str:
    """The LLVM IR of a gpu.module whose ops are of the LLVM and NVVM dialects."""
    return llvm.translate_module_to_llvmir(device_module.operation)


def to_ptx(llvm_ir: str, target: Target) -> str:
    """PTX, after LLVM's O3 pipeline.

    Raises:
        CompileError: if LLVM refuses the IR.
    """
    _initialize()
    try:
        module = llvmlite.parse_assembly(portable_literals(llvm_ir))
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the module: {error}") from error
    machine = llvmlite.Target.from_triple(TRIPLE).create_target_machine(
        cpu=target.arch, features=f"+{target.ptx}", opt=3
    )
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    libdevice.link(module)
    builder = llvmlite.create_pass_builder(
        machine, llvmlite.create_pipeline_tuning_options(speed_level=3)
    )
    builder.getModulePassManager().run(module, builder)
    ptx = machine.emit_assembly(module)
    if unknown := re.search(r"^\.extern \.func .*?(llvm\.[\w.]+)$", ptx, re.M):
        raise CompileError(
            f"'{unknown[1]}' is an intrinsic that the LLVM of llvmlite "
            f"{version('llvmlite')} does not know for {target.arch}"
        )
    return explicit_narrow_stores(ptx)


@cache
def _initialize() -> None:
    llvmlite.initialize_all_targets()
    llvmlite.initialize_all_asmprinters()
