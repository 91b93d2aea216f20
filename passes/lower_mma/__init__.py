"""`smem-lower-mma`: fragments become registers, and mma the instructions that compute them."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ..base import OpError, Pass
from ..kernel import function_of, required_block_size, walk
from ..threads import linear_thread
from .epilogue import lower_fill, lower_store
from .instructions import Steps, lower_wait, lower_wgmma
from .registers import convert_types, registers_of

_OPS = ("smem.wgmma", "smem.wait", "smem.fill", "smem.store")


@dataclass(frozen=True)
class LowerMma(Pass):
    """Emits `nvvm.wgmma.*`, and moves fragments in and out of registers; no `smem` op is left."""

    name = "smem-lower-mma"
    description = "lower mma, waits, fills and stores of fragments to NVVM and LLVM"

    def run(self, module: Any) -> None:
        for mma in walk(module, "smem.mma"):
            raise OpError(mma, "still reads tiles; run smem-materialize-descriptors before")
        steps = Steps()
        # Shapes are read off the fragment types, so those are noted before they are converted.
        ops = [(op, _fragment_type(op)) for op in walk(module, *_OPS)]
        convert_types(module)
        for op, type_ in ops:
            registers = registers_of(type_)
            function = function_of(op)
            with ir.InsertionPoint(op), op.location:
                match op.operation.name:
                    case "smem.wgmma":
                        new = lower_wgmma(op, registers, function, steps)
                    case "smem.wait":
                        new = lower_wait(op, registers, type_)
                    case "smem.fill":
                        new = lower_fill(op, registers)
                    case _:
                        lower_store(op, registers, linear_thread(required_block_size(op)))
                        new = None
            if new is not None:
                op.results[0].replace_all_uses_with(new)
            op.operation.erase()


def _fragment_type(op: Any) -> Any:
    """The type of the fragment that an op makes, or stores."""
    return op.results[0].type if len(op.results) else op.operands[0].type
