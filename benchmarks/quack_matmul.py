"""QuACK's GEMM, a kernel of the CuTe DSL, with the configuration that its own tuner finds."""

from collections.abc import Iterator
from functools import partial

import torch
from quack.gemm_interface import gemm
from torch_contenders import StreamContender


def contenders(
    operands: dict[str, tuple[torch.Tensor, torch.Tensor]], out: torch.Tensor, gemms: int
) -> Iterator[StreamContender]:
    """A contender for each layout.

    Its first call tunes: it measures all configurations that QuACK has for the GPU. Operands are by the
    name of their layout.
    """
    for layout, (a, b) in operands.items():
        enqueue = partial(gemm, a, b, out=out, tuned=True)
        yield StreamContender(f"QuACK {layout}", enqueue, out, gemms, "by its tuner")
