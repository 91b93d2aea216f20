"""Norms, softmax, rotary embeddings and element-wise chains through `from_torch`, against a copy.

    python benchmarks/row_kernels.py [--only NAME ...] [--rounds 7] [--record FILE]

The arrays are random, in bf16, of 4 x 2048 tokens. A call reads each argument and writes its result
once; that many bytes in its time are compared with `torch.Tensor.copy_` of the same number, in the same
run. `torch.compile` is the peer. All run in CUDA graphs. Each result is compared with float64. The method
is that of `gemm.py`: batches alternate, in a random order each round.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from interleaved import MODES, measure
from record import record
from torch.nn import functional
from torch_calls import Calls, capture

from mlir_smem import from_torch

TOKENS, WIDTH, HIDDEN, HEADS, HEAD = (4, 2048), 4096, 14336, 32, 128


def random(*shape: int) -> torch.Tensor:
    """Random numbers in bf16."""
    return torch.randn(*shape, device="cuda").bfloat16()


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The norm as Llama has it: in f32, rounded before the weight."""
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return weight * (wide * scale).to(x.dtype)


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embeddings of halves, of (batch, length, heads, width)."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def cases() -> Iterator[tuple[str, Callable[..., torch.Tensor], list[torch.Tensor]]]:
    """Yield the name, the function and the arguments of each case."""
    x, y, weight = random(*TOKENS, WIDTH), random(*TOKENS, WIDTH), random(WIDTH)
    gate, up = random(*TOKENS, HIDDEN), random(*TOKENS, HIDDEN)
    yield "residual", lambda a, b: a + b, [x, y]
    yield "gelu", lambda a: functional.gelu(a, approximate="tanh"), [gate]
    yield "swiglu", lambda a, b: functional.silu(a) * b, [gate, up]
    yield "rms norm", rms_norm, [x, weight]
    yield "layer norm", lambda a, w, b: functional.layer_norm(a, [WIDTH], w, b), [x, weight, weight]
    yield "softmax", lambda a: torch.softmax(a, -1), [x]
    angles = random(TOKENS[1], 1, HEAD)
    yield "rope", rope, [random(*TOKENS, HEADS, HEAD), angles, angles]


def error(call: Callable[[], Any], function: Callable[..., Any], arguments: list[Any]) -> float:
    """The relative error in the norm on the first sequence."""
    first = [x[:1] if x.shape[: len(TOKENS)] == TOKENS else x for x in arguments]
    exact = function(*(x.double() for x in first))
    return float((call()[:1].double() - exact).norm() / exact.norm())


def compare(
    function: Callable[..., Any], arguments: list[torch.Tensor], rounds: int
) -> dict[str, Any]:
    """Time a case, and check its result."""
    ours, peer = from_torch(function, *arguments, math="approx"), torch.compile(function)
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours(*arguments),
        "torch.compile": lambda: peer(*arguments),
    }
    errors = {name: error(call, function, arguments) for name, call in calls.items()}
    result = calls["torch.compile"]()
    number = (sum(x.nbytes for x in arguments) + result.nbytes) // 2
    source, target = (torch.empty(number, dtype=torch.uint8, device="cuda") for _ in range(2))
    calls["copy"] = lambda: target.copy_(source)
    contenders = [Calls(name, capture(call)) for name, call in calls.items()]
    times = measure(contenders, MODES["sustained"], rounds)
    seconds = {name: x.seconds for name, x in times.items()}
    return {
        "bytes": 2 * number,
        "microseconds": {name: round(1e6 * s, 1) for name, s in seconds.items()},
        "of the copy": {name: round(seconds["copy"] / s, 3) for name, s in seconds.items()},
        "errors": errors,
    }


def main() -> int:
    """Run the benchmark; return the exit status."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", help="names of cases")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    rows = {}
    for name, function, inputs in cases():
        if options.only and name not in options.only:
            continue
        rows[name] = row = compare(function, inputs, options.rounds)
        print(name, row["of the copy"], row["microseconds"], flush=True)
        if not row["errors"]["ours"] <= 2 * row["errors"]["torch.compile"] + 1e-6:
            print(f"error: the errors in the norm of {name} are {row['errors']}", file=sys.stderr)
            return 1
    if options.record:
        record(options.record, {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
