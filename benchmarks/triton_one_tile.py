"""A GEMM of one tile in Triton, as small as a kernel gets: what is timed is its launch."""

import triton
import triton.language as tl


@triton.jit
def one_tile(
    a,
    b,
    c,
    M: tl.constexpr,  # noqa: N803
    N: tl.constexpr,  # noqa: N803
    K: tl.constexpr,  # noqa: N803
):
    rows, columns, steps = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + rows[:, None] * K + steps[None, :])
    right = tl.load(b + steps[:, None] * N + columns[None, :])
    tl.store(c + rows[:, None] * N + columns[None, :], tl.dot(left, right).to(tl.float16))
