"""Kernels as one writes them in the language, against tuned ones of ours, torch.compile and cuBLAS.

    python benchmarks/language_speed.py [--only products loops softmax int4] [--rounds 15] [--record FILE]

*products* and *loops* are the plain loops of `examples/plain_loops.py`: products against `matmul` in the
same configuration, and by `cp.async` (`examples/matmul.py`) against those with stages by hand
(`examples/manual_sync/matmul.py`); attention against `kernels.attention`, bf16, batch * length = 16384,
heads * d = 2048. *softmax* is that of A * B (`examples/softmax.py`) against torch.compile (max-autotune)
and PyTorch. *int4* is `examples/int4_matmul.py` with 16 columns of activations, against `torch.mm` and
`matmul` of bf16. Contenders alternate in each round, sustained, in CUDA graphs; data are random. Each
result is compared with PyTorch's.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import torch
from chip import Chip
from interleaved import MODES, measure
from record import record
from torch_contenders import StreamContender

from mlir_smem.examples import plain_loops
from mlir_smem.examples.int4_matmul import int4_matmul
from mlir_smem.examples.manual_sync.matmul import matmul as written_out
from mlir_smem.examples.matmul import matmul as staged
from mlir_smem.examples.softmax import softmax
from mlir_smem.kernels.attention import attention
from mlir_smem.kernels.gemm import Config, matmul
from mlir_smem.layout import pack_nibbles

#: Seconds of a CUDA graph, and the operations a second from which its number of calls follows.
_UNIT_SECONDS, _UNIT_RATE = 0.5e-3, 600e12

#: Large products (M, N, K).
_PRODUCTS = (
    *((4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 1024), (4096, 14336, 4096)),
    *((16384, 4096, 2048), (8192, 4096, 16384)),
)

#: The largest error of a result in the norm, relative; bf16 rounds by 2^-9.
_ERROR = 2.0**-6


class Case(NamedTuple):
    """A computation that is compared.

    Attributes:
        name, shape: of the row.
        operations: multiplications and additions.
        calls: for each contender, a function that enqueues it, and returns the result.
        expected: the result.
    """

    name: str
    shape: dict[str, int]
    operations: int
    calls: dict[str, Callable[[], Any]]
    expected: torch.Tensor


def random(*shape: int, scale: float = 1.0) -> torch.Tensor:
    """Random numbers of a normal distribution, in bf16."""
    return (torch.randn(shape, device="cuda") * scale).bfloat16()


def launching(kernel: Any, *arrays: Any, **constants: Any) -> Callable[[], torch.Tensor]:
    """A function that launches a kernel on PyTorch's current stream, and returns its last array."""
    prepared = kernel.prepare(*arrays, **constants)

    def launch() -> torch.Tensor:
        prepared.launch(torch.cuda.current_stream().cuda_stream)
        return arrays[-1]

    return launch


def product_cases() -> Iterator[Case]:
    """Products of large matrices."""
    persistent = plain_loops.matmul[torch.cuda.get_device_properties(0).multi_processor_count]
    config = Config(tile=(128, 256, 64), stages=4, group=8)
    for m, n, k in _PRODUCTS:
        a, b = random(m, k), random(k, n, scale=k**-0.5)
        c = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
        shape, operations, expected = {"M": m, "N": n, "K": k}, 2 * m * n * k, a.float() @ b.float()
        calls: dict[str, Callable[[], Any]] = {
            "plain": launching(persistent, a, b, c[0]),
            "matmul": partial(matmul, a, b, c[1], config=config),
        }
        yield Case("product", shape, operations, calls, expected)
        calls = {
            "plain": launching(staged, a, b, c[2]),
            "by hand": launching(written_out, a, b, c[3]),
        }
        yield Case("product by cp.async", shape, operations, calls, expected)


def attention_cases() -> Iterator[Case]:
    """Attention of heads (batch, length, heads, d)."""
    for d, length, causal in product((128, 64), (4096, 8192), (False, True)):
        batch, heads = 16384 // length, 2048 // d
        q, k, v = (random(batch, length, heads, d) for _ in range(3))
        out = torch.empty_like(q)
        views = [x.transpose(1, 2) for x in (q, k, v, torch.empty_like(q))]
        calls: dict[str, Callable[[], Any]] = {
            "plain": launching(plain_loops.attention, *views, d=d, causal=causal),
            "kernels.attention": partial(transposed_attention, q, k, v, causal, out),
        }
        operations = 4 * batch * heads * length * length * d // (2 if causal else 1)
        shape = {"d": d, "length": length, "heads": heads, "batch": batch}
        expected = torch.nn.functional.scaled_dot_product_attention(*views[:3], is_causal=causal)
        name = "attention, causal" if causal else "attention"
        yield Case(name, shape, operations, calls, expected)


def transposed_attention(*arrays: Any) -> torch.Tensor:
    """The tuned attention of q, k, v, whether it is causal, and the result, as (batch, heads, ...)."""
    q, k, v, causal, out = arrays
    return attention(q, k, v, causal=causal, out=out).transpose(1, 2)


def softmax_cases() -> Iterator[Case]:
    """The softmax of the rows of A * B."""
    for m, n, k in ((8192, 512, 1024), (8192, 512, 4096), (16384, 256, 1024), (32768, 512, 512)):
        a, b = random(m, k), random(k, n, scale=k**-0.5)
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        calls: dict[str, Callable[[], Any]] = {"softmax": launching(softmax, a, b, c, n=n)}
        calls["torch"] = partial(eager_softmax, a, b)
        for mode in ("max-autotune-no-cudagraphs", "default"):
            try:
                compiled = torch.compile(eager_softmax, mode=mode, dynamic=False)
                compiled(a, b)
                calls[f"torch.compile, {mode}"] = partial(compiled, a, b)
            except Exception as error:  # Inductor needs a compiler, and Triton one for this GPU
                print(f"left out: torch.compile, {mode}: {str(error).splitlines()[0][:150]}")
        expected = torch.softmax(a.float() @ b.float(), -1)
        yield Case("softmax of A * B", {"M": m, "N": n, "K": k}, 2 * m * n * k, calls, expected)


def eager_softmax(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch's."""
    return torch.softmax(a @ b, -1)


def int4_cases() -> Iterator[Case]:
    """Products of weights (M, K), which exceed L2 also with 4 bits, and 16 columns."""
    n, group = 16, 128
    for m, k in ((28672, 8192), (8192, 28672), (16384, 16384)):
        weights = torch.randint(-8, 8, (m, k), dtype=torch.int8)
        packed = torch.from_numpy(pack_nibbles(weights.numpy(), interleaved=True)).cuda()
        scales = torch.rand(m, k // group, device="cuda") + 0.5
        w = (weights.cuda().float().view(m, -1, group) * scales[..., None]).view(m, k).bfloat16()
        x = random(k, n, scale=k**-0.5)
        xt, wt = x.t().contiguous(), w.t()
        c = torch.empty(m, n, device="cuda")
        out, out_t = (torch.empty(*s, device="cuda").bfloat16() for s in ((m, n), (n, m)))
        calls: dict[str, Callable[[], Any]] = {"int4": launching(int4_matmul, packed, scales, x, c)}
        for name, peer in {"torch.mm": torch_mm, "matmul": matmul}.items():
            calls[name] = partial(peer, w, x, out.clone())
            calls[f"{name}, transposed"] = partial(transposed_product, peer, xt, wt, out_t.clone())
        expected = w.float() @ x.float()
        yield Case("int4 weights", {"M": m, "N": n, "K": k}, 2 * m * n * k, calls, expected)


def torch_mm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """a * b by cuBLAS."""
    return torch.mm(a, b, out=out)


def transposed_product(
    peer: Any, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor
) -> torch.Tensor:
    """The transpose of a * b by a peer."""
    peer(a, b, out)
    return out.t()


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "products": product_cases,
    "loops": attention_cases,
    "softmax": softmax_cases,
    "int4": int4_cases,
}


def compare(case: Case, rounds: int) -> dict[str, Any]:
    """A row: microseconds of each contender, and the first one's speed relative to the others.

    Raises:
        RuntimeError: if a result is wrong.
    """
    calls_in_unit = min(32, max(1, round(_UNIT_SECONDS * _UNIT_RATE / case.operations)))
    errors = {}
    for name, call in case.calls.items():
        result = call().float()
        errors[name] = float((result - case.expected).norm() / case.expected.float().norm())
        if not errors[name] <= _ERROR:
            raise RuntimeError(
                f"{name} of {case.name} at {case.shape} has an error of {errors[name]}"
            )
    contenders = [
        StreamContender(name, call, None, calls_in_unit) for name, call in case.calls.items()
    ]
    with Chip() as chip:
        times = measure(contenders, MODES["sustained"], rounds)
    seconds = {name: contender_times.seconds for name, contender_times in times.items()}
    ours = min(s for name, s in seconds.items() if is_ours(case, name))
    peers = {name: s for name, s in seconds.items() if not is_ours(case, name)}
    return {
        "kernel": case.name,
        "shape": case.shape,
        "microseconds": {name: round(1e6 * s, 2) for name, s in seconds.items()},
        "TFLOP/s": round(case.operations / ours / 1e12, 1),
        "of the best peer": round(min(peers.values()) / ours, 3),
        "spread": {name: round(t.spread, 3) for name, t in times.items()},
        "errors": errors,
        "chip": chip.summary(),
    }


def is_ours(case: Case, name: str) -> bool:
    """Whether a contender is the kernel that is measured: the first one, or a variant of it."""
    return name.split(",")[0] == next(iter(case.calls)).split(",")[0]


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=CASES, default=[*CASES])
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    torch.manual_seed(0)
    rows = []
    for name in options.only:
        for case in CASES[name]():
            row = compare(case, options.rounds)
            rows.append(row)
            print(
                row["kernel"],
                row["shape"],
                row["of the best peer"],
                row["microseconds"],
                flush=True,
            )
            if options.record:
                record(options.record, {"rounds": options.rounds, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
