"""The products that are compared: types, shapes, operands, and what they must be."""

from dataclasses import dataclass

import torch

SAMPLED_ROWS = 256


class WrongProductError(Exception):
    """A contender's result is not the product."""


@dataclass(frozen=True)
class Kind:
    """A type of product.

    Attributes:
        operand, result: PyTorch's names of the types.
        layouts: the orders of A and B that are tried, as cuBLAS calls them for row-major results: TN
            is A and B K-major, NN A K-major and B N-major, NT A M-major and B N-major.
        shapes: M, N, K.
        operand_error: how far a factor is off where the tensor core takes fewer bits, as a part of it.
        bounded: whether each element of the result has a useful bound; sums of 8-bit floats, of which
            the tensor core drops all but 13 bits, do not, only the whole has.
    """

    operand: str
    result: str
    layouts: tuple[str, ...]
    shapes: tuple[tuple[int, int, int], ...]
    operand_error: float = 0.0
    bounded: bool = True


_CUBES = {n: (n, n, n) for n in (2048, 4096, 8192)}

_SHAPES = (*_CUBES.values(), (4096, 14336, 4096), (8192, 8192, 1024), (16384, 4096, 4096))

KINDS = {
    "bf16": Kind("bfloat16", "bfloat16", ("TN", "NN", "NT"), _SHAPES),
    "e4m3": Kind("float8_e4m3fn", "bfloat16", ("TN",), _SHAPES, bounded=False),
    "s8": Kind("int8", "int32", ("TN", "NN"), _SHAPES),
    "tf32": Kind(
        "float32",
        "float32",
        ("TN", "NN", "NT"),
        (_CUBES[4096], _CUBES[8192]),
        operand_error=2.0**-10,
    ),
}


class Product:
    """Random operands of one kind and shape, in every layout, and a reference of some rows.

    Normal numbers, or integers of the whole range; the same values in each layout.
    """

    def __init__(self, kind: Kind, shape: tuple[int, int, int]):
        self.kind, self.shape = kind, shape
        m, n, k = shape
        torch.manual_seed(0)
        dtype = getattr(torch, kind.operand)
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
            for layout in kind.layouts
        }
        self.out = torch.empty((m, n), device="cuda", dtype=getattr(torch, kind.result))
        self._rows = torch.randperm(m, device="cuda")[:SAMPLED_ROWS]
        part, whole = a.double()[self._rows], b.double()
        self._exact, self._magnitude = part @ whole, part.abs() @ whole.abs()

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        m, n, k = self.shape
        return 2 * m * n * k

    def check(self, name: str, result: torch.Tensor) -> float:
        """The error of sampled rows in the norm, as a part of the result; WrongProductError if too far.

        Integers are exact. Each of K sums truncates below 2^-23 of what it adds, and no partial sum
        is larger than the sum of magnitudes; twice that leaves room for rounding within an
        instruction. Then come the factors' own errors and the rounding of the result. A product that
        lacks 16 of its K terms is off by sqrt(16 / K) in the norm, which no float may be.
        """
        found = result[self._rows].double()
        error = (found - self._exact).abs()
        norm = float(error.norm() / self._exact.norm())
        if not result.is_floating_point():
            bound, limit = torch.zeros_like(error), 0.0
        else:
            k = self.shape[2]
            each = 2 * k * 2.0**-23 + 2 * self.kind.operand_error
            bound = each * self._magnitude + torch.finfo(result.dtype).eps / 2 * self._exact.abs()
            limit = (16 / k) ** 0.5
        far = ~(error <= bound)
        if not norm <= limit or (self.kind.bounded and bool(far.any())):
            row, column = divmod(int(far.flatten().int().argmax()), far.shape[1])
            raise WrongProductError(
                f"{name} at {self.shape}: {int(far.sum())} of {far.numel()} elements are wrong, for "
                f"example [{int(self._rows[row])}, {column}] is {float(found[row, column])}, not "
                f"{float(self._exact[row, column])}; in the norm the error is {norm:.2g}, and may be "
                f"{limit:.2g}"
            )
        return norm
