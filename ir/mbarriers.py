"""Waits for phases of mbarriers."""

from ..bindings.irtypes import Value
from . import emit

#: Time limit of a wait before it tests again, in nanoseconds (PTX ISA 9.7.13.15.16, suspendTimeHint).
_TICKS = 10_000_000


def wait_for_phase(mbarrier: Value, parity: Value) -> None:
    """Emit a wait for the completion of the phase of a parity (i32): the current phase or the previous
    one. The phase before the first is complete, and has parity 1."""
    ticks = emit.constant(_TICKS, emit.i32())
    emit.op("nvvm.mbarrier.try_wait.parity", (mbarrier, parity, ticks))
