"""Bytes that `expect_tx` gives, and bytes that copies bring: messages say how many of how many."""

import pytest
from tma_copies import WAIT, constants, dump, faults_of_copies, names_of

from mlir_smem.emulator import ViolationKind

#: The bytes of each of two boxes of 8x16 f32.
BOX = 512


def copies(expected, between=""):
    """Lines by which thread 0 loads two boxes, one behind the other, at one mbarrier."""
    copy = "nvvm.cp.async.bulk.tensor.shared.cluster.global {}, %map0, %bar, box[" + names_of(
        (0, 0)
    )
    copy += "] : !llvm.ptr<7>, !llvm.ptr"
    return f"""{constants((0, 0))}
    %given = arith.constant {expected} : i32
    %second = llvm.getelementptr %to[{BOX}] : (!llvm.ptr<7>) -> !llvm.ptr<7>, i8
    scf.if %first {{
      nvvm.mbarrier.arrive.expect_tx %bar, %given : !llvm.ptr<3>, i32
      {copy.format("%to")}
      {between}
      {copy.format("%second")}
    }}
    """


def faults(body):
    return faults_of_copies(body, box=(8, 16))


def test_all_bytes():
    assert not faults(copies(2 * BOX) + f"{WAIT}\n" + dump("B", 1024))


def test_a_copy_that_expect_tx_leaves_out():
    read, end = faults(copies(BOX) + f"{WAIT}\n" + dump("B", 1024))
    assert (read.kind, end.kind) == (ViolationKind.COPY_IN_FLIGHT, ViolationKind.EXITED)
    assert read.message.startswith("reads the bytes from 0x600 to 0x67f, which the bulk copy at ")
    early = (
        "the phase of the mbarrier at which it completes was complete after 512 of the 1024 bytes that "
        "bulk copies bring, where expect_tx at "
    )
    for fault in (read, end):
        assert early in fault.message
        assert fault.message.endswith(" gives 512")
        assert "is missing" not in fault.message


def test_a_copy_of_the_next_phase_lacks_its_wait():
    """The thread has waited for the first phase: the copy is not late, its own wait is missing."""
    again = f"{WAIT}\nnvvm.mbarrier.arrive.expect_tx %bar, %given : !llvm.ptr<3>, i32"
    (fault, *_) = faults(copies(BOX, between=again) + "gpu.barrier\n" + dump("B", 1024))
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert (
        "a wait for the mbarrier at which it completes (mbarrier.try_wait) is missing"
        in fault.message
    )


def test_bytes_that_never_come():
    (fault,) = faults(copies(2 * BOX + 16) + WAIT)
    assert fault.kind is ViolationKind.DEADLOCK
    assert (
        "lacks 0 of 1 arrivals and 16 of 1040 bytes: 1024 arrived, where expect_tx at "
        in fault.message
    )
    assert fault.message.endswith(" gives 1040")


def test_bytes_that_come_before_they_are_expected():
    """A copy may arrive before `expect_tx`; here nothing arrives at the mbarrier after it."""
    body = copies(2 * BOX).replace(
        "nvvm.mbarrier.arrive.expect_tx %bar, %given : !llvm.ptr<3>, i32", ""
    )
    (fault,) = faults(body + WAIT)
    assert fault.kind is ViolationKind.DEADLOCK
    assert fault.message.endswith(
        "lacks 1 of 1 arrivals; 1024 bytes arrived, where expect_tx gives 0"
    )


@pytest.mark.parametrize("expected", [16, 496])
def test_fewer_bytes_than_one_copy(expected):
    (fault,) = faults(copies(expected) + WAIT)
    assert fault.kind is ViolationKind.BARRIER
    assert (
        f"{BOX - expected} bytes that no expect_tx announced: 512 arrived, where" in fault.message
    )
    assert f" gives {expected}; mbarrier.arrive.expect_tx" in fault.message
