"""`sl.assume`: what the author knows of a kernel's integers, and the prover does not."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

import mlir_smem.language as sl
from mlir_smem.emulator import Violations
from mlir_smem.language.errors import TraceError


def product(says):
    """Make a product over K // 64 steps, of which the first one is peeled.

    Args:
        says: states something of the number of steps.
    """

    @sl.kernel("(64,K), (K,64), (64,64)", warpgroups=2)
    def kernel(A, B, C):
        steps = A.shape[1] // 64
        says(steps)
        a, b = sl.alloc((2, 64, 64), A.dtype), sl.alloc((2, 64, 64), B.dtype)
        pipe = sl.pipeline(2)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for k in sl.range(steps):
                    with pipe.producer(k) as stage:
                        k_block = sl.ds(k * 64, 64)
                        sl.tma_load(A[:, k_block], a[stage], stage)
                        sl.tma_load(B[k_block, :], b[stage], stage)
            with sl.partition():
                stage = pipe.wait(0)
                acc = sl.mma(a[stage], b[stage])
                for k in sl.range(1, steps):
                    stage = pipe.wait(k)
                    acc = sl.mma(a[stage], b[stage], acc)
                    pipe.release(k - 1)
                pipe.release(steps - 1)
                sl.store(acc, C)

    return kernel


TYPES = ("bf16", "bf16", "f32")


def test_a_refusal_says_on_which_runs_and_what_to_assume():
    with pytest.raises(TraceError) as error:
        product(lambda steps: None).check(*TYPES)
    assert error.value.message == (
        "'smem.consumer_release' op cannot insert synchronization: its pipeline index is not known where "
        "K // 64 is 0; if that is never so, assume K // 64 >= 1 (llvm.intr.assume)"
    )


def test_what_is_assumed_is_listed():
    (remark,) = product(lambda steps: sl.assume(steps >= 1)).check(*TYPES)
    assert remark.message == "assumed, not proven: K // 64 >= 1"


def test_the_emulator_stops_where_it_does_not_hold():
    kernel = product(lambda steps: sl.assume(steps >= 1))[1]

    def run(depth):
        operands = np.ones((64, depth), bfloat16), np.ones((depth, 64), bfloat16)
        result = np.zeros((64, 64), np.float32)
        kernel(*operands, result, on="cpu")
        return result

    assert (run(72) == 64).all()
    with pytest.raises(Violations) as error:
        run(32)
    first = error.value.found[0]
    assert first.message.startswith("assumes a condition that does not hold: that of an sl.assume")
    assert "test_assume.py" in str(first.location)


@pytest.mark.parametrize(
    "says, message",
    [
        (
            lambda steps: sl.assume(False),
            "sl.assume takes a condition that holds; this one is False",
        ),
        (lambda steps: sl.assume(3), "expected a condition, for example k < n, not 3"),
        (
            lambda steps: (sl.assume(steps >= 4), sl.assume(steps < 2)),
            "assumes K // 64 < 2, which contradicts an assumption or a branch before it; expected a "
            "condition that some run meets",
        ),
        (lambda steps: sl.assume(steps * 0 >= 1), "assumes 0 >= 1, which never holds"),
    ],
)
def test_what_cannot_be_assumed(says, message):
    with pytest.raises(TraceError) as error:
        product(says).check(*TYPES)
    assert message in error.value.message


def test_what_holds_while_a_kernel_is_traced_is_no_assumption():
    kernel = product(lambda steps: (sl.assume(True), sl.assume(steps >= 1)))
    assert len(kernel.check(*TYPES)) == 1


def test_a_start_that_is_assumed_to_fit():
    @sl.kernel("(128,64), (64,64), ()", warpgroups=1)
    def rows(A, C, first):
        t = sl.alloc((128, 64), A.dtype)
        sl.store(sl.load(A[0:64, :]), t[0:64, :])
        sl.store(sl.load(A[64:128, :]), t[64:128, :])
        start = first.to(sl.index) * 64
        sl.assume(start >= 0)
        sl.assume(start <= 64)
        sl.store(sl.load(t[sl.ds(start, 64), :]), C)

    remarks = rows.check("f32", "f32", "i32")
    assert [remark.message[:7] for remark in remarks] == ["assumed", "assumed"]
