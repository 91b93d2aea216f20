"""nvvm and gpu: `shfl.sync`, which reads values of other lanes (PTX ISA, data movement and
conversion)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import ViolationKind
from ..kernel import Op
from ..lanes import WARP
from ..registry import executes
from ..types import dtype_of
from ..warps import member_lanes


def shuffle_lanes(
    convergent: ConvergentThreads,
    mode: str,
    mask: np.ndarray,
    value: np.ndarray,
    offset: np.ndarray,
    mask_and_clamp: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return, for each thread, the value of another lane, and whether that lane is in its segment; None
    if the threads must wait for others.

    Args:
        convergent: the threads that execute the instruction.
        mode: "up", "down", "bfly" or "idx".
        mask: the member mask.
        value: the operand a, of any type.
        offset: the operand b; only its lowest five bits are used.
        mask_and_clamp: the operand c: bits 0 to 4 are the clamp, 8 to 12 the segment mask.

    Raises:
        Stop: if the mask does not match the threads that execute the instruction; this is reported.
    """
    named = member_lanes(convergent, mask)
    if named is None:
        return None
    threads, value = convergent.lanes.threads, convergent.broadcast(value)
    lane = threads % WARP
    b = convergent.broadcast(offset).astype(np.int64) & WARP - 1
    c = convergent.broadcast(mask_and_clamp).astype(np.int64)
    clamp, segment = c & WARP - 1, c >> 8 & WARP - 1
    least = lane & segment
    most = least | clamp & ~segment
    source = {
        "up": lane - b,
        "down": lane + b,
        "bfly": lane ^ b,
        "idx": least | b & ~segment,
    }[mode]
    valid = source >= most if mode == "up" else source <= most
    source = np.where(valid, source, lane)
    absent = ~named[np.arange(len(threads)), source]
    if absent.any():
        first = int(np.argmax(absent))
        convergent.cta.report_at(
            convergent,
            ViolationKind.POISON,
            f"gives thread {threads[first]} the value of lane {source[first]} of its warp, which does "
            "not take part",
        )
        source = np.where(absent, lane, source)
    row = np.zeros(convergent.cta.threads, np.int64)
    row[threads] = np.arange(len(threads))
    return value[row[threads - lane + source]], valid


@executes("nvvm.shfl.sync")
def _shuffle(op: Op) -> Any:
    mode = op.text("kind").rsplit(" ", 1)[-1].rstrip(">")
    has_predicate = op.has("return_value_and_is_valid")

    def step(convergent: ConvergentThreads, *operands: Any) -> Any:
        mask, value, offset, mask_and_clamp = (
            convergent.check_value(operand) for operand in operands
        )
        shuffled = shuffle_lanes(convergent, mode, mask, value, offset, mask_and_clamp)
        # With the predicate, the result is a struct.
        return shuffled if has_predicate or shuffled is None else shuffled[0]

    return step


#: The mode of `shfl.sync` for each mode of `gpu.shuffle`.
_GPU_MODES = {"xor": "bfly", "up": "up", "down": "down", "idx": "idx"}


@executes("gpu.shuffle")
def _gpu_shuffle(op: Op) -> Any:
    mode = _GPU_MODES[op.text("mode").rsplit(" ", 1)[-1].rstrip(">")]
    if dtype_of(op.operand_types[0], op.location).itemsize != 4:
        raise op.refuse(f"moves {op.operand_types[0]}, which the emulator does not know")

    def step(convergent: ConvergentThreads, *operands: Any) -> Any:
        value, offset, width = (convergent.check_value(operand) for operand in operands)
        # As in upstream's lowering, the first `width` lanes participate.
        left_out = np.uint32(WARP) - width
        mask = np.uint32(0xFFFFFFFF) >> left_out
        clamp = left_out if mode == "up" else width - np.uint32(1)
        return shuffle_lanes(convergent, mode, mask, value, offset, clamp)

    return step
