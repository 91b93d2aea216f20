"""Machine instructions of attention's main loop, by how its arithmetic is written and compiled.

    python benchmarks/instruction_counts.py [--record FILE]

The loop computes 64 x 128 scores of a warpgroup while the product with the values before them runs.
Rows are the kernel's options, columns what it computes: `exp2(s * scale - max)` without a mask and with a
causal one. No GPU is needed.
"""

import argparse
import sys
from collections import Counter
from typing import Any

from record import record
from sass import code_of, main_loop
from tables import table

import mlir_smem.language as sl

#: The options of `sl.kernel`, by the names of the rows.
OPTIONS: dict[str, dict[str, bool]] = {
    "contract=False": {"contract": False},
    "default": {},
    "fast=True": {"fast": True},
}

_TYPES = (sl.bf16, sl.bf16, sl.bf16, sl.f32, sl.f32)


def attention(Q, K, V, scale, O, *, causal=False, bn=128, stages=2):  # noqa: E741
    """O = softmax(Q @ K * scale) @ V for each head; `scale` is positive and in base 2."""
    heads, queries, dim = Q.shape
    sl.multiple_of((V.shape[1], queries), (bn, 128))
    block, head = sl.grid(sl.cdiv(queries, 128), heads)
    q = sl.alloc((128, dim), Q.dtype)
    k, v = sl.alloc((stages, dim, bn), K.dtype), sl.alloc((stages, bn, dim), V.dtype)
    query, key = sl.pipeline(1, consumers=2), sl.pipeline(stages, consumers=2)
    value = sl.pipeline(stages, consumers=2)
    steps = sl.cdiv(block * 128 + 128 if causal else V.shape[1], bn)
    with sl.warp_specialize():
        with sl.partition(1, registers=24):
            with sl.elect(warp=1), query.producer(0) as stage:
                sl.tma_load(Q[head, sl.ds(block * 128, 128), :], q, stage)
            with sl.elect():
                for i in sl.range(steps):
                    with key.producer(i) as stage:
                        sl.tma_load(K[head, :, sl.ds(i * bn, bn)], k[stage], stage)
                    with value.producer(i) as stage:
                        sl.tma_load(V[head, sl.ds(i * bn, bn), :], v[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            first = block * 128 + warpgroup * 64
            rows = sl.ds(warpgroup * 64, 64)
            o, sums = sl.zeros((64, dim), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            largest = sl.full((64,), float("-inf"), sl.f32, axis=1)

            def softmax(s, i, largest, sums):
                if causal:
                    s = sl.where(i * bn + sl.iota(1) <= first + sl.iota(0), s, float("-inf"))
                new = sl.maximum(largest, s.max(axis=1) * scale)
                p, shrink = sl.exp2(s * scale - new), sl.exp2(largest - new)
                return p, shrink, new, sums * shrink + p.sum(axis=1)

            query.wait(0)
            with key.consumer(0) as stage:
                s = sl.mma(q[rows, :], k[stage])
            p, shrink, largest, sums = softmax(s, 0, largest, sums)
            for i in sl.range(1, steps):
                s = sl.mma(q[rows, :], k[key.wait(i)])
                o = sl.mma(p.to(V.dtype), v[value.wait(i - 1)], o)
                key.release(i)
                p, shrink, largest, sums = softmax(s, i, largest, sums)
                value.release(i - 1)
                o = o * shrink
            with value.consumer(steps - 1) as stage:
                o = sl.mma(p.to(V.dtype), v[stage], o)
            query.release(0)
            sl.store(o / sums, O[head, sl.ds(first, 64), :])


def count(options: dict[str, bool], causal: bool) -> dict[str, Any]:
    """Return the instructions of the loop, all and by opcode, and the ISETP of the whole kernel."""
    signature = "(H,T,64), (H,64,S):(?,1,?), (H,S,64), (), (H,T,64)"
    kernel = sl.kernel(signature, warpgroups=3, min_blocks=1, **options)(attention)
    compiled = kernel.compile(*_TYPES, causal=causal)
    assert compiled.cubin is not None and compiled.report is not None
    code = code_of(compiled.cubin)
    loop = main_loop(code)
    opcodes = Counter(i.name for i in (*loop.always, *loop.branches))
    return {
        "loop": opcodes.total(),
        "kernel": len(code),
        "ISETP of the kernel": sum(i.name == "ISETP" for i in code),
        "spill bytes": compiled.report.spill_bytes,
        "opcodes": dict(opcodes.most_common()),
    }


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    counts = {
        name: {mask: count(of_row, mask == "causal") for mask in ("no mask", "causal")}
        for name, of_row in OPTIONS.items()
    }
    lines = [
        [name, *(str(row[m]["loop"]) for m in row), str(row["causal"]["ISETP of the kernel"])]
        for name, row in counts.items()
    ]
    heading = ["instructions in the loop", "no mask", "causal", "ISETP of the causal kernel"]
    print(table(heading, lines, markdown=False))
    if options.record:
        record(options.record, {"counts": counts})
    return 0


if __name__ == "__main__":
    sys.exit(main())
