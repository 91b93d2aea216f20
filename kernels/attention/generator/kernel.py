"""The attention kernel: a producer warpgroup loads blocks by TMA, consumer warpgroups multiply.

It is FlashAttention's algorithm (Dao, 2023) with the roles of FlashAttention-3 (Shah et al., 2024):
scores and weights stay in registers, and the products of the next keys and of the values before them run
at the same time. The kernel is persistent; it is written in the kernel language, and its waits and fences
are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....language.options import KernelOptions
from ....layout.wgmma import INSTRUCTION_M
from .arguments import trace_kernel
from .blocks import Blocks
from .config import REGISTERS, Config
from .problem import Problem


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `attention(Q, K, V, O, L, U, W, longest, q_descale, k_descale,
    v_descale, scale, factor, left, right)`.

    Q and O are (B, H, M, d), K (B, G, d, N), V (B, G, N, d), with H a multiple of G; d is contiguous.
    L (B, H, M) has the logarithms of the sums of exponentials. `scale` includes log2(e).

    Of packed sequences, B is 1, and U and W, of i32, have the first row of the queries and of the keys of
    each sequence, and where the last one ends; `longest` is the most queries of a sequence. What the
    problem has not is missing.

    Of e4m3, keys are contiguous in V, and the result is multiplied by `factor`; `q_descale` and the
    others (C, G) of f32 have the factors of Q, K and V for each sequence or batch, and head of keys.

    Of a split problem, O (Z, B, T, R, d) and L (Z, B, T, R) of f32 have the results of Z parts of the
    keys for the R rows of each of T tiles, as `combine_text` takes them.

    Raises:
        ConfigError: if the configuration does not fit the problem.
    """
    config.check(problem)
    dim = problem.dim
    shapes = {
        "Q": f"(B,H,M,{dim}):(?,?,?,1)",
        "K": f"(B,G,{dim},N):(?,?,1,?)",
        "V": f"(B,G,N,{dim}):(?,?,{'1,?' if problem.is_8_bit else '?,1'})",
        "O": f"(B,H,M,{dim}):(?,?,?,1)",
    }
    types: dict[str, Any] = dict.fromkeys(shapes, problem.element) | {"O": problem.result}
    lse_signature = "(B,H,M):(?,?,1)"
    if problem.split:
        shapes["O"], types["O"] = f"(Z,B,T,R,{dim}):(?,?,?,?,1)", "f32"
        lse_signature = "(Z,B,T,R):(?,?,?,1)"
    for name, is_present, shape, type_ in (
        ("L", problem.lse or problem.split, lse_signature, "f32"),
        ("U", problem.packed, "(S)", "i32"),
        ("W", problem.packed, "(S)", "i32"),
        ("longest", problem.packed, "()", "index"),
        *((f"{name}_descale", name in problem.descaled, "(C,G):(?,?)", "f32") for name in "qkv"),
        ("scale", True, "()", "f32"),
        ("factor", problem.is_8_bit, "()", "f32"),
        ("left", problem.left, "()", "index"),
        ("right", problem.right, "()", "index"),
    ):
        if is_present:
            shapes[name], types[name] = shape, type_

    def attention(*arguments: Any) -> None:
        _attention(dict(zip(shapes, arguments, strict=True)), config, problem.heads)

    options = KernelOptions(1 + config.consumers, (config.cluster,), min_blocks=1)
    return trace_kernel(attention, shapes, types, options)


def text(problem: Problem, config: Config) -> str:
    """Return the kernel as text; arguments as for `build`."""
    with new_context():
        return str(build(problem, config))


def _attention(arrays: Mapping[str, Any], config: Config, heads: int) -> None:
    """Compute O, and L if it is there, of Q, K and V."""
    blocks = Blocks(arrays, config, heads)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            # Two threads load, so that no order of Q and of the blocks is prescribed.
            with sl.elect(warp=1):
                blocks.load_queries()
            with sl.elect():
                blocks.load()
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            warpgroup_rows = sl.ds(warpgroup * INSTRUCTION_M, INSTRUCTION_M)
            blocks.begin()
            for scheduled in blocks.tiles:
                q = blocks.queries(scheduled)[warpgroup_rows, :]
                s = blocks.first_scores(scheduled, q)
                # The tile's coordinates take divisions, which run while the tensor cores multiply.
                tile = scheduled.tile
                o, rows = blocks.attend(tile, q, warpgroup_rows, s)
                blocks.finish(tile, o, rows, q, warpgroup_rows)
            blocks.end()
