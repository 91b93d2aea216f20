"""Contenders that are calls of functions of PyTorch."""

import time
from collections.abc import Callable
from typing import Any

import torch


class Calls:
    """Calls of a function on PyTorch's current stream.

    Attributes:
        name, gemms: as `interleaved.Contender` says.
    """

    def __init__(self, name: str, call: Callable[[], Any]) -> None:
        self.name, self.gemms, self.call = name, 1, call

    def batch(self, units: int) -> tuple[float, float]:
        """See `interleaved.Contender`."""
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.call()
        first.record()
        for _ in range(units):
            self.call()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1e3, time.perf_counter() - start


def capture(call: Callable[[], Any]) -> Callable[[], None]:
    """Return the replay of a call that a CUDA graph has captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay
