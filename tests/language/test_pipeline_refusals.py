"""A refusal says what is not known, or on which runs, and what would fit."""

import pytest

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError


def product(loaded=lambda t: t, waited=lambda t: t, steps=lambda n, m: n):
    """Make a product of which the pipeline indices are other ones.

    Args:
        loaded, waited: the index of iteration t of the producer and of the consumer.
        steps: the iterations of the consumer; the producer has n, m is another number.
    """

    @sl.kernel("(64,K), (K,64), (64,64), ()", warpgroups=2)
    def kernel(A, B, C, m):
        n = sl.cdiv(A.shape[1], 64)
        a, b = sl.alloc((2, 64, 64), A.dtype), sl.alloc((2, 64, 64), B.dtype)
        pipe = sl.pipeline(2)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for t in sl.range(n):
                    with pipe.producer(loaded(t)) as stage:
                        k_block = sl.ds(t * 64, 64)
                        sl.tma_load(A[:, k_block], a[stage], stage)
                        sl.tma_load(B[k_block, :], b[stage], stage)
            with sl.partition():
                acc = sl.zeros((64, 64), sl.f32)
                for t in sl.range(steps(n, sl.unsigned(m.to(sl.index)))):
                    with pipe.consumer(waited(t)) as stage:
                        acc = sl.mma(a[stage], b[stage], acc)
                sl.store(acc, C)

    return kernel


def refusal(kernel):
    with pytest.raises(TraceError) as error:
        kernel.check("bf16", "bf16", "f32", "i32")
    return error.value.message


def test_indices_that_are_taken_and_not_passed_on():
    assert refusal(product(loaded=lambda t: t + 1)).endswith(
        "1 pipeline index before its own is not committed yet; put smem.producer_commit of each index in "
        "the order of the waits"
    )


def test_indices_that_are_skipped():
    assert "it skips 1 pipeline index; give it the next one" in refusal(
        product(waited=lambda t: t * 2)
    )


def test_numbers_of_iterations_that_may_differ():
    message = refusal(product(steps=lambda n, m: m))
    assert message.endswith(
        "more of its indices may be acquired than released or initially empty: (K + 63) // 64 and m + 2; "
        "give both sides the same number, computed alike, or assume what holds of them"
    )


def test_a_number_that_each_iteration_reads():
    @sl.kernel("(64,64), (64,64), (N):i32", warpgroups=2)
    def kernel(A, C, S):
        a, pipe = sl.alloc((2, 64, 64), A.dtype), sl.pipeline(2)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                index = 0
                for _ in sl.range(S.shape[0]):
                    with pipe.producer(index) as stage:
                        sl.tma_load(A[:, :], a[stage], stage)
                    index = sl.unsigned(index + S[index].to(sl.index))
            with sl.partition():
                for k in sl.range(S.shape[0]):
                    with pipe.consumer(k) as stage:
                        sl.store(sl.load(a[stage]), C)

    with pytest.raises(TraceError) as error:
        kernel.check(sl.f32, sl.f32, sl.i32)
    message = error.value.message
    assert "is not known in each iteration: a number that the scf.for at" in message


def test_a_deadlock_is_said_with_its_circle_and_its_runs():
    """One thread loads all of K before Q, but Q is waited for first, and two blocks of K fit."""

    @sl.kernel("(64,64), (S,64), (64,64)", warpgroups=2)
    def scores(Q, K, O):  # noqa: E741
        q, k = sl.alloc((1, 64, 64), Q.dtype), sl.alloc((2, 64, 64), K.dtype)
        of_q, of_k, blocks = sl.pipeline(1), sl.pipeline(2), sl.cdiv(K.shape[0], 64)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for i in sl.range(blocks):
                    with of_k.producer(i) as stage:
                        sl.tma_load(K[sl.ds(i * 64, 64), :], k[stage], stage)
                with of_q.producer(0) as stage:
                    sl.tma_load(Q[:, :], q[stage], stage)
            with sl.partition():
                acc, whole = sl.zeros((64, 64), sl.f32), of_q.wait(0)
                for i in sl.range(blocks):
                    with of_k.consumer(i) as stage:
                        acc = sl.mma(q[whole], k[stage], acc)
                of_q.release(0)
                sl.store(acc, O)

    with pytest.raises(TraceError) as error:
        scores.check("bf16", "bf16", "f32")
    waits = error.value.message.partition("partitions may deadlock: ")[2].split("; ")
    assert "for the stage of index 2 of" in waits[0]
    assert "for index 0 of" in waits[1]
    assert waits[2:] == ["where (S + 63) // 64 is 3 or more"]
