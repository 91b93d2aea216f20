"""nvvm: what changes no value: the registers of a warpgroup, prefetches, and other kernels."""

from __future__ import annotations

from typing import Any

from ..program import Op
from ..registry import executes


@executes("nvvm.setmaxregister", collective=True)
def _set_registers(op: Op) -> Any:
    # The op's verifier knows which numbers there are.
    return lambda convergent: None


@executes("nvvm.prefetch")
def _prefetch(op: Op) -> Any:
    return lambda convergent, pointer, *policy: None


@executes("nvvm.griddepcontrol")
def _grid_dependency(op: Op) -> Any:
    # One kernel is run at a time: those before it have ended.
    return lambda convergent: None
