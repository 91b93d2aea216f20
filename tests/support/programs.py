"""Small programs as MLIR text, used by several test suites."""

AUTO = "#smem.auto"
FLYING = "#smem.in_flight"
READABLE = "#smem.accumulator"


def tile(*shape, element="bf16", layout=AUTO):
    """The type of a tile."""
    return f"!smem.tile<tensor<{'x'.join(map(str, shape))}x{element}>, {layout}>"


def fragment(m, n, state=FLYING):
    """The type of a fragment."""
    return f"!smem.fragment<tensor<{m}x{n}xf32>, {state}>"


def matrix(*shape, element="bf16"):
    """The type of a row-major matrix in global memory."""
    return f"memref<{'x'.join(map(str, shape))}x{element}>"


DONE = fragment(64, 8, READABLE)
A, B, D = matrix(64, 64), matrix(64, 8), matrix(64, 8, element="f32")

#: D = A * B by one warpgroup: M = 64, N = 8, K = 64.
PRODUCT = f"""
    %a = "smem.alloc"() : () -> {tile(64, 64)}
    %b = "smem.alloc"() : () -> {tile(64, 8)}
    "smem.copy"(%A, %a) : ({A}, {tile(64, 64)}) -> ()
    "smem.copy"(%B, %b) : ({B}, {tile(64, 8)}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %flying = "smem.mma"(%a, %b) : ({tile(64, 64)}, {tile(64, 8)}) -> {fragment(64, 8)}
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}} : ({fragment(64, 8)}) -> {DONE}
    "smem.store"(%ready, %D) : ({DONE}, {D}) -> ()
"""

#: The kernel arguments that PRODUCT uses.
ARGUMENTS = f'%A: {A} {{smem.name = "A"}}, %B: {B} {{smem.name = "B"}}, %D: {D} {{smem.name = "D"}}'


def kernel(body=PRODUCT, name="product", arguments=ARGUMENTS, attributes=""):
    """A kernel of one warpgroup."""
    return f"""
  gpu.func @{name}({arguments})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>{attributes}}} {{
    {body}
    gpu.return
  }}
"""


def module(*functions, name="kernels"):
    """A gpu.module."""
    return f"gpu.module @{name} {{{''.join(functions or (kernel(),))}}}\n"


#: A module that breaks a rule: the copy's shapes differ.
WRONG = module(
    kernel(
        f"""%a = "smem.alloc"() : () -> {tile(32, 64)}
    "smem.copy"(%A, %a) : ({A}, {tile(32, 64)}) -> ()"""
    )
)

#: The start of the error for it.
COMPLAINT = "'smem.copy' op copies memref<64x64xbf16> to a tile of 32x64"
