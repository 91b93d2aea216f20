"""What finds a fault: the static checker, the emulator's rules, or a wrong result."""

from dataclasses import dataclass, replace

from fuzz.generated.kernels import check_and_lower, emulate_kernel
from mlir_smem.codegen import Compiled
from seeded_faults.bases import base
from seeded_faults.catalogue import Fault

#: The checker's evaluations, as the table shows them.
CHECKER = {"proven": "", "not proven": "remark", "wrong": "error"}


@dataclass(frozen=True)
class Evaluation:
    """What was reported of a kernel.

    Attributes:
        checker: "error" or "remark" of `smem-check-async`, or "".
        emulator: the violations that the emulator reported, "wrong result", or "".
    """

    checker: str
    emulator: str

    @property
    def is_noticed(self) -> bool:
        """Whether the checker reports an error, or the emulator a violation or a wrong result."""
        return self.checker == "error" or bool(self.emulator)


def evaluation(fault: Fault) -> Evaluation:
    """Evaluate a kernel with a fault."""
    kernel = base(fault.base)
    if not fault.lowered:
        broken = replace(kernel, text=fault.edit(kernel.text))
        lowering = check_and_lower(broken)
        return Evaluation(
            CHECKER[lowering.check.evaluation], emulate_kernel(lowering.compiled, broken)
        )
    return Evaluation(
        "", emulate_kernel(_apply_edit(check_and_lower(kernel).compiled, fault), kernel)
    )


def _apply_edit(compiled: Compiled, fault: Fault) -> Compiled:
    edited = fault.edit(compiled.nvvm)
    return Compiled(compiled.manifest, compiled.nvvm, bytecode=edited.encode())
