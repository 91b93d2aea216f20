"""A layer of a transformer through the backend of `torch.compile`, against max-autotune in the same run.

    python benchmarks/torch_compile.py [--batch 4] [--sequence 2048] [--rounds 7] [--record FILE]

The layer has d = 4096, 32 heads, a causal mask, a hidden dimension of 14336 and gelu in its tanh form, in
bf16. Both results are compared with float64; ours may have at most twice the error of the peer's. The
method is that of `gemm.py`: batches alternate, in a random order each round. The record has the parts of
the graph, with who runs them.
"""

import argparse
import copy
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from interleaved import MODES, measure
from record import record
from torch_calls import Calls

from mlir_smem.frontend import torch_graphs

WIDTH, HEADS, HIDDEN = 4096, 32, 14336

#: CUDA graphs would copy the layer's input, which is no parameter, before each call.
MODE = "max-autotune-no-cudagraphs"


class Layer(torch.nn.Module):
    """Attention and an MLP, each behind a norm and added to its input."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.norm, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, sequence, _ = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, sequence, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, sequence, WIDTH))
        hidden = torch.nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh")
        return x + self.down(hidden)


def compile_layer(
    layer: torch.nn.Module, x: torch.Tensor, **options: Any
) -> tuple[Callable[[], Any], float]:
    """A compiled layer as a call, and the seconds until its first result."""
    start = time.perf_counter()
    function = torch.compile(layer, **options)
    function(x)
    torch.cuda.synchronize()
    return lambda: function(x), time.perf_counter() - start


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--batch", type=int, default=4)
    arguments.add_argument("--sequence", type=int, default=2048)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    torch.manual_seed(0)
    layer = Layer().to("cuda", torch.bfloat16)
    x = torch.randn(options.batch, options.sequence, WIDTH, device="cuda").bfloat16()
    with torch.no_grad():
        options_of_ours = {"math": "approx", "mode": MODE}
        ours, our_seconds = compile_layer(layer, x, backend="mlir_smem", options=options_of_ours)
        (graph,) = torch_graphs()
        print(graph)
        peer, seconds = compile_layer(layer, x, mode=MODE)
        contenders = [Calls("ours", ours), Calls("torch.compile", peer)]
        results = {contender.name: contender.call() for contender in contenders}
        exact = copy.deepcopy(layer).double()(x.double())
        errors = {
            name: float((result.double() - exact).norm() / exact.norm())
            for name, result in results.items()
        }
        del exact, results
        torch.cuda.empty_cache()
        if not errors["ours"] <= 2 * errors["torch.compile"]:
            print(f"error: the errors in the norm are {errors}", file=sys.stderr)
            return 1
        times = measure(contenders, MODES["sustained"], options.rounds)
    seconds_of_call = {name: contender_times.seconds for name, contender_times in times.items()}
    result = {
        "batch": options.batch,
        "sequence": options.sequence,
        "mode of torch.compile": MODE,
        "microseconds": {
            name: round(1e6 * seconds, 1) for name, seconds in seconds_of_call.items()
        },
        "ratio": round(seconds_of_call["torch.compile"] / seconds_of_call["ours"], 4),
        "errors": errors,
        "compile_seconds": {"ours": round(our_seconds, 1), "torch.compile": round(seconds, 1)},
        "parts": [{"by": part.by, "ops": part.ops} for part in graph.parts],
    }
    print(result)
    if options.record:
        record(options.record, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
