"""ptxas adds no wait of its own (C7517) to what is inserted."""

import mlir_smem.language as sl


@sl.kernel("(K,64), (64,64), (64,64):f32")
def scan(A, B, C):
    """Chunks of A, each added to the state times B, and stored while another mma runs."""
    K = sl.multiple_of(A.shape[0], 64)
    a, b, s = (sl.alloc((64, 64), A.dtype) for _ in range(3))
    sl.copy(B, b)
    state = sl.zeros((64, 64), sl.f32)
    for k in sl.range(K // 64):
        sl.copy(A[sl.ds(k * 64, 64), :], a)
        scores = sl.mma(a, b)
        sl.store(state, s)
        y = sl.mma(a, s)
        state = sl.mma((scores + y).to(A.dtype), b, state * 0.5)
    sl.store(state, C)


def test_a_state_is_read_while_an_mma_runs():
    compiled = scan.compile(sl.bf16, sl.bf16, sl.f32)
    assert compiled.ptx.count("wgmma.wait_group") == 4
    assert compiled.report.warnings == ()
