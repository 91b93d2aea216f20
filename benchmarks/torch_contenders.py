"""Contenders that run on PyTorch's current stream: cuBLAS, and ours."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch


class OnStream:
    """A product that is enqueued on PyTorch's current stream; a unit is a CUDA graph of several.

    With graphs nobody's launches cost time of the host, which short products would otherwise measure.

    Attributes:
        name, products: as `interleaved.Contender` says.
        config: what was chosen for it, for the record.
    """

    def __init__(
        self,
        name: str,
        enqueue: Callable[[], object],
        out: torch.Tensor,
        products: int,
        config: str = "",
    ):
        self.name, self.products, self.config = name, products, config
        self._enqueue, self._out = enqueue, out
        self._stream = torch.cuda.Stream()
        self._graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            enqueue()  # what only the first call does must not be captured
            self._stream.synchronize()
            # `torch.cuda.graph` would collect garbage first, which takes longer than all the rest.
            self._graph.capture_begin(capture_error_mode="thread_local")
            try:
                for _ in range(products):
                    enqueue()
            finally:
                self._graph.capture_end()

    def once(self) -> None:
        """Runs one product, outside of the graph."""
        with torch.cuda.stream(self._stream):
            self._enqueue()
        self._stream.synchronize()

    def result(self) -> torch.Tensor:
        """The product, in memory that held nothing like it before."""
        self._out.fill_(float("nan") if self._out.is_floating_point() else -1)
        torch.cuda.synchronize()
        self.once()
        return self._out

    def batch(self, units: int) -> tuple[float, float]:
        """As `interleaved.Contender` says."""
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.cuda.stream(self._stream):
            self._graph.replay()
            first.record()
            for _ in range(units):
                self._graph.replay()
            last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1e3, time.perf_counter() - start


def cublas(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> Callable[[], object]:
    """cuBLAS's product of these operands, by the function that PyTorch has for their type."""
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, b, out=out)
    if a.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device=a.device)
        return lambda: torch._scaled_mm(
            a, b, one, one, out_dtype=out.dtype, use_fast_accum=True, out=out
        )
    return lambda: torch.mm(a, b, out=out)


def ours(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor
) -> Iterator[tuple[str, Callable[[], object], str]]:
    """This project's product as it is tuned for these operands, and as it would be without, if that is
    another: what to add to its name, the call, and the configuration."""
    from mlir_smem.kernels.gemm import prepare, tune
    from mlir_smem.kernels.gemm.call.operands import operands
    from mlir_smem.kernels.gemm.generator.config import default_config
    from mlir_smem.runtime import device_array

    of = operands(device_array("A", a), device_array("B", b), device_array("C", out))
    configs = {"": tune(a, b, out), " untuned": default_config(of.problem, of.m, of.n, of.k)}
    for which, config in configs.items():
        if not which or config != configs[""]:
            prepared = prepare(a, b, out, config)
            launch = partial(_launch, prepared)
            yield which, launch, str(config)


def _launch(prepared: Any) -> None:
    prepared.launch(stream=torch.cuda.current_stream())
