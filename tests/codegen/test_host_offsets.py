"""A host that stores by `smem.offset` spends no instruction that `smem.copy` would not."""

import re

import pytest

import mlir_smem

COPY = '"smem.copy"(%A, %t) : (!m, !t) -> ()'

#: The same copy: 16 bytes of each of 128 threads.
STORE = """
    %c8 = arith.constant 8 : index
    %thread = gpu.thread_id x
    %line = arith.divui %thread, %c8 : index
    %unit = arith.remui %thread, %c8 : index
    %along = arith.muli %unit, %c8 : index
    %v = vector.load %A[%line, %along] {alignment = 16} : !m, vector<8xbf16>
    %o = "smem.offset"(%t, %line, %along) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
    vector.store %v, %w[%o] {alignment = 16} : !w, vector<8xbf16>
"""


def instructions(layout, body):
    text = f"""
!t = !smem.tile<tensor<16x64xbf16>, {layout}>
!dynamic = memref<?xi8, #gpu.address_space<workgroup>>
!w = memref<1024xbf16, #gpu.address_space<workgroup>>
!m = memref<16x64xbf16>
gpu.module @kernels {{
  gpu.func @kernel(%A: !m) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %bytes = gpu.dynamic_shared_memory : !dynamic
    %w = memref.view %bytes[%c0][] : !dynamic to !w
    %t = "smem.view"(%w) : (!w) -> !t
    {body}
    gpu.return
  }}
}}
"""
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    assert ptx.count("st.shared.v4.b32") == 1
    return len(re.findall(r"^\t[a-z]", ptx, re.MULTILINE))


@pytest.mark.parametrize("width", ["128B", "64B", "32B", "none"])
def test_offsets_cost_what_a_copy_does(width):
    layout = f'#smem.swizzle<"{width}", "row-major">'
    assert instructions(layout, STORE) <= instructions(layout, COPY)
