"""nvvm: bulk copies of contiguous bytes from global to shared memory, without a tensor map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import locate
from ..cta import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..memory import GLOBAL, RANK_SHIFT, SHARED, GlobalArray
from ..ops.nvvm_mbarrier import MBARRIER_BYTES
from ..registry import executes
from ..tensor_map import UNIT
from .bulk_tensor_ops import deliver, target_ctas


@executes("nvvm.cp.async.bulk.shared.cluster.global", tracked=True)
def _load(op: Op) -> Any:
    has_mask = op.numbers("operandSegmentSizes")[4]
    space = op.space

    def step(convergent: ConvergentThreads, *operands: Any) -> None:
        columns = [
            convergent.broadcast(convergent.check_value(value))
            for value in operands[: 4 + has_mask]
        ]
        for row, thread in enumerate(convergent.threads):
            start, source, barrier, size, *mask = (int(value[row]) for value in columns)
            ctas = target_ctas(op, convergent, space, start, *mask)
            start &= (1 << RANK_SHIFT) - 1
            _check(convergent, start, source, size)
            issuer = np.array([thread])
            # The mbarrier has the same address in each CTA.
            list(
                locate(
                    convergent, np.array([barrier]), SHARED, MBARRIER_BYTES, "completes at", issuer
                )
            )
            units = np.arange(0, size, UNIT)
            data = np.empty((len(units), UNIT), np.uint8)
            readers = np.repeat(issuer, len(units))
            for memory, among, local in locate(
                convergent, source + units, GLOBAL, UNIT, "reads", readers
            ):
                if isinstance(memory, GlobalArray):
                    order, number = convergent.cta.launch.order, convergent.current.number
                    report = convergent.cta.reporter(convergent)
                    order.read(readers[among], memory, local, UNIT, number, report)
                data[among] = memory.load(local, UNIT)
            for cta in ctas:
                deliver(convergent, issuer, cta, barrier, start + units, data)

    return step


def _check(convergent: ConvergentThreads, start: int, source: int, size: int) -> None:
    """Check that addresses and size are multiples of 16 bytes, and that the target is in shared memory.

    Raises:
        Stop: if not; this is reported.
    """
    cta, shared = convergent.cta, convergent.cta.shared
    for preposition, number in (("to", start), ("from", source), ("of", size)):
        if number % UNIT:
            cta.report_at(
                convergent,
                ViolationKind.MISALIGNED,
                f"copies bytes {preposition} {number:#x}; a bulk copy takes multiples of {UNIT}",
            )
            raise Stop
    if not shared.inside(start + np.arange(0, size, UNIT), UNIT).all():
        cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"writes {size} bytes from shared address {start:#x} on; the CTA's shared memory is from "
            f"{shared.base:#x} to {shared.base + shared.size - 1:#x}",
        )
        raise Stop
