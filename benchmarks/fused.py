"""GEMMs with epilogues and batches of GEMMs, ours against cuBLASLt and torch.compile.

    python benchmarks/fused.py [--only gelu swiglu residual batched] [--modes sustained burst]
        [--rounds 7] [--record FILE]

*gelu* is gelu(a * b + bias) in its tanh form, which cuBLASLt has as an epilogue
(`torch._addmm_activation`); *swiglu* is silu(x * w) * (x * v) of interleaved columns, which cuBLASLt has
not: PyTorch multiplies, and Inductor fuses the rest (`torch.compile`, max-autotune without CUDA graphs).
*residual* is a * b + c of a matrix c, which cuBLAS has (`torch.addmm`, which copies c first).
These are at 8192^3 and 4096x14336x4096. *batched* are 64x512^3, 16x1024^3 and 128x128^3, against
`torch.bmm`. All are bf16, weights as `nn.Linear` has them (K-major) or N-major, the fastest of both for
each contender. The method is that of `gemm.py`. Each result is compared with float64 on sampled rows; its
error may be at most twice that of the peer.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from any_shape import ratio
from chip import Chip
from gemm_rows import Row, make_row, write
from gemms import WrongResultError
from interleaved import MODES, measure
from torch_contenders import StreamContender

from mlir_smem.kernels.gemm import activations, matmul

SHAPES = [(8192, 8192, 8192), (4096, 14336, 4096)]
BATCHES = [(64, 512, 512, 512), (16, 1024, 1024, 1024), (128, 128, 128, 128)]

#: Rows of the result that are compared with float64.
SAMPLED = 64

#: Seconds of a unit, and the operations a second from which its number of calls follows.
_UNIT_SECONDS, _UNIT_RATE = 0.5e-3, 600e12


class Case(NamedTuple):
    """A product that is compared.

    Attributes:
        name: the kind.
        shape: the extents.
        operations: multiplications and additions.
        out: the result.
        calls: for each contender, a function that enqueues it; it writes `out`.
        reference: returns the result in float64 for sampled rows, and a function that samples them.
    """

    name: str
    shape: tuple[int, ...]
    operations: int
    out: torch.Tensor
    calls: dict[str, Callable[[], object]]
    reference: Callable[[], tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]]


def random_matrix(*shape: int) -> torch.Tensor:
    """Random numbers whose products have a variance of about 1."""
    return (torch.randn(shape, device="cuda") * shape[-1] ** -0.25).bfloat16()


def with_layouts(b: torch.Tensor) -> dict[str, torch.Tensor]:
    """B K-major and N-major, by the names of cuBLAS's layouts."""
    return {"TN": b.mT.contiguous().mT, "NN": b.contiguous()}


def gelu(m: int, n: int, k: int) -> Case:
    """gelu(a * b + bias)."""
    a, b, bias, out = (
        random_matrix(m, k),
        random_matrix(n, k).t(),
        random_matrix(n),
        torch.empty(m, n).bfloat16().cuda(),
    )
    calls: dict[str, Callable[[], object]] = {}
    for layout, b_layout in with_layouts(b).items():

        def ours(b: torch.Tensor = b_layout) -> object:
            return matmul(a, b, out, epilogue=_gelu, operands={"bias": bias})

        def lt(b: torch.Tensor = b_layout) -> object:
            return torch._addmm_activation(bias, a, b, use_gelu=True, out=out)

        calls |= {f"ours {layout}": ours, f"cuBLAS {layout}": lt}

    def reference() -> tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
        rows = torch.randperm(m, device="cuda")[:SAMPLED]
        exact = torch.nn.functional.gelu(a[rows].double() @ b.double() + bias, approximate="tanh")
        return exact, lambda product: product[rows]

    return Case("gelu", (m, n, k), 2 * m * n * k, out, calls, reference)


def _gelu(x: Any, bias: Any) -> Any:
    return activations.gelu_tanh(x + bias)


def _swiglu(gate: Any, x: Any) -> Any:
    return activations.silu(gate) * x


def swiglu(m: int, n: int, k: int) -> Case:
    """silu(x * w) * (x * v), w and v in alternating columns of one matrix of n columns."""
    a, b, out = (
        random_matrix(m, k),
        random_matrix(n, k).t(),
        torch.empty(m, n // 2).bfloat16().cuda(),
    )

    def product(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        interleaved = (a @ b).view(m, n // 2, 2)
        out.copy_(torch.nn.functional.silu(interleaved[..., 0]) * interleaved[..., 1])

    compiled = torch.compile(product, mode="max-autotune-no-cudagraphs")
    b = b.t().contiguous().t()  # interleaved columns are those of a K-major B

    def ours() -> object:
        return matmul(a, b, out, epilogue=_swiglu, gated="interleaved")

    calls: dict[str, Callable[[], object]] = {
        "ours TN": ours,
        "cuBLAS TN": lambda: compiled(a, b, out),
    }

    def reference() -> tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
        rows = torch.randperm(m, device="cuda")[:SAMPLED]
        interleaved = (a[rows].double() @ b.double()).view(SAMPLED, n // 2, 2)
        exact = torch.nn.functional.silu(interleaved[..., 0]) * interleaved[..., 1]
        return exact, lambda product: product[rows]

    return Case("swiglu", (m, n, k), 2 * m * n * k, out, calls, reference)


def residual(m: int, n: int, k: int) -> Case:
    """a * b + c."""
    a, b, c, out = (
        random_matrix(m, k),
        random_matrix(n, k).t(),
        random_matrix(m, n),
        torch.empty(m, n).bfloat16().cuda(),
    )
    calls: dict[str, Callable[[], object]] = {}
    for layout, b_layout in with_layouts(b).items():

        def ours(b: torch.Tensor = b_layout) -> object:
            return matmul(a, b, out, epilogue=_plus, operands={"c": c})

        def theirs(b: torch.Tensor = b_layout) -> object:
            return torch.addmm(c, a, b, out=out)

        calls |= {f"ours {layout}": ours, f"cuBLAS {layout}": theirs}

    def reference() -> tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
        rows = torch.randperm(m, device="cuda")[:SAMPLED]
        return a[rows].double() @ b.double() + c[rows], lambda product: product[rows]

    return Case("residual", (m, n, k), 2 * m * n * k, out, calls, reference)


def _plus(x: Any, c: Any) -> Any:
    return x + c


def batched_products(count: int, m: int, n: int, k: int) -> Case:
    """Products of `count` pairs of matrices."""
    a, b = random_matrix(count, m, k), random_matrix(count, n, k).mT
    out = torch.empty(count, m, n).bfloat16().cuda()
    calls: dict[str, Callable[[], object]] = {}
    for layout, b_layout in with_layouts(b).items():
        calls[f"ours {layout}"] = lambda b=b_layout: matmul(a, b, out)
        calls[f"cuBLAS {layout}"] = lambda b=b_layout: torch.bmm(a, b, out=out)

    def reference() -> tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
        rows = torch.randperm(m, device="cuda")[:SAMPLED]
        return a[:, rows].double() @ b.double(), lambda product: product[:, rows]

    return Case("batched", (count, m, n, k), 2 * count * m * n * k, out, calls, reference)


def cases(names: list[str]) -> Iterator[Case]:
    """Yield the products of kinds."""
    for name, make in (("gelu", gelu), ("swiglu", swiglu), ("residual", residual)):
        if name in names:
            yield from (make(*shape) for shape in SHAPES)
    if "batched" in names:
        yield from (batched_products(*shape) for shape in BATCHES)


def errors(case: Case, contenders: list[StreamContender]) -> dict[str, float]:
    """The relative error of each contender in the norm; WrongResultError if one of ours is too large."""
    exact, sample = case.reference()
    relative_errors = {
        contender.name: float((sample(contender.result()).double() - exact).norm() / exact.norm())
        for contender in contenders
    }
    allowed = 2 * max(error for name, error in relative_errors.items() if name.startswith("cuBLAS"))
    for name, error in relative_errors.items():
        if not error <= allowed:
            raise WrongResultError(
                f"{name} of {case.name} at {case.shape} has an error of {error:.2g} in the norm; the "
                f"peer's is {allowed / 2:.2g}"
            )
    return relative_errors


def compare(case: Case, modes: list[str], rounds: int) -> Iterator[Row]:
    """A row for each mode; WrongResultError if a result is wrong."""
    torch.manual_seed(0)
    gemms = min(32, max(1, round(_UNIT_SECONDS * _UNIT_RATE / case.operations)))
    contenders = [StreamContender(name, call, case.out, gemms) for name, call in case.calls.items()]
    relative_errors = errors(case, contenders)
    for mode in modes:
        with Chip() as chip:
            times = measure(contenders, MODES[mode], rounds)
        kind, summary = f"bf16 {case.name}", chip.summary()
        yield make_row(kind, case.shape, mode, case.operations, times, relative_errors, summary)


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = ("gelu", "swiglu", "residual", "batched")
    arguments.add_argument("--only", nargs="+", choices=kinds, default=[*kinds])
    arguments.add_argument("--modes", nargs="+", choices=MODES, default=["sustained"])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--record", type=Path, help="write the rows to this file, or add them")
    options = arguments.parse_args()
    for case in cases(options.only):
        try:
            for row in compare(case, options.modes, options.rounds):
                print(row["type"], *case.shape, row["mode"], f"{ratio(row):.3f}", flush=True)
                if options.record:
                    write(options.record, [row])
        except WrongResultError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
