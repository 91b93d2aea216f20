"""The contenders of the sweep on a GPU: one configuration each, and cuBLAS, as CUDA graphs."""

from collections.abc import Iterable
from typing import Any

import torch
from gemms import TYPES
from sweep_record import CUBLAS
from sweep_shapes import Shape
from torch_contenders import StreamContender, cublas, launching

from mlir_smem.kernels.gemm import Problem, prepare

#: PyTorch's and MLIR's names of types.
_MLIR = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "int8": "i8",
    "float32": "f32",
    "int32": "i32",
}

#: Seconds of the graph, and the most GEMMs that it has.
_GRAPH_SECONDS, _MOST = 0.5e-3, 64

#: The norm of the difference to cuBLAS's result, relative.
_LIMIT = 0.01


class Bench:
    """Makes the contenders of a shape; `sweep.Contenders`.

    Attributes:
        problem: types and major-ness.
        failed: configurations that were not compiled, and why.
    """

    def __init__(self, type_: str, layout: str) -> None:
        self._type = TYPES[type_]
        if layout not in self._type.layouts:
            raise ValueError(f"the layout is {layout}; expected {' or '.join(self._type.layouts)}")
        self._layout = layout
        operand, result = _MLIR[self._type.operand], _MLIR[self._type.result]
        # cuBLAS's letters as gemms.py uses them: TN is K-major twice, NN has B N-major, NT A M-major.
        majors = {"TN": ("k", "k"), "NN": ("k", "n"), "NT": ("m", "n")}[layout]
        self.problem = Problem(operand, operand, result, *majors)
        self.failed: dict[Any, str] = {}

    def __call__(
        self, shape: Shape, configs: Iterable[Any]
    ) -> tuple[dict[Any, StreamContender], dict[Any, str]]:
        a, b, out = self._operands(shape)
        enqueue = cublas(a, b, out)
        try:
            enqueue()
        except RuntimeError as error:
            torch.cuda.synchronize()  # raises if the GPU is lost; a wrong shape raises nothing here
            return {}, {CUBLAS: f"{type(error).__name__}: {error}".splitlines()[0]}
        gemms = _per_graph(StreamContender(CUBLAS, enqueue, out, 1))
        theirs = StreamContender(CUBLAS, enqueue, out, gemms)
        reference = theirs.result().clone()
        timed, dropped = {CUBLAS: theirs}, {}
        for config in configs:
            if config in self.failed:
                dropped[config] = self.failed[config]
                continue
            try:
                launch = launching(prepare(a, b, out, config))
                ours = StreamContender(str(config), launch, out, gemms)
                error = _difference(ours.result(), reference)
                if not error <= _LIMIT:
                    dropped[config] = f"WrongResultError: differs by {error:.2g} in the norm"
                    continue
                timed[config] = ours
            except Exception as error:  # the other configurations may still run
                dropped[config] = f"{type(error).__name__}: {error}"
        return timed, dropped

    def _operands(self, shape: Shape) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        m, n, k = shape
        dtype, result = getattr(torch, self._type.operand), getattr(torch, self._type.result)
        torch.manual_seed(0)
        a = _random((k, m), dtype).t() if self.problem.a_major == "m" else _random((m, k), dtype)
        b = _random((n, k), dtype).t() if self.problem.b_major == "k" else _random((k, n), dtype)
        return a, b, torch.empty((m, n), device="cuda", dtype=result)


def _random(size: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.randn(size, device="cuda").to(dtype)
    return torch.randint(-128, 128, size, device="cuda", dtype=dtype)


def _per_graph(once: StreamContender) -> int:
    once.batch(1)
    return min(_MOST, max(1, round(_GRAPH_SECONDS / once.batch(10)[0] * 10)))


def _difference(result: torch.Tensor, reference: torch.Tensor) -> float:
    return float((result.float() - reference.float()).norm() / reference.float().norm())
