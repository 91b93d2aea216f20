"""From the LLVM dialect to LLVM IR and PTX.

Both end the process on some inputs (`exit`, assertions, stack overflows), so `llvm_worker` runs them in a
separate one.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import LLVMRefusal
from .narrow_stores import explicit_narrow_stores
from .nvptx import Nvptx
from .targets import Target


def to_llvm_ir(device_module: Any, bindings: str) -> str:
    """Return the LLVM IR of a gpu.module with ops of the LLVM and NVVM dialects.

    Args:
        device_module: the gpu.module op.
        bindings: the name of the MLIR bindings' package.
    """
    # `dialects.llvm` has the function of this module, and imports the Python classes of all ops.
    native = import_module(f"{bindings}._mlir_libs._mlirDialectsLLVM")
    return native.translate_module_to_llvmir(device_module)


def to_ptx(
    device_module: Any, llvm_ir: str, target: Target, llvm: Nvptx, library: Path | None = None
) -> str:
    """Return PTX, after LLVM's O3 pipeline.

    Args:
        device_module: the gpu.module op; it may be erased.
        llvm_ir: the same module as LLVM IR.
        target: the architecture.
        llvm: the LLVM that writes the PTX.
        library: CUDA's libdevice; None if none of its functions is called.

    Raises:
        LLVMRefusal: if LLVM refuses the IR.
        CompileError: if the library cannot be linked.
    """
    ptx = llvm.ptx(device_module, llvm_ir, target, library)
    if unknown := re.search(r"^\.extern \.func .*?(llvm\.[\w.]+)$", ptx, re.M):
        raise LLVMRefusal(
            f"'{unknown[1]}' is an intrinsic that the LLVM of {llvm.name} does not know for "
            f"{target.arch}"
        )
    return explicit_narrow_stores(ptx)
