"""What a call of a compiled kernel costs the host: prepared, with arrays that change, beside others.

    python benchmarks/call_cost.py [--rounds 15] [--record FILE]

All launches are of a GEMM, or of attention, so small that the GPU waits for the host. A batch of calls is
timed between two synchronisations, and is shorter than the driver's queue, so that no call waits for the
GPU; but a kernel of the language with arrays of JAX waits until it has ended, which a program of JAX does
not. Contenders alternate, in another order each round. A result is microseconds of a call: the median of
the rounds, and the fastest. Arrays that change are 16 triples of equal shapes at other addresses, in
turn.
"""

import argparse
import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import torch
from record import record

import mlir_smem
from mlir_smem.kernels.attention import attention
from mlir_smem.kernels.gemm import matmul, torch_op
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.runtime import Kernel, cached_compile
from mlir_smem.runtime.plans import CallArguments
from mlir_smem.runtime.streams import current_stream

EXAMPLES = Path(__file__).parents[1] / "examples"
M, N, K = 128, 256, 64
TRIPLES, BATCH = 16, 200

Triple = tuple[Any, Any, Any]
Contenders = dict[str, Callable[[], object]]


class DLPackArray:
    """An array that has DLPack and a type of elements, and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array, self.dtype, self.shape = array, array.dtype, array.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class CudaInterfaceArray:
    """An array that has the CUDA array interface, and a type of elements."""

    def __init__(self, array: torch.Tensor) -> None:
        # PyTorch gives version 2, which has no stream.
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 3}
        self.dtype, self.shape = array.dtype, array.shape


def tensors() -> list[Triple]:
    """Return triples A, B, C at addresses of their own."""
    random_matrix = lambda *shape: torch.randn(*shape, device="cuda").half()  # noqa: E731
    return [(random_matrix(M, K), random_matrix(K, N), random_matrix(M, N)) for _ in range(TRIPLES)]


def changing(call: Callable[..., object], triples: Sequence[Triple]) -> Callable[[], object]:
    """Return a function that calls with the next triple."""
    following = cycle(triples).__next__
    return lambda: call(*following())


def ours(triples: list[Triple]) -> Contenders:
    """Return calls of ours on tensors of PyTorch, and on arrays of other installed libraries."""
    example = Kernel(
        mlir_smem.compile((EXAMPLES / "matmul.mlir").read_text().replace("bf16", "f16"))
    )
    problem = Problem("f16", "f16", "f16", "k", "n")
    config = Config()
    tma = Kernel(cached_compile(text(problem, config)))
    grid = config.grid(M, N, K, tma.resident_blocks())
    prepared, mapped = example.prepare(*triples[0]), tma.prepare(*triples[0], grid=grid)
    contenders: Contenders = {
        "prepared": prepared.launch,
        "prepared, 3 tensor maps": mapped.launch,
        "launch, same arrays": lambda: example.launch(*triples[0]),
        "launch, changing arrays": changing(example.launch, triples),
        "launch, changing arrays, 3 tensor maps": changing(
            lambda a, b, c: tma.launch(a, b, c, grid=grid), triples
        ),
        "matmul(a, b, out), changing arrays": changing(matmul, triples),
        "matmul(a, b), changing arrays": changing(lambda a, b, c: matmul(a, b), triples),
        "torch.ops.mlir_smem.matmul(a, b), changing arrays": changing(
            lambda a, b, c: torch_op.matmul(a, b), triples
        ),
    }
    for name, arrays in protocols(triples).items():
        contenders[f"launch, changing arrays, {name}"] = changing(example.launch, arrays)
    kernel = language_matmul()
    prepared_call = kernel.prepare(*triples[0])
    contenders |= {
        "kernel.prepare(a, b, c).launch()": prepared_call.launch,
        "kernel(a, b, c), same arrays": lambda: kernel(*triples[0]),
        "kernel(a, b, c), changing arrays": changing(kernel, triples),
    }
    for name, arrays in protocols(triples).items():
        contenders[f"kernel(a, b, c), changing arrays, {name}"] = changing(kernel, arrays)
    is_array = [True] * 3
    return contenders | {
        "part: reading 3 tensors": lambda: CallArguments(is_array, triples[0]),
        "part: the current stream": lambda: current_stream(triples[0][0]),
    }


def programs(triples: Sequence[Triple]) -> Contenders:
    """Return programs of JAX with our GEMM and with XLA's, if JAX is installed."""
    try:
        import jax

        from mlir_smem.kernels.gemm import jax_op

        arrays = [tuple(map(jax.dlpack.from_dlpack, triple)) for triple in triples]
    except Exception as error:
        print(f"without JAX: {error}")
        return {}
    contenders: Contenders = {}
    for name, product in (("jax_op.matmul", jax_op.matmul), ("jnp.matmul", jax.numpy.matmul)):
        program = jax.jit(product)
        contenders[f"jax.jit({name})(a, b)"] = changing(lambda a, b, c, p=program: p(a, b), arrays)
    return contenders


def language_matmul() -> Any:
    """Return the kernel of examples/matmul.py."""
    spec = importlib.util.spec_from_file_location("matmul_example", EXAMPLES / "matmul.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.matmul


def protocols(triples: Sequence[Triple]) -> dict[str, list[Triple]]:
    """Return the triples as arrays of other libraries and protocols."""
    arrays_by_protocol: dict[str, list[Any]] = {
        "DLPack": [tuple(map(DLPackArray, triple)) for triple in triples],
        "CUDA array interface": [tuple(map(CudaInterfaceArray, triple)) for triple in triples],
    }
    try:
        import cupy

        arrays_by_protocol["CuPy"] = [tuple(map(cupy.asarray, triple)) for triple in triples]
    except Exception as error:
        print(f"without CuPy: {error}")
    try:
        import jax

        arrays_by_protocol["JAX"] = [
            tuple(map(jax.dlpack.from_dlpack, triple)) for triple in triples
        ]
    except Exception as error:
        print(f"without JAX: {error}")
    return arrays_by_protocol


def peers(triples: list[Triple]) -> Contenders:
    """Return cuBLAS by PyTorch, and a kernel of Triton, on the same arrays."""
    contenders: Contenders = {
        "torch.mm(a, b, out=c)": changing(lambda a, b, c: torch.mm(a, b, out=c), triples),
        "torch.mm(a, b)": changing(lambda a, b, c: torch.mm(a, b), triples),
    }
    try:
        from triton_one_tile import one_tile
    except ImportError as error:
        print(f"without Triton: {error}")
        return contenders
    contenders["Triton, kernel[grid](a, b, c, ...)"] = changing(
        lambda a, b, c: one_tile[(1,)](a, b, c, M, N, K), triples
    )
    return contenders


def attention_contenders() -> Contenders:
    """Return calls of attention: ours, PyTorch's, and FlashAttention-3's if it is installed."""

    def triples(queries: int, keys: int) -> list[Triple]:
        random_tensor = lambda length: torch.randn(1, length, 2, 64, device="cuda").bfloat16()  # noqa: E731
        return [
            (random_tensor(queries), random_tensor(keys), random_tensor(keys))
            for _ in range(TRIPLES)
        ]

    whole, few = triples(64, 64), triples(1, 1024)
    small = [tuple(tensor.to(torch.float8_e4m3fn) for tensor in triple) for triple in whole]
    contenders: Contenders = {
        "attention(q, k, v), changing arrays": changing(attention, whole),
        "attention(q, k, v), changing arrays, keys in parts": changing(attention, few),
        "attention(q, k, v), changing arrays, e4m3": changing(attention, small),
        "scaled_dot_product_attention(q, k, v)": changing(
            torch.nn.functional.scaled_dot_product_attention, whole
        ),
    }
    try:
        from fa3_fwd_interface import flash_attn_func
    except ImportError as error:
        print(f"without FlashAttention-3: {error}")
        return contenders
    return contenders | {"FlashAttention-3": changing(flash_attn_func, whole)}


def microseconds(call: Callable[[], object]) -> float:
    """Return microseconds of one call, over a batch; the queue is empty at its start."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(BATCH):
        call()
    seconds = time.perf_counter() - start
    torch.cuda.synchronize()
    return seconds / BATCH * 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()

    torch.manual_seed(0)
    triples = tensors()
    contenders = ours(triples) | programs(triples) | peers(triples) | attention_contenders()
    for call in contenders.values():
        for _ in range(2 * TRIPLES):
            call()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = random.Random(0)
    for _ in range(options.rounds):
        for name in order.sample([*contenders], len(contenders)):
            times[name].append(microseconds(contenders[name]))
    results = {
        name: {"us": round(median(samples), 2), "fastest": round(min(samples), 2)}
        for name, samples in times.items()
    }
    for name, samples in results.items():
        print(f"{name:58} {samples['us']:7.2f} us   fastest {samples['fastest']:7.2f}")
    if options.record:
        shape = {"shape": [M, N, K], "rounds": options.rounds, "batch": BATCH}
        record(options.record, {"us of a call": results} | shape)


if __name__ == "__main__":
    main()
