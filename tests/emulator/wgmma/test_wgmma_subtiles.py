"""wgmma of subtiles, with static offsets and with run-time offsets."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

import mlir_smem
from mlir_smem.runtime import run_on_cpu

TEXT = """
!m = memref<128x128xbf16>
!n = memref<64x64xbf16>
!t = !smem.tile<tensor<128x128xbf16>, #smem.swizzle<"SWIZZLE", "row-major">>
!p = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
gpu.module @kernels {
  gpu.func @kernel(%A: !m {smem.name = "A"}, %B: !n {smem.name = "B"},
                   %O: memref<64x64xf32> {smem.name = "O"}, %N: memref<2xi32> {smem.name = "N"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    WHOLE
    %b = "smem.alloc"() : () -> !p
    "smem.copy"(%A, %t) : (!m, !t) -> ()
    "smem.copy"(%B, %b) : (!n, !p) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    PART
    %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    "smem.store"(%e, %O) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }
}
"""

ALLOC = '%t = "smem.alloc"() : () -> !t'

#: A view of memory that begins BEGIN bytes behind a multiple of 1024.
VIEW = """%bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %begin = arith.constant BEGIN : index
    %memory = memref.view %bytes[%begin][] : memref<?xi8, #gpu.address_space<workgroup>>
      to memref<16384xbf16, #gpu.address_space<workgroup>>
    %t = "smem.view"(%memory) {alignment = 128 : i64}
      : (memref<16384xbf16, #gpu.address_space<workgroup>>) -> !t"""

STATIC = '%p = "smem.subtile"(%t) {static_offsets = array<i64: ROW, COLUMN>} : (!t) -> !p'

DYNAMIC = """%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n0 = memref.load %N[%c0] : memref<2xi32>
    %n1 = memref.load %N[%c1] : memref<2xi32>
    %i = arith.index_cast %n0 : i32 to index
    %j = arith.index_cast %n1 : i32 to index
    %by = arith.constant 16 : index
    %row = arith.muli %i, %by : index
    %column = arith.muli %j, %by : index
    %p = "smem.subtile"(%t, %row, %column)
      {static_offsets = array<i64: -9223372036854775808, -9223372036854775808>}
      : (!t, index, index) -> !p"""


def check(whole, part, swizzle, row, column, reserved=0):
    part = part.replace("ROW", str(row)).replace("COLUMN", str(column))
    a, b, product = multiply_subtile(
        TEXT, whole, part, swizzle, (row // 16, column // 16), reserved
    )
    assert (product == a[row : row + 64, column : column + 64] @ b).all()


def multiply_subtile(text, whole, part, swizzle, numbers=(0, 0), reserved=0):
    """Return A and B as f32, and the kernel's result."""
    for name, value in (("WHOLE", whole), ("PART", part), ("SWIZZLE", swizzle)):
        text = text.replace(name, value)
    random = np.random.default_rng(0)
    a = random.integers(-3, 4, (128, 128)).astype(bfloat16)
    b = random.integers(-3, 4, (64, 64)).astype(bfloat16)
    inputs = {"A": a, "B": b, "N": np.array(numbers, np.int32)}
    compiled = mlir_smem.compile(text, emit="nvvm", reserved_bytes=reserved)
    product = run_on_cpu(compiled, "kernel", inputs, ["O"], (1, 1, 1))["O"]
    return a.astype(np.float32), b.astype(np.float32), product


@pytest.mark.parametrize("row, column", [(64, 0), (64, 16), (0, 48), (64, 64)])
@pytest.mark.parametrize("swizzle", ["128B", "64B", "32B", "none"])
def test_subtile_with_static_offsets(swizzle, row, column):
    check(ALLOC, STATIC, swizzle, row, column)


@pytest.mark.parametrize("row, column", [(64, 48), (16, 16)])
@pytest.mark.parametrize("swizzle", ["128B", "64B"])
def test_subtile_with_run_time_offsets(swizzle, row, column):
    check(ALLOC, DYNAMIC, swizzle, row, column)


#: A loop adds the products of subtiles that begin at its induction variable; then of the first subtile.
COUNTED = """%zero = arith.constant 0 : index
    %next = arith.constant 16 : index
    %end = arith.constant 80 : index
    %p = "smem.subtile"(%t, %zero) {static_offsets = array<i64: -9223372036854775808, 0>}
      : (!t, index) -> !p
    %none = arith.constant 0.0 : f32
    %start = "smem.fill"(%none) : (f32) -> !d
    %sum = scf.for %i = %zero to %end step %next iter_args(%accumulated = %start) -> (!d) {
      %q = "smem.subtile"(%t, %i) {static_offsets = array<i64: -9223372036854775808, 0>}
        : (!t, index) -> !p
      %more = "smem.mma"(%q, %b, %accumulated) : (!p, !p, !d) -> !d
      scf.yield %more : !d
    }"""


def test_subtile_at_the_induction_variable():
    text = TEXT.replace('%d = "smem.mma"(%p, %b)', '%d = "smem.mma"(%p, %b, %sum)')
    text = text.replace(": (!p, !p) -> !d", ": (!p, !p, !d) -> !d")
    a, b, product = multiply_subtile(text, ALLOC, COUNTED, "128B")
    rows = sum(a[i : i + 64, :64] for i in (0, *range(0, 80, 16)))
    assert (product == rows @ b).all()


@pytest.mark.parametrize("line", [1, 2, 5])
@pytest.mark.parametrize("swizzle", ["128B", "64B", "32B"])
def test_swizzle_pattern_that_begins_at_any_line(swizzle, line):
    whole = VIEW.replace("BEGIN", str(128 * line))
    check(whole, STATIC, swizzle, 64, 16, reserved=40960)
