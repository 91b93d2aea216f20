"""Who finds a fault: the static checker, the emulator's rules, or the wrong result."""

from dataclasses import dataclass

import numpy as np

from faults.bases import Base, base
from faults.catalogue import Fault
from mlir_smem.codegen import Compiled
from mlir_smem.codegen.llvm_dialect import device_module
from mlir_smem.codegen.manifest import manifest_of
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir, passmanager
from mlir_smem.dialect.diagnostics import remark_handler
from mlir_smem.emulator import EmulationError, Violations
from mlir_smem.passes.driver.base import run_on
from mlir_smem.passes.smem_to_nvvm import SmemToNvvm
from mlir_smem.runtime import run_on_cpu

CHECKER = "smem-check-async"


@dataclass(frozen=True)
class Verdict:
    """What was found in a kernel.

    Attributes:
        checker: "error" or "remark" of `smem-check-async`, or "".
        emulator: the rules that the emulator saw broken, "wrong result", or "".
    """

    checker: str
    emulator: str

    @property
    def found(self) -> bool:
        """Whether anyone found anything that stops the kernel from being trusted."""
        return self.checker == "error" or bool(self.emulator)


def verdict(fault: Fault) -> Verdict:
    """What is found in a kernel with a fault."""
    kernel = base(fault.base)
    if not fault.lowered:
        text = fault.edit(kernel.text)
        return Verdict(check(text, kernel), emulated(lower(text, kernel), kernel))
    compiled = lower(kernel.text, kernel)
    return Verdict("", emulated(_edited(compiled, fault), kernel))


def _edited(compiled: Compiled, fault: Fault) -> Compiled:
    return Compiled(compiled.manifest, compiled.nvvm, located=fault.edit(compiled.nvvm))


def lower(text: str, kernel: Base) -> Compiled:
    """Lowers a kernel without checking it, and folds its constants."""
    with new_context() as context:
        module = ir.Module.parse(text)
        _run(module, kernel, lambda name: name != CHECKER)
        pm = passmanager.PassManager("builtin.module", context)
        pm.add("gpu.module(canonicalize,cse)")
        pm.run(module.operation)
        nvvm = str(module)
        return Compiled(manifest_of(device_module(module), "sm_90a"), nvvm, located=nvvm)


def check(text: str, kernel: Base) -> str:
    """What the static checker says of a kernel."""
    remarks: list[str] = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        module = ir.Module.parse(text)
        failed = not _run(module, kernel, lambda name: True)
    return "error" if failed else "remark" if remarks else ""


def _run(module, kernel: Base, wanted) -> bool:
    """Runs the passes whose names are wanted; whether all succeeded."""
    passes = SmemToNvvm(reserved_bytes=kernel.reserved_bytes).passes()
    return all(run_on(each, module.operation) for each in passes if wanted(each.name))


def emulated(compiled: Compiled, kernel: Base) -> str:
    """What the emulator says of a lowered kernel."""
    try:
        results = run_on_cpu(compiled, kernel.entry, kernel.inputs, [kernel.output], kernel.grid)
    except Violations as error:
        return ", ".join(dict.fromkeys(violation.kind.value for violation in error.found))
    except EmulationError as error:
        return f"refused: {error.message}"
    error = np.abs(results[kernel.output].astype(np.float64) - kernel.exact)
    # NaN is no number within the bound.
    return "" if (error <= kernel.bound).all() else "wrong result"
