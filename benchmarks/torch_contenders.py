"""Contenders on PyTorch's current stream: cuBLAS and ours."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import torch


class StreamContender:
    """A GEMM on PyTorch's current stream; a unit is a CUDA graph of several.

    CUDA graphs hide the launch overhead, which short GEMMs would otherwise measure.

    Attributes:
        name, gemms: as `interleaved.Contender` says.
        config: the configuration, for the record.
    """

    def __init__(
        self,
        name: str,
        enqueue: Callable[[], object],
        out: torch.Tensor | None,
        gemms: int,
        config: str = "",
    ):
        self.name, self.gemms, self.config = name, gemms, config
        self._enqueue, self._out = enqueue, out
        self._stream = torch.cuda.Stream()
        self._graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            enqueue()  # work of the first call must not be captured
            self._stream.synchronize()
            # `torch.cuda.graph` would run the garbage collector first, which takes longer than the
            # capture.
            self._graph.capture_begin(capture_error_mode="thread_local")
            try:
                for _ in range(gemms):
                    enqueue()
            finally:
                self._graph.capture_end()

    def once(self) -> None:
        """Run one GEMM outside of the graph."""
        with torch.cuda.stream(self._stream):
            self._enqueue()
        self._stream.synchronize()

    def result(self) -> torch.Tensor:
        """The result, in memory that was cleared before."""
        self._out.fill_(float("nan") if self._out.is_floating_point() else -1)
        torch.cuda.synchronize()
        self.once()
        return self._out

    def batch(self, units: int) -> tuple[float, float]:
        """See `interleaved.Contender`."""
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
    """cuBLAS's GEMM of these operands, by PyTorch's function for their type."""
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
    """This project's GEMM, tuned and (if different) untuned: name suffix, call and configuration."""
    from mlir_smem.kernels.gemm import prepare, tune
    from mlir_smem.kernels.gemm.call.operands import check_operands
    from mlir_smem.kernels.gemm.generator.candidates import choose
    from mlir_smem.runtime import device_array

    gemm_operands, _ = check_operands(
        device_array("A", a), device_array("B", b), device_array("C", out)
    )
    configs = {
        "": tune(a, b, out),
        " untuned": choose(
            gemm_operands.problem, gemm_operands.m, gemm_operands.n, gemm_operands.k
        ),
    }
    for suffix, config in configs.items():
        if not suffix or config != configs[""]:
            prepared = prepare(a, b, out, config)
            yield suffix, launching(prepared), str(config)


def launching(prepared: Any) -> Callable[[], object]:
    """A function that launches a prepared kernel on PyTorch's current stream."""
    return lambda: prepared.launch(stream=torch.cuda.current_stream())
