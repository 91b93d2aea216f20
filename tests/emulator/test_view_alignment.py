"""The alignment of a view's memory: declared statically, or checked at run time."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

import mlir_smem
from mlir_smem.emulator import Violations
from mlir_smem.emulator.errors import ViolationKind
from mlir_smem.runtime import run_on_cpu

#: A matrix product whose A is a view of a buffer that follows a buffer of 256 bytes.
TEXT = """
!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!m = memref<64x64xbf16>
!w = memref<16384xi8, #gpu.address_space<workgroup>>
!v = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @kernel(%A: !m {smem.name = "A"}, %B: !m {smem.name = "B"},
                   %O: memref<64x64xf32> {smem.name = "O"}, %N: memref<1xi32> {smem.name = "N"})
      workgroup(%first: memref<256xi8, #gpu.address_space<workgroup>>, %second: !w ATTRIBUTES)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i8
    %thread = gpu.thread_id x
    memref.store %zero, %first[%thread] : memref<256xi8, #gpu.address_space<workgroup>>
    %n = memref.load %N[%c0] : memref<1xi32>
    %shift = arith.index_cast %n : i32 to index
    %shown = memref.view %second[SHIFT][] : !w to !v
    %a = "smem.view"(%shown) : (!v) -> !a
    %b = "smem.alloc"() : () -> !a
    "smem.copy"(%A, %a) : (!m, !a) -> ()
    "smem.copy"(%B, %b) : (!m, !a) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    "smem.store"(%e, %O) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }
}
"""


def run(attributes, shift, number):
    text = TEXT.replace("ATTRIBUTES", attributes).replace("SHIFT", shift)
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, (64, 64)).astype(bfloat16) for _ in range(2))
    inputs = {"A": a, "B": b, "N": np.array([number], np.int32)}
    outputs = run_on_cpu(mlir_smem.compile(text, emit="nvvm"), "kernel", inputs, ["O"], (1, 1, 1))
    return outputs["O"], a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("attributes", ["", "{llvm.align = 16 : i64}", "{llvm.align = 2048 : i64}"])
def test_declared_buffers_are_aligned(attributes):
    product, exact = run(attributes, "%c0", 0)
    assert (product == exact).all()


def test_run_time_offsets_are_checked():
    # The offset can only be aligned if the buffer is.
    aligned = "{llvm.align = 1024 : i64}"
    product, exact = run(aligned, "%shift", 1024)
    assert (product == exact).all()
    with pytest.raises(Violations) as raised:
        run(aligned, "%shift", 128)
    (violation,) = raised.value.found
    assert violation.kind is ViolationKind.ASSERTION
    assert "has the alignment it states" in violation.message
