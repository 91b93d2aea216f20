"""Synchronisation between tcgen05 instructions, and between them and accesses of shared memory.

Each test removes or inserts one instruction in a kernel that keeps every rule.
"""

import numpy as np
import pytest
from tcgen05_kernels import (
    AFTER,
    ARRIVE,
    BASE,
    BEFORE,
    BYTES,
    COMMIT,
    PROXY_FENCE,
    REFILL,
    WAIT,
    WAIT_LOAD,
    WAIT_STORE,
    Tcgen05Kernel,
    load,
    matrix_of,
    mma,
    store,
    tmem_address,
)

from mlir_smem.emulator import ViolationKind

#: f16, K-major without swizzle: A is 64 x 16 at the beginning, B is 8 x 16 at 0x2000.
A = BASE >> 4 | (1024 >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
B = A + (0x2000 >> 4)
FORM = 0x04020010

STORED, LOADED = "gpu.barrier // stored", "gpu.barrier // loaded"


def issue(name, adds, thread="%leader"):
    """Lines by which a thread issues an mma and commits."""
    return f"scf.if {thread} {{{mma(name, 'f16', A, B, FORM, adds)}\n      {COMMIT}\n    }}"


def wait_lines(name):
    """Lines by which all threads wait for a phase of the mbarrier."""
    lines = [ARRIVE, WAIT]
    for value in ("%state", "%done", "%again"):
        lines = [line.replace(value, f"{value}{name}") for line in lines]
    return lines


#: D = 1 + A * B is loaded; then A and B are written again, and D = A * B.
KEEPS = Tcgen05Kernel(
    "\n    ".join(
        [
            tmem_address("d", 0),
            "%start = arith.constant dense<0x3F800000> : vector<4xi32>",
            store("s", "start", 0, 0, "16x256b", 4),
            WAIT_STORE,
            BEFORE,
            STORED,
            AFTER,
            issue("m", True),
            *wait_lines(""),
            AFTER,
            load("r", 0, 0, "16x256b", 4),
            WAIT_LOAD,
            REFILL,
            PROXY_FENCE,
            BEFORE,
            LOADED,
            AFTER,
            issue("n", False),
            *wait_lines("2"),
            AFTER,
            load("q", 0, 0, "16x256b", 4),
            WAIT_LOAD,
            "vector.store %r, %B[%tid, %c0] : memref<128x8xi32>, vector<4xi32>",
            "vector.store %q, %B[%tid, %c4] : memref<128x8xi32>, vector<4xi32>",
        ]
    ),
    registers=8,
)

#: The kernel without the second mma and what follows the first.
ONCE = KEEPS.without(KEEPS.body[KEEPS.body.index(REFILL) :])


def test_correct_kernel_has_no_faults():
    a, b = (np.random.default_rng(0).integers(-4, 5, (rows, 16)) for rows in (64, 8))
    image = np.zeros(BYTES, np.uint8)
    for start, values in ((0, a), (0x2000, b)):
        rows = values.astype(np.float16).reshape(-1, 8, 2, 8)  # 8 rows, then 16 bytes of each
        for half in range(2):
            raw = np.ascontiguousarray(rows[:, :, half]).view(np.uint8).reshape(-1)
            image[start + 1024 * half :][: raw.size] = raw
    faults, registers = KEEPS.run(image)
    assert faults == []
    first, second = (matrix_of(half.view(np.float32), 64, 8) for half in np.split(registers, 2, 1))
    assert (first == 1 + a @ b.T).all()
    assert (second == a @ b.T).all()
    assert ONCE.run()[0] == []


@pytest.mark.parametrize(
    "line, which, kind, message",
    [
        (WAIT_STORE, 0, "tensor-memory-in-flight", "tcgen05.wait::st is missing after it"),
        (BEFORE, 0, "tensor-memory-in-flight", "fence::before_thread_sync is missing between its"),
        (
            STORED,
            0,
            "tensor-memory-in-flight",
            "gpu.barrier is missing between its tcgen05.wait and this",
        ),
        (
            AFTER,
            0,
            "tensor-memory-in-flight",
            "fence::after_thread_sync is missing after the barrier",
        ),
        (
            AFTER,
            1,
            "tensor-memory-in-flight",
            "fence::after_thread_sync is missing after the wait for its",
        ),
        (WAIT_LOAD, 0, "overwritten", "tcgen05.wait::ld is missing after it"),
        (BEFORE, 1, "overwritten", "fence::before_thread_sync is missing between its"),
        (AFTER, 2, "overwritten", "fence::after_thread_sync is missing after the barrier"),
        (PROXY_FENCE, 0, "unfenced", "smem.fence (fence.proxy.async) is missing between the write"),
        (PROXY_FENCE, 1, "unfenced", "smem.fence (fence.proxy.async) is missing between the write"),
        (WAIT_LOAD, 1, "overwritten", "tcgen05.wait::ld is missing after it"),
        ("gpu.barrier // before the end", 0, "overwritten", "gpu.barrier is missing between its"),
    ],
)
def test_missing_synchronisation(line, which, kind, message):
    faults, _ = KEEPS.without(line, which=which).run()
    assert {fault.kind.value for fault in faults} == {kind}
    assert message in faults[0].message


def test_load_of_d_without_a_fence_after_the_wait():
    fault = ONCE.without(AFTER, which=1).only_fault()
    assert fault.line.startswith("%r = nvvm.tcgen05.ld")
    assert fault.message.startswith(
        "reads lanes 0 to 15 of columns 480 to 487 of tensor memory, which the tcgen05.mma at "
    )
    assert " may still write: tcgen05.fence::after_thread_sync is missing" in fault.message


def test_load_of_d_without_a_wait_for_the_mbarrier():
    faults, _ = ONCE.without(WAIT).run()
    assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
    assert "a wait for the mbarrier of its tcgen05.commit is missing before it" in faults[0].message


def test_mma_overwrites_what_a_warp_still_loads():
    fault = KEEPS.without(WAIT_LOAD).only_fault()
    assert fault.line.startswith("nvvm.tcgen05.mma %d, %na")
    assert "lanes 0 to 111 of columns 480 to 487" in fault.message
    assert "which the tcgen05.ld of warp 0 at " in fault.message


def test_missing_barrier_between_loads_and_the_next_mma():
    # The barrier also orders the new bytes of A before the mma.
    faults, _ = KEEPS.without(LOADED).run()
    assert {fault.kind for fault in faults} == {ViolationKind.OVERWRITTEN, ViolationKind.RACE}
    race = next(fault for fault in faults if fault.kind is ViolationKind.RACE)
    assert race.message.startswith("tcgen05.mma reads ")
    assert race.message.endswith("gpu.barrier is missing after smem.fence")


def test_mma_without_a_commit():
    alone = ONCE.without("constant 129", "constant 128").without(COMMIT)
    faults, _ = alone.run()
    assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
    assert [fault.line.split(" %")[0] for fault in faults] == [
        "%r = nvvm.tcgen05.ld",
        "nvvm.tcgen05.dealloc",
    ]
    for fault in faults:
        assert fault.message.endswith(
            "tcgen05.commit, and a wait for its mbarrier, are missing before it"
        )


def test_missing_commit_that_threads_wait_for():
    fault = ONCE.without(COMMIT).only_fault()
    assert fault.kind is ViolationKind.DEADLOCK
    assert "an mbarrier's phase, which lacks 1 of 129 arrivals" in fault.message


def test_shared_memory_is_written_before_the_mma_completes():
    fault = ONCE.without(ARRIVE, f"{ARRIVE}\n{REFILL}").only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert fault.line.startswith("llvm.store %jw")
    assert ", which the tcgen05.mma at " in fault.message
    assert fault.message.endswith(
        "may still be reading: a wait for the mbarrier of its tcgen05.commit (mbarrier.try_wait) is "
        "missing before it"
    )


def test_shared_memory_is_written_before_the_mma_is_committed():
    late = f"{REFILL}\nscf.if %leader {{\n{COMMIT}\n}}\n{ARRIVE}"
    fault = ONCE.without(COMMIT).without(ARRIVE, late).only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert "tcgen05.commit, and a wait for its mbarrier, are missing before it" in fault.message


def test_commit_without_an_mma_is_an_arrival():
    line = "%other = arith.cmpi ne, %t32, %zero : i32"
    more = f"{line}\nscf.if %other {{\n{COMMIT}\n}}\n{ARRIVE}"
    assert ONCE.without("constant 129", "constant 256").without(ARRIVE, more).run()[0] == []


def test_mma_races_with_writes_of_its_operands():
    faults, _ = KEEPS.without("gpu.barrier // filled").run()
    assert ViolationKind.RACE in {fault.kind for fault in faults}


def test_mma_reads_uninitialised_shared_memory():
    bare = ONCE.without("%i = %tid to %words", "%i = %tid to %c8")
    faults, _ = bare.run()
    assert {fault.kind for fault in faults} == {ViolationKind.UNINITIALISED}


def test_mma_adds_to_uninitialised_d():
    line = store("s", "start", 0, 0, "16x256b", 4)
    fault = ONCE.without(line).only_fault()
    assert fault.kind is ViolationKind.UNINITIALISED
    assert "reads lanes 0 to 111 of columns 480 to 487 of tensor memory, some of" in fault.message
    assert (
        ONCE.without(line)
        .without("%me = arith.constant true", "%me = arith.constant false")
        .run()[0]
        == []
    )


def test_warp_waits_for_its_own_store():
    line = f"{load('x', 0, 0, '16x256b', 4)}\n    {WAIT_LOAD}"
    early = ONCE.without(WAIT_STORE, f"{line}\n    {WAIT_STORE}")
    fault = early.only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert "the tcgen05.st of warp 0 at" in fault.message
    assert ONCE.without(WAIT_STORE, f"{WAIT_STORE}\n    {line}").run()[0] == []


def test_store_over_what_a_warp_still_loads():
    line = f"{load('x', 0, 0, '16x256b', 4)}\n    {store('y', 'start', 0, 0, '16x256b', 4)}"
    fault = ONCE.without(
        WAIT_STORE, f"{WAIT_STORE}\n    {line}\n{WAIT_LOAD}\n{WAIT_STORE}"
    ).only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert "tcgen05.wait::ld is missing after it" in fault.message


# Pipelined mma.


def test_mma_of_one_thread_and_shape_are_ordered():
    twice = ONCE.without(COMMIT, f"{mma('k', 'f16', A, B, FORM, True)}\n{COMMIT}")
    assert twice.run()[0] == []


def test_mma_of_different_shapes_are_not_ordered():
    wide = ONCE.without(COMMIT, f"{mma('k', 'f16', A, B, FORM + (1 << 17), False)}\n{COMMIT}")
    fault = wide.only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert "tcgen05.commit, and a wait for its mbarrier, are missing" in fault.message


def other_thread(between):
    """The kernel, in which another thread also issues an mma, after some lines."""
    lines = f"{between}\n%other = arith.cmpi eq, %t32, %five : i32\n"
    lines += issue("k", True, thread="%other")
    more = ONCE.without("constant 129", "constant 130")
    return more.without(ARRIVE, f"{lines}\n{ARRIVE}")


def test_mma_of_two_threads_with_fences_are_ordered():
    assert other_thread(f"{BEFORE}\ngpu.barrier\n{AFTER}").run()[0] == []


@pytest.mark.parametrize("between", ["", "gpu.barrier"])
def test_mma_of_two_threads_without_fences_are_not_ordered(between):
    faults, _ = other_thread(between).run()
    assert faults[0].kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert faults[0].line.startswith("nvvm.tcgen05.mma %d, %ka")


def test_one_thread_waits_and_a_barrier_orders_the_others():
    # Only the leader waits for the mbarrier; the others wait for the leader at a barrier.
    lone = WAIT.replace("\n", "\n  ")
    state = ARRIVE.replace("%state", "%lone")
    waits = f"scf.if %leader {{\n{state}\n{lone.replace('%state', '%lone')}\n}}\ngpu.barrier"
    changed = ONCE.without("constant 129", "constant 2").without(ARRIVE).without(WAIT, waits)
    assert changed.run()[0] == []
    fault = changed.without(waits, waits.replace("\ngpu.barrier", "")).run()[0][0]
    assert "a wait for the mbarrier of its tcgen05.commit is missing" in fault.message
