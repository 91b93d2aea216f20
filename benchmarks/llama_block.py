"""A block of Llama through `from_torch` and the backend of `torch.compile`, against max-autotune.

    python benchmarks/llama_block.py [--batch 4] [--sequence 2048] [--rounds 7] [--record FILE]

The block has d = 4096, 32 heads over 8, a causal mask, rotary embeddings, norms of squares, and a gated
MLP of 14336, in bf16. Results are compared with float64; ours may have at most twice the error of the
peer's. The method is that of `gemm.py`: batches alternate, in a random order each round. `from_torch` and
the peer also run in CUDA graphs; speeds are relative to the faster of the peer's two. The record has the
kernels of each, and the parts of the backend's graph, with who runs them.
"""

import argparse
import copy
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from interleaved import MODES, measure
from record import record
from torch.nn import functional
from torch_calls import Calls, capture

from mlir_smem import from_torch
from mlir_smem.frontend import torch_graphs

#: CUDA graphs would copy the block's input, which is no parameter, before each call.
MODE = "max-autotune-no-cudagraphs"


@dataclass(frozen=True)
class Sizes:
    """Those of the block."""

    width: int = 4096
    heads: int = 32
    shared_heads: int = 8
    hidden: int = 14336

    @property
    def head(self) -> int:
        """The width of a head."""
        return self.width // self.heads


class Norm(torch.nn.Module):
    """The norm of squares, in f32, rounded before the weight."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * (wide * scale).to(x.dtype)


class Block(torch.nn.Module):
    """Attention and a gated MLP, each behind a norm and added to its input."""

    def __init__(self, sizes: Sizes, sequence: int) -> None:
        super().__init__()
        self.sizes = sizes
        width, shared = sizes.width, sizes.shared_heads * sizes.head
        self.norm1, self.norm2 = Norm(width), Norm(width)
        for name, inputs, outputs in (
            ("q", width, width),
            ("k", width, shared),
            ("v", width, shared),
            ("o", width, width),
            ("gate", width, sizes.hidden),
            ("up", width, sizes.hidden),
            ("down", sizes.hidden, width),
        ):
            setattr(self, name, torch.nn.Linear(inputs, outputs, bias=False))
        steps = 10000.0 ** (-torch.arange(0, sizes.head, 2) / sizes.head)
        angles = torch.arange(sequence)[:, None] * steps
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, sequence, width = x.shape
        y = self.norm1(x)
        q, k, v = (
            linear(y).view(batch, sequence, -1, self.sizes.head).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        q, k = self.rotate(q), self.rotate(k)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, sequence, width))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        """Return heads with their positions (rotary embeddings of halves)."""
        first, second = x.chunk(2, dim=-1)
        return x * self.cos + torch.cat((-second, first), dim=-1) * self.sin


def first_result(make: Callable[[], Callable[..., Any]], x: torch.Tensor) -> tuple[Any, float]:
    """A compiled block, and the seconds until its first result."""
    start = time.perf_counter()
    function = make()
    function(x)
    torch.cuda.synchronize()
    return function, time.perf_counter() - start


def kernel_microseconds(call: Callable[[], Any]) -> dict[str, float]:
    """The time of each kernel of a call, by its name, in their order."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    times: dict[str, float] = {}
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times[event.name] = round(times.get(event.name, 0) + event.device_time, 1)
    return times


def main() -> int:
    """Run the benchmark; return the exit status."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--batch", type=int, default=4)
    arguments.add_argument("--sequence", type=int, default=2048)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    torch.manual_seed(0)
    sizes = Sizes()
    block = Block(sizes, options.sequence).to("cuda", torch.bfloat16)
    x = torch.randn(options.batch, options.sequence, sizes.width, device="cuda").bfloat16()
    makers: dict[str, Callable[[], Callable[..., Any]]] = {
        "from_torch": lambda: from_torch(block, x, math="approx"),
        "backend": lambda: torch.compile(
            block, backend="mlir_smem", options={"math": "approx", "mode": MODE}
        ),
        "torch.compile": lambda: torch.compile(block, mode=MODE),
    }
    with torch.no_grad():
        functions, seconds = {}, {}
        for name, make in makers.items():
            torch._dynamo.reset()
            functions[name], seconds[name] = first_result(make, x)
            if name == "backend":
                (graph,) = torch_graphs()
                print(graph)
        exact = copy.deepcopy(block).double()(x[:1].double())
        errors = {
            name: float((function(x)[:1].double() - exact).norm() / exact.norm())
            for name, function in functions.items()
        }
        del exact
        torch.cuda.empty_cache()
        if not max(errors.values()) <= 2 * errors["torch.compile"]:
            print(f"error: the errors in the norm are {errors}", file=sys.stderr)
            return 1
        contenders = [Calls(name, partial(function, x)) for name, function in functions.items()]
        contenders += [
            Calls(f"{name}, captured", capture(partial(functions[name], x)))
            for name in ("from_torch", "torch.compile")
        ]
        times = measure(contenders, MODES["sustained"], options.rounds)
        kernels = {
            name: kernel_microseconds(partial(function, x)) for name, function in functions.items()
        }
    peer = min(times[name].seconds for name in ("torch.compile", "torch.compile, captured"))
    result = {
        "batch": options.batch,
        "sequence": options.sequence,
        "mode of torch.compile": MODE,
        "microseconds": {name: round(1e6 * x.seconds, 1) for name, x in times.items()},
        "of torch.compile": {
            name: round(peer / x.seconds, 4) for name, x in times.items() if "torch.c" not in name
        },
        "errors": errors,
        "compile_seconds": {name: round(s, 1) for name, s in seconds.items()},
        "parts of the backend": [{"by": part.by, "ops": part.ops} for part in graph.parts],
        "kernels": kernels,
    }
    print({name: x for name, x in result.items() if name != "kernels"})
    for name, own in kernels.items():
        print(name, own)
    if options.record:
        record(options.record, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
