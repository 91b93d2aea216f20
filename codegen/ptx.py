"""From the LLVM dialect to LLVM IR and PTX, with the NVPTX target of llvmlite.

Both end the process on some inputs (`exit`, assertions, stack overflows), so `llvm_worker` runs them in a
separate one.
"""

import re
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding as llvmlite

from . import libdevice
from .errors import LLVMRefusal
from .inlined_calls import InlinedCalls
from .literals import portable_literals
from .narrow_stores import explicit_narrow_stores
from .targets import Target

TRIPLE = "nvptx64-nvidia-cuda"


def to_llvm_ir(device_module: Any, bindings: str) -> str:
    """Return the LLVM IR of a gpu.module with ops of the LLVM and NVVM dialects.

    Args:
        device_module: the gpu.module op.
        bindings: the name of the MLIR bindings' package.
    """
    return import_module(f"{bindings}.dialects.llvm").translate_module_to_llvmir(device_module)


def to_ptx(llvm_ir: str, target: Target, library: Path | None = None) -> str:
    """Return PTX, after LLVM's O3 pipeline.

    Args:
        llvm_ir: the module.
        target: the architecture.
        library: CUDA's libdevice; None if none of its functions is called.

    Raises:
        LLVMRefusal: if LLVM refuses the IR.
        CompileError: if the library cannot be linked.
    """
    _initialize()
    try:
        calls = InlinedCalls(llvm_ir)
        module = llvmlite.parse_assembly(portable_literals(calls.llvm_ir))
        module.verify()
    except RuntimeError as error:
        raise LLVMRefusal(f"LLVM refuses the module: {error}") from error
    machine = llvmlite.Target.from_triple(TRIPLE).create_target_machine(
        cpu=target.arch, features=f"+{target.ptx}", opt=3
    )
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    if library is not None:
        libdevice.link(module, library)
    builder = llvmlite.create_pass_builder(
        machine, llvmlite.create_pipeline_tuning_options(speed_level=3)
    )
    builder.getModulePassManager().run(module, builder)
    ptx = machine.emit_assembly(module)
    if unknown := re.search(r"^\.extern \.func .*?(llvm\.[\w.]+)$", ptx, re.M):
        raise LLVMRefusal(
            f"'{unknown[1]}' is an intrinsic that the LLVM of llvmlite "
            f"{version('llvmlite')} does not know for {target.arch}"
        )
    return explicit_narrow_stores(calls.in_ptx(ptx))


@cache
def _initialize() -> None:
    llvmlite.initialize_all_targets()
    llvmlite.initialize_all_asmprinters()
