"""Waits for phases of mbarriers."""

from typing import Any

from . import emit

#: Nanoseconds after which a wait looks again (a hint: PTX ISA 9.7.13.15.16, suspendTimeHint).
_TICKS = 10_000_000


def wait_for_phase(mbarrier: Any, parity: Any) -> None:
    """Emits a wait for the end of the phase of that parity (i32), which is the current one or the one
    before it. The phase before the first is over, and odd."""
    ticks = emit.constant(_TICKS, emit.i32())
    emit.op("nvvm.mbarrier.try_wait.parity", (mbarrier, parity, ticks))
