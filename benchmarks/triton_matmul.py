"""Triton's persistent TMA matmul, in configurations for Hopper.

Contenders in every configuration; `interleaved.finalists` picks some by measurement.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch_contenders import StreamContender
from triton.runtime.errors import OutOfResources, PTXASError
from triton.tools.tensor_descriptor import TensorDescriptor


@dataclass(frozen=True)
class Config:
    """A tile of M x N x K elements, and the schedule of its CTA.

    Attributes:
        parts: the number of stores along N of the result; more need less shared memory.
        group: tiles along M before the next tile along N.
    """

    m: int
    n: int
    k: int
    stages: int
    warps: int
    parts: int = 1
    group: int = 8

    def __str__(self) -> str:
        return (
            f"{self.m}x{self.n}x{self.k}, {self.stages} stages, {self.warps} warps, "
            f"{self.parts} parts, groups of {self.group}"
        )


# In the order in which the time budget tries them.
CONFIGS = (
    Config(128, 256, 64, stages=3, warps=8),
    Config(128, 256, 64, stages=4, warps=8, parts=2),
    Config(128, 128, 64, stages=4, warps=8),
    Config(256, 128, 64, stages=3, warps=8),
    Config(128, 256, 64, stages=3, warps=8, parts=2),
    Config(128, 128, 128, stages=3, warps=8, parts=2),
    Config(128, 128, 64, stages=4, warps=4),
)


@triton.jit
def _matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    TILE_M: tl.constexpr,  # noqa: N803
    TILE_N: tl.constexpr,  # noqa: N803
    TILE_K: tl.constexpr,  # noqa: N803
    PARTS: tl.constexpr,  # noqa: N803
    GROUP: tl.constexpr,  # noqa: N803
    BLOCKS: tl.constexpr,  # noqa: N803
    B_IS_NK: tl.constexpr,  # noqa: N803
):
    rows = tl.cdiv(m, TILE_M)
    columns = tl.cdiv(n, TILE_N)
    steps = tl.cdiv(k, TILE_K)
    for tile in tl.range(tl.program_id(0), rows * columns, BLOCKS, flatten=True):
        band = tile // (GROUP * columns)
        height = min(rows - band * GROUP, GROUP)
        row = (band * GROUP + tile % (GROUP * columns) % height) * TILE_M
        column = tile % (GROUP * columns) // height * TILE_N
        total = tl.zeros((TILE_M, TILE_N), tl.float32)
        for step in range(steps):
            left = a.load([row, step * TILE_K])
            right = (
                b.load([column, step * TILE_K]).T if B_IS_NK else b.load([step * TILE_K, column])
            )
            total = tl.dot(left, right, total)
        if PARTS == 1:
            c.store([row, column], total.to(tl.bfloat16))
        else:
            halves = total.reshape((TILE_M, 2, TILE_N // 2)).permute((0, 2, 1))
            left_half, right_half = halves.split()
            c.store([row, column], left_half.to(tl.bfloat16))
            c.store([row, column + TILE_N // 2], right_half.to(tl.bfloat16))


def contenders(
    operands: dict[str, tuple[torch.Tensor, torch.Tensor]],
    out: torch.Tensor,
    gemms: int,
    budget: float,
) -> Iterator[StreamContender]:
    """A contender for each configuration and layout, until `budget` seconds are spent.

    Operands are bf16, A K-major, by the name of their layout. A configuration that does not fit the
    chip is left out.
    """
    deadline = time.monotonic() + budget
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    for config in CONFIGS:
        for layout, (a, b) in operands.items():
            if time.monotonic() > deadline:
                return
            (m, k), n = a.shape, b.shape[1]
            n_by_k = b.stride(0) == 1
            stored_b, tile = (b.T, [config.n, config.k]) if n_by_k else (b, [config.k, config.n])
            arguments = (
                TensorDescriptor.from_tensor(a, [config.m, config.k]),
                TensorDescriptor.from_tensor(stored_b, tile),
                TensorDescriptor.from_tensor(out, [config.m, config.n // config.parts]),
                *(m, n, k, config.m, config.n, config.k),
                *(config.parts, config.group, blocks, n_by_k),
            )
            grid = (min(blocks, triton.cdiv(m, config.m) * triton.cdiv(n, config.n)),)

            def launch(
                arguments: tuple = arguments, grid: tuple = grid, config: Config = config
            ) -> None:
                _matmul[grid](*arguments, num_warps=config.warps, num_stages=config.stages)

            name = f"Triton {layout} {config}"
            try:
                yield StreamContender(name, launch, out, gemms, f"{layout}, {config}")
            except (OutOfResources, PTXASError) as error:
                print(f"{name} is left out: {error}")
