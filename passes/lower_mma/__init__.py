"""`smem-lower-mma`: fragments become registers, and mma the instructions that compute them."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.mma import PRODUCTS, STARTED, extras_of
from ...dialect.types import FragmentType, is_in_flight, shape_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import check_collective, function_of, gather, required_block_size
from ...ir.threads import linear_thread
from ...layout.arch import Arch
from ..driver.base import Pass, option
from .by_columns import is_read_by_columns
from .columns import lower_columns
from .conversion import lower_convert
from .elementwise import lower_fill, lower_map
from .form import check_operands
from .instructions import lower_wait, lower_wgmma
from .loads import lower_load
from .prepared import check_memories
from .registers import Registers, convert_types, registers_of, word_count
from .scaled import lower_scaled
from .steps import Steps
from .stores import lower_store
from .tcgen05 import OnTcgen05, Types, lower_tcgen05, lower_tcgen05_columns, lower_tcgen05_wait

_OPS = (
    "smem.wgmma",
    "smem.wgmma_sp",
    "smem.tcgen05_scaled",
    "smem.wait",
    "smem.fill",
    "smem.map",
    "smem.convert",
    "smem.columns",
    "smem.load",
    "smem.store",
)


@dataclass(frozen=True)
class LowerMma(Pass):
    """Emits `nvvm.wgmma.*`, or `nvvm.tcgen05.*` on architectures that have it, computes with fragments,
    and moves them in and out of registers; no fragment is left."""

    name = "smem-lower-mma"
    description = "lower mma, and what is done with fragments, to NVVM and LLVM"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")

    def run(self, module: Any) -> None:
        products, lowered, scales, memories = gather(
            module, PRODUCTS, _OPS, ("smem.scale_d",), ("smem.tensor_memory",)
        )
        for mma in products:
            raise OpError(mma, "still reads tiles; run smem-materialize-descriptors before")
        for op in lowered:
            check_collective(op)
            if op.operation.name in STARTED:
                check_operands(op, self.arch)
        check_memories(lowered, memories, self.arch)
        # Shapes are read off the fragment types, so those are noted before they are converted.
        ops = [Typed(op, self.arch) for op in lowered]
        convert_types(module, self.arch.is_tcgen05)
        kernels = {function_of(op): OnTcgen05(op, self.arch) for op in memories}
        steps = Steps()
        for op in ops:
            op.lower(steps, kernels.get(function_of(op.op)))
        # What it says is in the instructions that used it.
        for op in scales:
            op.operation.erase()


class Typed:
    """An op with the fragment types that its operands and its result had."""

    def __init__(self, op: Any, arch: Arch) -> None:
        self.op, self._arch = op, arch
        self.operands = [v.type for v in op.operands]
        self.result = op.results[0].type if len(op.results) else None
        self._stays = op.operation.name == "smem.wait" and (
            is_in_flight(self.result) or (arch.is_tcgen05 and is_read_by_columns(op))
        )

    def lower(self, steps: Steps, kernel: "OnTcgen05 | None") -> None:
        """Puts instructions in the op's place; `kernel` is the one around it if it has tensor memory."""
        op = self.op
        with ir.InsertionPoint(op), op.location:
            new = self._in_tensor_memory(steps, kernel) if kernel else None
            new = new or self._lowered(steps)
        if new is not None:
            op.results[0].replace_all_uses_with(new)
        op.operation.erase()

    def _in_tensor_memory(self, steps: Steps, kernel: "OnTcgen05") -> Any:
        """The address or the registers of an accumulator in tensor memory; None for what has none."""
        op, result = self.op, self.result
        match op.operation.name:
            case "smem.wgmma" | "smem.wgmma_sp" | "smem.tcgen05_scaled":
                given = extras_of(op).accumulator
                position = None if given is None else list(op.operands).index(given)
                a = self.operands[0]
                types = Types(
                    result,
                    None if position is None else self.operands[position],
                    a if isinstance(a, FragmentType) else None,
                )
                lower = lower_scaled if extras_of(op).scales else lower_tcgen05
                return lower(op, types, self._registers(result), kernel, steps)
            case "smem.wait":
                registers = None if self._stays else self._registers(result)
                return lower_tcgen05_wait(op, registers, kernel.memory)
            case "smem.columns" if op.operands[0].type == emit.i32():
                _, columns = shape_of(self.operands[0])
                return lower_tcgen05_columns(op, self._registers(result), columns, kernel.memory)
            case "smem.fill" if is_in_flight(result):
                registers = self._registers(result)
                return kernel.begin(result, registers, lower_fill(op, registers))
        return None

    def _lowered(self, steps: Steps) -> Any:
        op, result = self.op, self.result
        match op.operation.name:
            case "smem.wgmma" | "smem.wgmma_sp":
                a = self.operands[0]
                words = word_count(a) if isinstance(a, FragmentType) else 0
                return lower_wgmma(op, self._registers(result), words, function_of(op), steps)
            case "smem.wait":
                return lower_wait(op, self._registers(result), result)
            case "smem.fill":
                return lower_fill(op, self._registers(result))
            case "smem.map":
                return lower_map(op, self._registers(result), self._accumulators(), self._thread())
            case "smem.convert":
                return lower_convert(op, self.operands[0], result, self._thread())
            case "smem.columns":
                return lower_columns(op, self._registers(self.operands[0]), self._registers(result))
            case "smem.load":
                return lower_load(op, result, self._thread(), self._arch.is_tcgen05)
            case _:
                lower_store(op, self._registers(self.operands[0]), self._thread())
                return None

    def _registers(self, fragment: Any) -> Registers:
        return registers_of(fragment, self._arch.is_tcgen05)

    def _accumulators(self) -> list[Registers]:
        return [self._registers(type_) for type_ in self.operands]

    def _thread(self) -> Any:
        """The thread's index in its block (i32)."""
        return linear_thread(required_block_size(self.op))
