"""Kernels with inputs and results, and what the checker and the emulator report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_smem.bindings import ir, passmanager
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.codegen import Compiled
from mlir_smem.codegen.llvm_dialect import device_module
from mlir_smem.codegen.manifest import manifest_of
from mlir_smem.dialect import new_context
from mlir_smem.emulator import EmulationError, Violations
from mlir_smem.layout.arch import Arch
from mlir_smem.passes import OpError, pass_named
from mlir_smem.passes.assert_bounds import AssertBounds
from mlir_smem.passes.driver.base import Pass
from mlir_smem.passes.smem_to_nvvm import SmemToNvvm
from mlir_smem.runtime import run_on_cpu


@dataclass(frozen=True)
class KernelCase:
    """A kernel with its inputs and its expected result.

    Attributes:
        text: the module, with `smem` ops.
        entry, inputs, output, grid: how the kernel is run.
        exact: the exact result, in float64.
        bound: the allowed error.
        reserved_bytes: an option of the lowering.
        arch: the architecture that it is lowered for.
        is_conclusive: whether a run shows everything that can go wrong: extents are known to the
            compiler, every stage is used often enough, and the registers of the dialect are those of the
            hardware.
        others: the exact results in other arguments.
    """

    text: str
    entry: str
    inputs: Mapping[str, Any]
    output: str
    grid: tuple[int, ...] | None
    exact: np.ndarray
    bound: np.ndarray
    reserved_bytes: int = 0
    arch: str = "sm_90a"
    is_conclusive: bool = True
    others: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def pipeline(self) -> SmemToNvvm:
        """The passes that lower the kernel."""
        return SmemToNvvm(
            arch=Arch.parse(self.arch.rstrip("a")), reserved_bytes=self.reserved_bytes
        )


@dataclass(frozen=True)
class CheckResult:
    """The checker's evaluation ("proven", "wrong" or "not proven"), and its messages."""

    evaluation: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckedKernel:
    """The checker's result for a kernel, and the lowered module."""

    check: CheckResult
    compiled: Compiled


def run_checker(module: ir.Module, check: Pass | None = None) -> CheckResult:
    """Run `smem-check-async` on a module, in the current context."""
    remarks: list[str] = []
    with remark_handler(lambda _, message: remarks.append(message)):
        try:
            (check or pass_named("smem-check-async")()).run(module)
        except OpError as error:
            return CheckResult("wrong", (error.message,))
    return CheckResult("not proven" if remarks else "proven", tuple(remarks))


def check_and_lower(kernel: KernelCase) -> CheckedKernel:
    """Lower a kernel for the emulator, even if the checker refuses it, and fold its constants.

    Raises:
        OpError, Invalid, MLIRError: if anything other than the checker refuses it.
    """
    results = [CheckResult("proven")]
    with new_context():
        compiled = lower(ir.Module.parse(kernel.text), kernel, results.append)
    return CheckedKernel(results[-1], compiled)


def lower(module: ir.Module, kernel: KernelCase, note: Callable[[CheckResult], None]) -> Compiled:
    """Lower a module in place for the emulator, even if the checker refuses it, and fold its constants.

    Args:
        module: the module of the kernel, or an edit of it.
        kernel: determines how it is lowered.
        note: is called with the checker's result, also if another pass then refuses the module.

    Raises:
        OpError, Invalid, MLIRError: if anything other than the checker refuses it.
    """
    for pass_ in kernel.pipeline().passes():
        if pass_.name == "smem-check-async":
            note(run_checker(module, pass_))
            AssertBounds().run(module)
        else:
            pass_.run(module)
    return fold_constants(module, module.context, kernel.arch)


def fold_constants(module: ir.Module, context: ir.Context, arch: str) -> Compiled:
    """Fold the constants of a lowered module, for the emulator."""
    pm = passmanager.PassManager("builtin.module", context)
    pm.add("gpu.module(canonicalize,cse)")
    pm.run(module.operation)
    nvvm = str(module)
    return Compiled(manifest_of(device_module(module), arch), nvvm, bytecode=nvvm.encode())


def emulate_kernel(compiled: Compiled, kernel: KernelCase, schedule: int = 0) -> str:
    """Run a lowered kernel; return the rules that it violates, "wrong result", or an empty string.

    Args:
        compiled: the lowered kernel.
        kernel: its inputs and results.
        schedule: the order in which threads run; see `emulate`.
    """
    try:
        outputs = [kernel.output, *kernel.others]
        results = run_on_cpu(
            compiled, kernel.entry, kernel.inputs, outputs, kernel.grid, schedule=schedule
        )
    except Violations as error:
        return ", ".join(dict.fromkeys(violation.kind.value for violation in error.found))
    except EmulationError as error:
        return f"refused: {error.message}"
    error = np.abs(results[kernel.output].astype(np.float64) - kernel.exact)
    # NaN is not within the bound.
    right = (error <= kernel.bound).all() and all(
        np.array_equal(results[name].astype(np.float64), exact)
        for name, exact in kernel.others.items()
    )
    return "" if right else "wrong result"
