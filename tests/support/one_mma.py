"""The text of a kernel with one warpgroup and one `smem.mma`."""

SWIZZLES = ("none", "32B", "64B", "128B")


def product(a: str, a_type: str, b: str, b_type: str, m: int, n: int) -> str:
    """Return the mma of two tiles, and the store of its result to %D."""
    flying = f"!smem.fragment<tensor<{m}x{n}xf32>, #smem.in_flight>"
    ready = f"!smem.fragment<tensor<{m}x{n}xf32>, #smem.accumulator>"
    return f"""
    %flying = "smem.mma"({a}, {b}) : ({a_type}, {b_type}) -> {flying}
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}} : ({flying}) -> {ready}
    "smem.store"(%ready, %D) : ({ready}, memref<{m}x{n}xf32>) -> ()
"""


def kernel(a: str, b: str, m: int, n: int, body: str) -> str:
    """Return a kernel `product(A, B, D)` with one warpgroup."""
    return f"""
gpu.module @kernels {{
  gpu.func @product(%A: {a} {{smem.name = "A"}}, %B: {b} {{smem.name = "B"}},
                    %D: memref<{m}x{n}xf32> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}
"""
