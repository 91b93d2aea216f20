"""Who finds a fault: the static checker, the emulator's rules, or the wrong result."""

from dataclasses import dataclass, replace

from faults.bases import base
from faults.catalogue import Fault
from fuzz.generated.kernels import emulated, judged
from mlir_smem.codegen import Compiled

#: What the table says of the checker's verdicts.
CHECKER = {"proven": "", "undecided": "remark", "wrong": "error"}


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
        broken = replace(kernel, text=fault.edit(kernel.text))
        found = judged(broken)
        return Verdict(CHECKER[found.said.verdict], emulated(found.compiled, broken))
    return Verdict("", emulated(_edited(judged(kernel).compiled, fault), kernel))


def _edited(compiled: Compiled, fault: Fault) -> Compiled:
    return Compiled(compiled.manifest, compiled.nvvm, located=fault.edit(compiled.nvvm))
