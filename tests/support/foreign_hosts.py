"""The kernels of `examples/hosts`: their texts, inputs, and exact results."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

HOSTS = Path(__file__).parents[2] / "examples" / "hosts"
sys.path.insert(0, str(HOSTS))

from outline import outline  # noqa: E402

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Host:
    """A kernel of a host.

    Attributes:
        entry: its name.
        text: returns the module.
        sizes: the products (m, n, k) that it is tried with.
        dtype: the elements of A and B.
        names: the arguments A, B, others that are read, and C, in this order.
        b_shape: the shape of B, by (n, k).
        result: computes C from the arguments that are read, in f32.
        grid: thread blocks, by (m, n); None if the manifest says it.
    """

    entry: str
    text: Callable[[], str]
    sizes: tuple[tuple[int, int, int], ...]
    dtype: type
    names: tuple[str, ...]
    b_shape: Callable[[int, int], tuple[int, int]]
    result: Callable[..., np.ndarray]
    grid: Callable[[int, int], tuple[int, int, int]] | None = None

    def inputs(self, m: int, n: int, k: int) -> dict[str, np.ndarray]:
        """Small integers: all sums of products are exact in f32."""
        random = np.random.default_rng(m + n + k)
        a, b = (random.integers(-4, 5, s).astype(self.dtype) for s in ((m, k), self.b_shape(n, k)))
        others = [random.integers(-9, 10, n).astype(np.float32) for _ in self.names[2:-1]]
        return dict(zip(self.names, (a, b, *others), strict=False))

    def expected_c(self, inputs: Arrays) -> np.ndarray:
        """C for these inputs."""
        return self.result(*(array.astype(np.float32) for array in inputs.values()))

    def blocks(self, m: int, n: int) -> tuple[int, int, int] | None:
        """The grid to launch."""
        return self.grid(m, n) if self.grid else None


def _file(name: str) -> Callable[[], str]:
    return (HOSTS / name).read_text


FOREIGN = {
    "nvgpu_gemm": Host(
        "gemm",
        _file("nvgpu_gemm.mlir"),
        ((128, 128, 512), (256, 384, 512)),
        np.float16,
        ("A", "B", "C"),
        lambda n, k: (k, n),
        lambda a, b: a @ b,
    ),
    "outlined": Host(
        "linear_kernel",
        outline,
        ((256, 128, 192),),
        ml_dtypes.bfloat16,
        ("arg0", "arg1", "arg2", "arg3"),
        lambda n, k: (k, n),
        lambda a, b, bias: np.maximum(a @ b + bias, 0),
        lambda m, n: (m // 64, n // 64, 1),
    ),
    "planned_memory": Host(
        "planned",
        _file("planned_memory.mlir"),
        ((64, 64, 128), (192, 128, 384)),
        ml_dtypes.bfloat16,
        ("A", "B", "C"),
        lambda n, k: (n, k),
        lambda a, b: a @ b.T,
    ),
}

#: Each host with each of its sizes.
CASES = [(name, size) for name, host in FOREIGN.items() for size in host.sizes]
