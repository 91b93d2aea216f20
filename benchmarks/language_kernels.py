"""Kernels written from the docs alone, before and after the language gained what their authors missed.

    python benchmarks/language_kernels.py [--only NAME ...] [--markdown] [--record FILE]

For each kernel: lines as ruff formats them (without docstrings, blank lines and comments), machine
instructions of its main loop and in all, bytes of shared memory; and the largest error of a run on the
emulator against NumPy, over the largest number of the result. Kernels are those of `examples/` and of
`twelve_kernels.py`. The numbers before are of the first versions at commit 8ea39d2a. No GPU is needed.
"""

import argparse
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import twelve_kernels as twelve
from record import record
from sass import code_of, main_loop
from tables import table

from mlir_smem.examples import attention_backward, convolution, plain_loops, softmax, ssd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from kernel_lines import kernel_lines

BEFORE = "8ea39d2a"

B, F, I = "bf16", "f32", "i32"  # noqa: E741

Errors = list[tuple[np.ndarray, np.ndarray]]


@dataclass
class Row:
    """A kernel.

    Attributes:
        kernel, types: with the types of its arguments.
        check: runs it on the emulator, and returns results with what NumPy has.
        before: lines, instructions of the main loop and in all, and bytes of shared memory of the first
            version.
        constants: of the kernel.
    """

    kernel: Any
    types: tuple[Any, ...]
    check: Callable[[], Errors]
    before: tuple[int | None, int | None, int | None, int | None]
    constants: dict[str, Any] = field(default_factory=dict)


def random(*shape: int, dtype: Any = ml_dtypes.bfloat16, seed: int = 0, scale: float = 1.0) -> Any:
    """Random numbers of a normal distribution."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def zeros(*shape: int) -> np.ndarray:
    """An array of f32 for a result."""
    return np.zeros(shape, np.float32)


def exact(*arrays: Any) -> tuple[np.ndarray, ...]:
    """The arrays in float64."""
    return tuple(array.astype(np.float64) for array in arrays)


def gemm_bias_silu() -> Errors:
    results: Errors = []
    for grid, (m, n, k) in ((2, (256, 256, 192)), (1, (129, 136, 72))):
        a, b, bias = random(m, k), random(k, n, seed=1), random(n, seed=2)
        c = np.zeros((m, n), ml_dtypes.bfloat16)
        twelve.gemm_bias_silu[grid](a, b, bias, c, on="cpu")
        x = exact(a)[0] @ exact(b)[0] + exact(bias)[0]
        results.append((c, x / (1 + np.exp(-x))))
    return results


def softmax_of_product() -> Errors:
    a, b, c = random(128, 192, scale=0.3), random(192, 512, seed=1, scale=0.3), zeros(128, 512)
    softmax.softmax(a, b, c, on="cpu")
    x = exact(a)[0] @ exact(b)[0]
    weights = np.exp(x - x.max(1, keepdims=True))
    return [(c, weights / weights.sum(1, keepdims=True))]


def rms_norm_gemm() -> Errors:
    a, g, b, c = (
        random(128, 256),
        random(256, seed=3),
        random(256, 256, seed=1, scale=0.3),
        zeros(128, 256),
    )
    twelve.rms_norm_gemm(a, g, b, c, on="cpu")
    x = a.astype(np.float32)
    weighted = exact((x * g.astype(np.float32)).astype(ml_dtypes.bfloat16))[0]
    norm = np.sqrt((exact(a)[0] ** 2).mean(1, keepdims=True) + 1e-5)
    return [(c, weighted @ exact(b)[0] / norm)]


def scores_of(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Scores of heads (H, T, d), with a causal mask."""
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    return np.where(np.tri(s.shape[1], dtype=bool), s, -np.inf)


def reference_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The results of causal attention, and the logarithms of the sums."""
    s = scores_of(q, k)
    most = s.max(-1, keepdims=True)
    weights = np.exp(s - most)
    sums = weights.sum(-1, keepdims=True)
    return weights / sums @ v, (most + np.log(sums))[..., 0]


def attention() -> Errors:
    q, k, v = (random(2, 256, 64, seed=seed) for seed in range(3))
    o, logs = zeros(2, 256, 64), zeros(2, 256)
    twelve.attention(q, k, v, float(np.log2(np.e) / 8), o, logs, on="cpu")
    return [*zip((o, logs), reference_attention(*exact(q, k, v)), strict=True)]


def overlapped_attention() -> Errors:
    q, k, v = (random(2, 256, 64, seed=seed) for seed in range(3))
    o = zeros(2, 256, 64)
    arrays = (array[None] for array in (q, k, v, o))
    plain_loops.attention(*arrays, d=64, causal=True, on="cpu")
    return [(o, reference_attention(*exact(q, k, v))[0])]


@cache
def gradients() -> Errors:
    q, k, v, do = (random(1, 256, 64, seed=seed) for seed in range(4))
    eq, ek, ev, edo = exact(q, k, v, do)
    eo, logs = reference_attention(eq, ek, ev)
    weights = np.exp(scores_of(eq, ek) - logs[..., None])
    ds = weights * (edo @ ev.swapaxes(1, 2) - (eo * edo).sum(-1, keepdims=True))
    scale, log, sums = 1 / 8, (logs * np.log2(np.e)).astype(np.float32), zeros(256)
    dk, dv, dq = (zeros(256, 64) for _ in range(3))
    attention_backward.delta(eo[0].astype(np.float32), do[0], sums, on="cpu")
    inputs = (q[0], k[0], v[0], do[0], log[0], sums, float(scale * np.log2(np.e)))
    attention_backward.dkdv(*inputs, dk, dv, on="cpu")
    attention_backward.dq(*inputs, dq, on="cpu")
    transposed = (weights.swapaxes(1, 2) @ edo, ds.swapaxes(1, 2) @ eq * scale, ds @ ek * scale)
    return [
        (given[None], expected) for given, expected in zip((dv, dk, dq), transposed, strict=True)
    ]


def fp8_gemm() -> Errors:
    m, n, k = 128, 256, 512
    a, b = (random(rows, k, dtype=ml_dtypes.float8_e4m3fn, seed=i) for i, rows in enumerate((m, n)))
    sa = np.abs(random(m, k // 128, dtype=np.float32, seed=2))
    sb = np.abs(random(k // 128, n // 128, dtype=np.float32, seed=3))
    c = zeros(m, n)
    twelve.fp8_gemm(a, b.T, sa, sb, c, on="cpu")
    ea, eb = exact(a, b)
    parts = (slice(first, first + 128) for first in range(0, k, 128))
    products = ((ea[:, part] @ eb[:, part].T, i) for i, part in enumerate(parts))
    return [(c, sum(x * sa[:, i : i + 1] * np.repeat(sb[i], 128) for x, i in products))]  # type: ignore


def grouped_gemm() -> Errors:
    begins = np.cumsum([0, 100, 0, 200, 37]).astype(np.int32)
    a, b = random(int(begins[-1]), 128), random(4, 128, 256, seed=1)
    c = zeros(len(a), 256)
    twelve.grouped_gemm[3](a, b, begins, c, on="cpu")
    ea, eb = exact(a, b)
    groups = zip(begins[:-1], begins[1:], eb, strict=True)
    return [(c, np.concatenate([ea[first:last] @ b_group for first, last, b_group in groups]))]


def images() -> Errors:
    results: Errors = []
    for w, shape, channels in ((32, (2, 8, 32, 64), 128), (16, (1, 8, 16, 128), 128)):
        x, f = random(*shape), random(3, 3, shape[3], channels, seed=1)
        y = zeros(*shape[:3], channels)
        convolution.convolution(x, f, y, w=w, on="cpu")
        padded = np.pad(exact(x)[0], ((0, 0), (1, 1), (1, 1), (0, 0)))
        taps = ((r, s) for r in range(3) for s in range(3))
        rows, columns = shape[1:3]
        expected = (padded[:, r : r + rows, s : s + columns] @ exact(f)[0][r, s] for r, s in taps)
        results.append((y, np.sum([*expected], axis=0)))
    return results


def split_k_gemm() -> Errors:
    a, b = random(128, 640), random(640, 256, seed=1)
    parts, semaphores = np.full((3, 128, 256), np.nan, np.float32), np.zeros(4, np.int32)
    c = np.zeros((128, 256), ml_dtypes.bfloat16)
    twelve.split_k_gemm(a, b, parts, semaphores, c, on="cpu")
    return [(c, exact(a)[0] @ exact(b)[0])]


def plain_gemm() -> Errors:
    a, b, c = random(64, 256), random(256, 256, seed=1), zeros(64, 256)
    twelve.plain_gemm(a, b, c, on="cpu")
    return [(c, exact(a)[0] @ exact(b)[0])]


def scan() -> Errors:
    heads, steps = 2, 256
    b, c, x = (random(heads, steps, 64, seed=seed, scale=0.3) for seed in range(3))
    a = -np.abs(random(heads, steps, dtype=np.float32, seed=4)) * 0.1
    sums = a.reshape(heads, -1, 64).cumsum(-1).reshape(a.shape).astype(np.float32)
    y, expected, state = zeros(*b.shape), np.zeros(b.shape), np.zeros((heads, 64, 64))
    ssd.ssd(b, c, x, sums, y, on="cpu")
    eb, ec, ex = exact(b, c, x)
    for t in range(steps):
        state = np.exp(a[:, t, None, None]) * state + eb[:, t, :, None] * ex[:, t, None, :]
        expected[:, t] = np.einsum("hn,hnp->hp", ec[:, t], state)
    return [(y, expected)]


def paged_decode() -> Errors:
    q, pages = random(2, 64, 192), random(8, 64, 192, seed=1)
    tables = np.random.default_rng(2).permutation(8).reshape(2, 4).astype(np.int32)
    lengths, o, expected = np.array([100, 256], np.int32), zeros(2, 64, 128), []
    scale = float(np.log2(np.e) / np.sqrt(192))
    twelve.paged_decode(q, pages, tables, lengths, scale, o, on="cpu")
    for query, pages_of, length in zip(exact(q)[0], tables, lengths, strict=True):
        kv = exact(pages)[0][pages_of].reshape(-1, 192)[:length]
        s = query @ kv.T / np.sqrt(192)
        weights = np.exp(s - s.max(1, keepdims=True))
        expected.append(weights / weights.sum(1, keepdims=True) @ kv[:, :128])
    return [(o, np.stack(expected))]


def gathered_gemm() -> Errors:
    a, b, c = random(96, 128), random(128, 128, seed=1), zeros(64, 128)
    index = np.random.default_rng(2).integers(0, 96, 64).astype(np.int32)
    twelve.gathered_gemm(a, index, b, c, on="cpu")
    return [(c, exact(a)[0][index] @ exact(b)[0])]


_FORWARD = (B, B, B, F, B, F)
_BACKWARD = (B, B, B, B, F, F, F)

ROWS: dict[str, Row] = {
    "1 GEMM, bias, SiLU": Row(
        twelve.gemm_bias_silu, (B, B, B, B), gemm_bias_silu, (34, 71, 2520, 163904)
    ),
    "2 softmax of A * B": Row(
        softmax.softmax, (B, B, F), softmax_of_product, (21, 133, 4168, 148480)
    ),
    "3 RMSNorm, GEMM": Row(
        twelve.rms_norm_gemm, (B, B, B, F), rms_norm_gemm, (26, 246, 712, 131136)
    ),
    "4 causal attention": Row(twelve.attention, _FORWARD, attention, (45, 918, 1912, 82000)),
    "4b with overlap": Row(
        plain_loops.attention,
        (B, B, B, B),
        overlapped_attention,
        (55, 980, 3000, 82000),
        {"d": 64, "causal": True},
    ),
    "5 gradients: dK, dV": Row(
        attention_backward.dkdv, (*_BACKWARD, B, B), gradients, (45, 591, 992, 98336)
    ),
    "5 gradients: dQ": Row(
        attention_backward.dq, (*_BACKWARD, B), gradients, (44, 486, 856, 81952)
    ),
    "6 fp8, block scales": Row(
        twelve.fp8_gemm, ("e4m3", "e4m3", F, F, F), fp8_gemm, (22, 181, 488, 131136)
    ),
    "7 grouped GEMM": Row(twelve.grouped_gemm, (B, B, I, F), grouped_gemm, (42, 41, 1696, 131136)),
    "8 convolution 3x3": Row(convolution.convolution, (B, B, F), images, (48, 38, 536, 131136)),
    "10 split-K": Row(twelve.split_k_gemm, (B, B, F, I, B), split_k_gemm, (28, 36, 776, 131136)),
    "11 plain loop": Row(twelve.plain_gemm, (B, B, F), plain_gemm, (12, 68, 240, 24576)),
    "12 SSD scan": Row(ssd.ssd, (B, B, B, F, F), scan, (36, 895, 1104, 57344)),
    "paged decode": Row(
        twelve.paged_decode, (B, B, I, I, F, F), paged_decode, (30, None, None, None)
    ),
    "gathered rows": Row(twelve.gathered_gemm, (B, I, B, F), gathered_gemm, (16, None, None, None)),
}


def measure(row: Row) -> dict[str, Any]:
    """Return what the table has of a kernel."""
    function = row.kernel.function
    compiled = row.kernel.compile(*row.types, **row.constants)
    code = code_of(compiled.cubin)
    loop = main_loop(code)
    source = Path(inspect.getsourcefile(function) or "").read_text()
    result = {
        "lines": len(kernel_lines(source, function.__name__)),
        "loop": len(loop.always) + len(loop.branches),
        "kernel": len(code),
        "shared bytes": compiled.manifest["kernels"][0]["shared_bytes"],
    }
    before = dict(zip(result, row.before, strict=True))
    error = max(
        float(np.abs(np.float64(given) - expected).max() / np.abs(expected).max())
        for given, expected in row.check()
    )
    return {"before": before, "after": result} | {
        "registers": compiled.report.registers,
        "spill bytes": compiled.report.spill_bytes,
        "ptxas": [*compiled.report.warnings],
        "not proven": [remark.message for remark in row.kernel.check(*row.types, **row.constants)],
        "error": error,
    }


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--only", nargs="+", choices=ROWS, default=[*ROWS], metavar="NAME")
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    results = {name: measure(ROWS[name]) for name in options.only}
    lines = [
        [name]
        + [
            " → ".join("" if x is None else str(x) for x in (result["before"][key], number))
            for key, number in result["after"].items()
        ]
        + [f"{result['error']:.0e}"]
        for name, result in results.items()
    ]
    heading = ["kernel", "lines", "SASS, loop", "SASS, kernel", "shared bytes", "error"]
    print(table(heading, lines, options.markdown))
    if options.record:
        record(options.record, {"before": BEFORE, "kernels": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
