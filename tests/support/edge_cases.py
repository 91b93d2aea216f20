"""Edge cases of the tensor core's arithmetic: operands, and the kernel that multiplies them."""

from collections.abc import Callable

import ml_dtypes
import numpy as np

DTYPES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}

#: M and N.
SIZE = 64


def _wide_exponents(random: np.random.Generator, shape: tuple[int, int], spread: int) -> np.ndarray:
    return random.standard_normal(shape) * 2.0 ** random.integers(-spread, spread + 1, shape)


def _special(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    values = random.standard_normal(shape)
    for value, share in ((np.inf, 0.02), (-np.inf, 0.02), (np.nan, 0.005), (0.0, 0.05)):
        values[random.random(shape) < share] = value
    return values


def _bits(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return random.integers(0, 1 << 16, shape).astype(np.uint16)


#: For each case a function that returns a matrix of values (float64) or bits (uint16); `fraction` is the
#: mask of the type's fraction bits.
CASES: dict[str, Callable[[np.random.Generator, tuple[int, int], int], np.ndarray]] = {
    "normal": lambda random, shape, fraction: random.standard_normal(shape),
    "any bits": lambda random, shape, fraction: _bits(random, shape),
    "wide exponents": lambda random, shape, fraction: _wide_exponents(random, shape, 12),
    "infinities and NaN": lambda random, shape, fraction: _special(random, shape),
    "subnormals": lambda random, shape, fraction: _bits(random, shape) & (0x8000 | fraction),
    "zeros of both signs": lambda random, shape, fraction: _bits(random, shape) & 0x8000,
    "overflow": lambda random, shape, fraction: random.standard_normal(shape) * 2.0**63.5,
    "cancellation": lambda random, shape, fraction: np.repeat(
        random.standard_normal((shape[0], shape[1] // 2)), 2, axis=1
    ),
}


def operands(case: str, element: str, k: int) -> dict[str, np.ndarray]:
    """A (64 x k, row-major) and B (k x 64, column-major) of a case."""
    a, b = (_matrix(case, element, k, seed) for seed in (k, k + 1))
    if case == "cancellation":
        a[:, 1::2] = -a[:, 1::2]
    return {"A": a, "B": np.asarray(b.T, order="F")}


def _matrix(case: str, element: str, k: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    fraction = 0x3FF if element == "f16" else 0x7F
    values = CASES[case](random, (SIZE, k), fraction)
    if values.dtype == np.uint16:
        return values.view(DTYPES[element])
    with np.errstate(over="ignore"):
        return values.astype(DTYPES[element])


def kernel_of(element: str, k: int) -> str:
    """The kernel `product` of one warpgroup: D = A * B."""
    return f"""
!A = memref<{SIZE}x{k}x{element}>
!B = memref<{k}x{SIZE}x{element}, strided<[1, {k}]>>
!D = memref<{SIZE}x{SIZE}xf32>
!a = !smem.tile<tensor<{SIZE}x{k}x{element}>, #smem.auto>
!b = !smem.tile<tensor<{k}x{SIZE}x{element}>, #smem.auto>
!flying = !smem.fragment<tensor<{SIZE}x{SIZE}xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<{SIZE}x{SIZE}xf32>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (!A, !a) -> ()
    "smem.copy"(%B, %b) : (!B, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %flying = "smem.mma"(%a, %b) : (!a, !b) -> !flying
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}} : (!flying) -> !ready
    "smem.store"(%ready, %D) : (!ready, !D) -> ()
    gpu.return
  }}
}}
"""
