"""The GEMMs that are compared: types, shapes, operands and references."""

from dataclasses import dataclass

import torch

SAMPLED_ROWS = 256


class WrongResultError(Exception):
    """A contender's result is wrong."""


@dataclass(frozen=True)
class GemmType:
    """Types and shapes of a family of GEMMs.

    Attributes:
        operand, result: PyTorch's names of the types.
        layouts: the layouts of A and B that are tried, in cuBLAS's names for row-major results: TN is
            A and B K-major, NN A K-major and B N-major, NT A M-major and B N-major.
        shapes: M, N, K.
        operand_error: relative error of an operand that the tensor core truncates.
        bounded: whether each element of the result has a useful bound; sums of 8-bit floats, of which
            the tensor core keeps 13 bits, have a bound of the norm alone.
    """

    operand: str
    result: str
    layouts: tuple[str, ...]
    shapes: tuple[tuple[int, int, int], ...]
    operand_error: float = 0.0
    bounded: bool = True


_CUBES = {n: (n, n, n) for n in (2048, 4096, 8192)}

_SHAPES = (*_CUBES.values(), (4096, 14336, 4096), (8192, 8192, 1024), (16384, 4096, 4096))

TYPES = {
    "bf16": GemmType("bfloat16", "bfloat16", ("TN", "NN", "NT"), _SHAPES),
    "e4m3": GemmType("float8_e4m3fn", "bfloat16", ("TN",), _SHAPES, bounded=False),
    "s8": GemmType("int8", "int32", ("TN", "NN"), _SHAPES),
    "tf32": GemmType(
        "float32",
        "float32",
        ("TN", "NN", "NT"),
        (_CUBES[4096], _CUBES[8192]),
        operand_error=2.0**-10,
    ),
}


class Gemm:
    """Random operands of one type and shape, in every layout, and a reference for some rows.

    Normal numbers, or integers of the whole range; the same values in each layout.
    """

    def __init__(self, type_: GemmType, shape: tuple[int, int, int]):
        self.type, self.shape = type_, shape
        m, n, k = shape
        torch.manual_seed(0)
        dtype = getattr(torch, type_.operand)
        if dtype.is_floating_point:
            a, b = (torch.randn(size, device="cuda").to(dtype) for size in ((m, k), (k, n)))
        else:
            a, b = (
                torch.randint(-128, 128, size, device="cuda", dtype=dtype)
                for size in ((m, k), (k, n))
            )
        columns = b.t().contiguous().t()
        self.operands = {
            layout: (
                a.t().contiguous().t() if layout[1] == "T" else a,
                columns if layout == "TN" else b,
            )
            for layout in type_.layouts
        }
        self.out = torch.empty((m, n), device="cuda", dtype=getattr(torch, type_.result))
        self._rows = torch.randperm(m, device="cuda")[:SAMPLED_ROWS]
        part, whole = a.double()[self._rows], b.double()
        self._exact, self._magnitude = part @ whole, part.abs() @ whole.abs()

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        m, n, k = self.shape
        return 2 * m * n * k

    def check(self, name: str, result: torch.Tensor) -> float:
        """The relative error of sampled rows in the norm; WrongResultError if it is too large.

        Integers are exact. Each of K sums truncates below 2^-23 of what it adds, and no partial sum
        is larger than the sum of magnitudes; twice that leaves room for rounding within an
        instruction. Then come the errors of the operands and the rounding of the result. A sum without
        16 of its K terms has an error of sqrt(16 / K) in the norm, which no result may have.
        """
        sampled = result[self._rows].double()
        error = (sampled - self._exact).abs()
        norm = float(error.norm() / self._exact.norm())
        if not result.is_floating_point():
            bound, limit = torch.zeros_like(error), 0.0
        else:
            k = self.shape[2]
            relative_bound = 2 * k * 2.0**-23 + 2 * self.type.operand_error
            bound = (
                relative_bound * self._magnitude
                + torch.finfo(result.dtype).eps / 2 * self._exact.abs()
            )
            limit = (16 / k) ** 0.5
        is_wrong = ~(error <= bound)
        if not norm <= limit or (self.type.bounded and bool(is_wrong.any())):
            row, column = divmod(int(is_wrong.flatten().int().argmax()), is_wrong.shape[1])
            raise WrongResultError(
                f"{name} at {self.shape}: {int(is_wrong.sum())} of {is_wrong.numel()} elements are "
                f"wrong, for example [{int(self._rows[row])}, {column}] is "
                f"{float(sampled[row, column])}, not "
                f"{float(self._exact[row, column])}; in the norm the error is {norm:.2g}, and may be "
                f"{limit:.2g}"
            )
        return norm
