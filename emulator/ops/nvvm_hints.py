"""nvvm: ops without effect on values: `setmaxnreg`, prefetches, `griddepcontrol`."""

from __future__ import annotations

from typing import Any

from ..kernel import Op
from ..registry import executes


@executes("nvvm.setmaxregister", collective=True)
def _set_registers(op: Op) -> Any:
    # The op's verifier checks the number of registers.
    return lambda convergent: None


@executes("nvvm.prefetch")
def _prefetch(op: Op) -> Any:
    return lambda convergent, pointer, *policy: None


@executes("nvvm.griddepcontrol")
def _grid_dependency(op: Op) -> Any:
    # One kernel runs at a time: earlier kernels have ended.
    return lambda convergent: None
