"""Kernels whose chains of integers are longer than Python's stack is deep."""

import mlir_smem.language as sl


def test_a_condition_on_a_long_sum():
    def kernel(array):
        row = sl.block_id(0)
        for step in range(250):
            row = row + (sl.block_id(0) + step) % 2
        with sl.when(row > 3):
            x = sl.load(array[0:64, :])
            sl.store(x - x.max(axis=1), array[0:64, :])

    assert not sl.kernel("(64,16)", sync="manual")(kernel).check(sl.f32)
