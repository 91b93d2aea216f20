"""Rules of bulk tensor copies: waits, fences, alignment, expected bytes."""

import pytest
from tma_copies import FENCE, FILL, WAIT, dump, faults_of_copies, load, store

from mlir_smem.emulator import ViolationKind


def only(*arguments, **options):
    faults = faults_of_copies(*arguments, **options)
    assert len(faults) == 1, faults
    return faults[0]


STORE_AGAIN = """%again = llvm.getelementptr %at[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
    llvm.store %i0, %again : i32, !llvm.ptr<3>"""


def test_read_without_a_wait_for_the_copy():
    faults = faults_of_copies(load((0, 0)) + dump("B", 1024) + WAIT)
    assert faults[0].kind is ViolationKind.COPY_IN_FLIGHT
    assert (
        "may still be writing: a wait for the mbarrier at which it completes" in faults[0].message
    )


def test_write_without_a_wait_for_the_copy():
    body = load((0, 0)) + f"scf.if %first {{ {STORE_AGAIN}\n }}" + WAIT
    fault = only(body)
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert fault.message.startswith("writes the bytes from 0x400 to 0x403, which the bulk copy at ")


def test_kernel_ends_without_a_wait_for_the_copy():
    fault = only(load((0, 0)))
    assert fault.kind is ViolationKind.EXITED
    assert "does in its memory may still be under way" in fault.message


def test_wait_of_one_thread_and_a_barrier_order_the_others():
    wait = f"scf.if %first {{ {WAIT}\n }}"
    assert not faults_of_copies(load((0, 0)) + wait + "gpu.barrier\n" + dump("B", 1024))
    faults = faults_of_copies(load((0, 0)) + wait + dump("B", 1024))
    assert [fault.kind for fault in faults] == [ViolationKind.COPY_IN_FLIGHT]


def test_copy_over_writes_without_a_proxy_fence():
    fault = only(f"{FILL}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")
    assert fault.kind is ViolationKind.UNFENCED
    assert "a bulk copy writes" in fault.message
    assert not faults_of_copies(f"{FILL}\n{FENCE}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")


def test_copy_over_reads_without_a_barrier():
    read = f"{FILL}\n{FENCE}\ngpu.barrier\n{dump('B', 1024)}"
    assert ViolationKind.RACE in {
        f.kind for f in faults_of_copies(f"{read}\n{load((0, 0))}\n{WAIT}")
    }
    assert not faults_of_copies(f"{read}\n{FENCE}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")


def test_copy_over_reads_without_a_proxy_fence():
    fault = only(
        f"{FILL}\n{FENCE}\ngpu.barrier\n{dump('B', 1024)}\ngpu.barrier\n{load((0, 0))}\n{WAIT}"
    )
    assert fault.kind is ViolationKind.UNFENCED
    assert "which thread 0 read: smem.fence (fence.proxy.async) is missing" in fault.message


def test_store_without_a_proxy_fence():
    fault = only(f"{FILL}\ngpu.barrier\n{store((0, 0))}")
    assert fault.kind is ViolationKind.UNFENCED
    assert "is missing between the write and the bulk copy" in fault.message


def test_store_without_a_barrier_after_the_fence():
    fault = only(f"{FILL}\n{FENCE}\n{store((0, 0))}")
    assert fault.kind is ViolationKind.RACE
    assert fault.message.endswith("gpu.barrier is missing after smem.fence")


def test_store_of_uninitialised_bytes():
    assert only(store((0, 0))).kind is ViolationKind.UNINITIALISED


@pytest.mark.parametrize(
    "end, again, kinds",
    [
        ("", "", [ViolationKind.EXITED]),
        ("", STORE_AGAIN, [ViolationKind.OVERWRITTEN, ViolationKind.EXITED]),
        (
            "nvvm.cp.async.bulk.wait_group 1 {read}",
            STORE_AGAIN,
            [ViolationKind.OVERWRITTEN, ViolationKind.EXITED],
        ),
        ("nvvm.cp.async.bulk.wait_group 0 {read}", STORE_AGAIN, []),
        ("nvvm.cp.async.bulk.wait_group 0", STORE_AGAIN, []),
    ],
)
def test_write_without_a_wait_for_the_store(end, again, kinds):
    last = "\n".join([end, again])
    faults = faults_of_copies(f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0), end=last)}")
    assert [fault.kind for fault in faults] == kinds
    if kinds:
        assert faults[-1].message.startswith("the last thread returns, but the bulk store at ")
        assert " may still read its memory: nvvm.cp.async.bulk.wait_group 0 " in faults[-1].message
    if ViolationKind.OVERWRITTEN in kinds:
        assert "cp.async.bulk.wait_group.read are missing before it" in faults[0].message


def test_write_of_another_thread_needs_a_barrier_after_the_wait():
    ready = f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0))}"
    assert not faults_of_copies(f"{ready}\ngpu.barrier\n{FILL}")
    assert [f.kind for f in faults_of_copies(f"{ready}\n{FILL}")] == [ViolationKind.RACE]


def test_wait_does_not_cover_an_uncommitted_store():
    body = f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0))}\ngpu.barrier\n{FILL}"
    faults = faults_of_copies(body.replace("nvvm.cp.async.bulk.commit.group", ""))
    assert [fault.kind for fault in faults] == [ViolationKind.OVERWRITTEN, ViolationKind.EXITED]


@pytest.mark.parametrize(
    "swizzle, start, fits",
    [
        ("none", 0x480, True),
        ("none", 0x410, False),
        ("32B", 0x500, True),
        ("32B", 0x480, False),
        ("64B", 0x600, True),
        ("64B", 0x500, False),
        ("128B", 0x800, True),
        ("128B", 0x600, False),
    ],
)
def test_alignment_of_the_destination(swizzle, start, fits):
    body = load((0, 0)) + WAIT
    box = (4, 8)
    text = body.replace("%bytes :", "%few :")
    move = f"""%few = arith.constant 128 : i32
    %toi = arith.constant {start} : i64
    %two = llvm.inttoptr %toi : i64 to !llvm.ptr<3>
    %tox = llvm.addrspacecast %two : !llvm.ptr<3> to !llvm.ptr<7>
    """
    faults = faults_of_copies(
        move + text.replace("%to,", "%tox,"), size=2048, box=box, swizzle=swizzle
    )
    assert [fault.kind for fault in faults] == ([] if fits else [ViolationKind.MISALIGNED])
    if not fits:
        assert f"at shared address {start:#x}; expected a multiple of " in faults[0].message


def test_box_that_exceeds_shared_memory():
    fault = only(load((0, 0)) + WAIT, size=512)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.message.startswith("writes 1024 bytes from shared address 0x400 on; the CTA's ")


def test_uninitialised_mbarrier():
    body = load((0, 0)).replace("%map0, %bar", "%map0, %at")
    assert ViolationKind.UNINITIALISED in {fault.kind for fault in faults_of_copies(body)}


def test_more_bytes_than_the_mbarrier_expects():
    fault = only(load((0, 0)).replace("%bytes", "%i32"))
    assert fault.kind is ViolationKind.BARRIER
    assert "with 992 bytes that no expect_tx announced" in fault.message


def test_more_bytes_than_an_mbarrier_can_count():
    body = "%many = arith.constant 1048576 : i32\n" + load((0, 0)).replace("%bytes", "%many")
    fault = only(body)
    assert fault.kind is ViolationKind.BARRIER
    assert "wait for 1048576 bytes; at most 1048575 are possible" in fault.message
