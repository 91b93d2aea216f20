"""Kernels that multiply 4-bit and 6-bit types, which TMA pads in shared memory."""

import itertools

import ml_dtypes
import numpy as np

#: By MLIR type: the NumPy type, and the bits of an element in global memory.
TYPES = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 8),
    "f8E5M2": (ml_dtypes.float8_e5m2, 8),
    "f6E2M3FN": (ml_dtypes.float6_e2m3fn, 6),
    "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 6),
    "!smem.padded<f4E2M1FN>": (ml_dtypes.float4_e2m1fn, 4),
}
NARROW = [type_ for type_, (_, bits) in TYPES.items() if bits < 8]

M, N, K = 128, 48, 256

#: The first k of the GEMM in A and B.
FIRST = 128


def pack_bits(numbers, bits):
    """Return rows of numbers as packed bits, low bits first."""
    codes = numbers.view(np.uint8)[..., None]
    return np.packbits(
        np.unpackbits(codes, axis=-1, bitorder="little")[..., :bits].reshape(len(numbers), -1),
        axis=-1,
        bitorder="little",
    )


def row_type(type_):
    """Return the element type of a matrix in memory, and the number of elements of a row."""
    bits = TYPES[type_][1]
    return (type_, K) if bits == 8 else ("i8", K * bits // 8)


def kernel(a, b, scaled=False):
    """Return a GEMM of K = 128; if `scaled`, with one scale factor for each 32 elements along K."""
    (a_type, a_k), (b_type, b_k) = row_type(a), row_type(b)
    multiplied, more, loads = '"smem.mma"(%a, %b) : (!a, !b)', "", ""
    if scaled:
        multiplied = '"smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !s, !s)'
        more = ', %SA: !S {smem.name = "SA"}, %SB: !S {smem.name = "SB"}'
        loads = """
    %sa = "smem.alloc"() : () -> !s
    %sb = "smem.alloc"() : () -> !s
    "smem.copy"(%SA, %sa) : (!S, !s) -> ()
    "smem.copy"(%SB, %sb) : (!S, !s) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier"""
    return f"""
!A = memref<{M}x{a_k}x{a_type}>
!B = memref<{b_k}x{N}x{b_type}, strided<[1, {b_k}]>>
!D = memref<{M}x{N}xf32>
!a = !smem.tile<tensor<{M}x128x{a}>, #smem.auto>
!b = !smem.tile<tensor<128x{N}x{b}>, #smem.auto>
!S = memref<1x1x32x4x4xf8E8M0FNU>
!s = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!pipeline = !smem.pipeline
!flying = !smem.fragment<tensor<{M}x{N}xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<{M}x{N}xf32>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}},
                    %D: !D {{smem.name = "D"}}{more})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %first = arith.constant {FIRST} : index
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    {loads}
    %pipeline = "smem.create_pipeline"() {{stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32}}
    : () -> !pipeline "smem.elect"() ({{
      %slot = "smem.producer_acquire"(%pipeline, %c0) : (!pipeline, index) -> index
      "smem.tma_load"(%A, %a, %pipeline, %c0, %c0, %first) : (!A, !a, !pipeline, index, index, index) ->
      () "smem.tma_load"(%B, %b, %pipeline, %c0, %first, %c0) : (!B, !b, !pipeline, index, index, index)
      -> () "smem.producer_commit"(%pipeline, %c0) : (!pipeline, index) -> ()
    }}) {{scope = "cta"}} : () -> ()
    %slot = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
    %flying = {multiplied} -> !flying
    %d = "smem.wait"(%flying) {{pending = 0 : i32}} : (!flying) -> !ready
    "smem.store"(%d, %D) : (!ready, !D) -> ()
    gpu.return
  }}
}}
"""


def random_numbers(type_, rows, seed):
    """Return random numbers whose sums of products are exact, and their representation in memory."""
    dtype, bits = TYPES[type_]
    random = np.random.default_rng(seed)
    numbers = (random.integers(-3, 4, (rows, K)) / 2).astype(dtype)
    return numbers.astype(np.float64), numbers if bits == 8 else pack_bits(numbers, bits).view(
        np.int8
    )


#: Each mix of types of A and B with a narrow one.
MIXES = [mix for mix in itertools.product(TYPES, TYPES) if set(mix) & set(NARROW)]
