"""The LLVM dialect: atomics in global memory, and fences (PTX ISA 9.7.13.5, atom; 9.7.13.4, fence)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..access import locate
from ..cta import ConvergentThreads
from ..kernel import Op
from ..memory import GENERIC, GLOBAL, GlobalArray
from ..registry import executes
from ..types import dtype_of

#: New values of a 32-bit word, from the old one and the operand, by the number of the operation (LLVM
#: dialect, AtomicBinOp): add, and uinc_wrap (`atom.inc`).
_OPERATIONS: dict[int, Callable[[int, int], int]] = {
    1: lambda old, by: (old + by) & 0xFFFFFFFF,
    15: lambda old, limit: 0 if old >= limit else old + 1,
}

#: The orderings that acquire and those that release (LLVM dialect, AtomicOrdering): acquire, release,
#: acq_rel, seq_cst.
_ACQUIRES, _RELEASES = (4, 6, 7), (5, 6, 7)

#: Scopes that reach other clusters; without one, the scope is the system.
_SCOPES = ("", "device")

_SIZE = 4


@executes("llvm.atomicrmw")
def _atomic(op: Op) -> Any:
    operation, space = op.number("bin_op"), op.space
    type_ = op.result_types[0]
    if operation not in _OPERATIONS or str(type_) != "i32" or space not in (GENERIC, GLOBAL):
        raise op.refuse(
            f"is operation {operation} of {type_} at a {op.operand_types[0]}; the emulator knows add and "
            "uinc_wrap of i32 in global memory"
        )
    _check_scope(op)
    compute, dtype = _OPERATIONS[operation], dtype_of(type_, op.location)
    ordering = op.number("ordering")
    acquires, releases = ordering in _ACQUIRES, ordering in _RELEASES

    def step(convergent: ConvergentThreads, pointer: Any, by: Any) -> np.ndarray:
        addresses = convergent.broadcast(convergent.check_value(pointer))
        operands = convergent.broadcast(convergent.check_value(by))
        order, old_values = convergent.cta.launch.order, np.empty(len(addresses), dtype)
        number, report = convergent.current.number, convergent.cta.reporter(convergent)
        # The threads take turns; any order is possible.
        for row, thread in enumerate(convergent.threads):
            lane = convergent.lanes.threads[row : row + 1]
            for memory, _, local in locate(
                convergent, addresses[row : row + 1], space, _SIZE, "updates", lane
            ):
                if not isinstance(memory, GlobalArray):
                    raise op.refuse("is not in global memory; the emulator knows atomics there")
                issuer = convergent.threads[row : row + 1]
                order.write(issuer, memory, local, _SIZE, number, report, atomic=True)
                order.releases.atomic(int(thread), int(local[0]), acquires, releases)
                old = memory.load(local, _SIZE).view(dtype)[0]
                new = np.array([compute(int(old[0]), int(operands[row]))], dtype)
                memory.store(local, new.view(np.uint8).reshape(1, _SIZE))
                old_values[row] = old[0]
        return old_values

    return step


@executes("llvm.fence")
def _fence(op: Op) -> Any:
    _check_scope(op)
    ordering = op.number("ordering")
    if ordering not in _ACQUIRES or ordering not in _RELEASES:
        raise op.refuse("acquires or releases alone; the emulator knows acq_rel and seq_cst")
    return lambda convergent: convergent.cta.launch.order.releases.fence(convergent.threads)


def _check_scope(op: Op) -> None:
    scope = op.string("syncscope") if op.has("syncscope") else ""
    if scope not in _SCOPES:
        raise op.refuse(
            f'is of scope "{scope}"; the emulator knows "device" and that of the system'
        )
