"""`tcgen05.cp` of shape 32x128b with warpx4: what it copies, and the synchronisation that it needs."""

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
    cp,
    load,
    mma,
    store,
    tmem_address,
)

from mlir_smem.emulator import EmulationError, ViolationKind

#: A descriptor of four groups of eight rows, 256 bytes apart.
SBO = 256
ROWS = (BASE + 1024) >> 4 | (SBO >> 4) << 32 | 1 << 46

LEADER = "scf.if %leader {"

#: The leader copies, and all warps load their quarters.
KEEPS = Tcgen05Kernel(
    "\n    ".join(
        [
            tmem_address("c", 0, 4),
            f"{LEADER}\n      {cp('k', 'c', ROWS)}\n      {COMMIT}\n    }}",
            ARRIVE,
            WAIT,
            AFTER,
            load("r", 0, 4, "32x32b", 4),
            WAIT_LOAD,
            "vector.store %r, %B[%tid, %c0] : memref<128x4xi32>, vector<4xi32>",
        ]
    )
)


def test_rows_are_copied_to_all_quarters_of_the_lanes():
    image = np.random.default_rng(0).integers(0, 256, BYTES, np.uint8)
    faults, registers = KEEPS.run(image)
    assert faults == []
    for thread in range(128):
        row = thread % 32
        start = 1024 + row // 8 * SBO + row % 8 * 16
        assert (registers[thread] == image[start : start + 16].view(np.int32)).all()


# Order.


@pytest.mark.parametrize(
    "line, message",
    [
        (AFTER, "tcgen05.fence::after_thread_sync is missing after the wait for its mbarrier"),
        (WAIT, "a wait for the mbarrier of its tcgen05.commit is missing before it"),
    ],
)
def test_load_before_the_copy_completes(line, message):
    fault = next(fault for fault in KEEPS.without(line).run()[0] if "tcgen05.ld" in fault.line)
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert "of columns 484 to 487 of tensor memory, which the tcgen05.cp at " in fault.message
    assert message in fault.message


def test_copy_without_a_commit():
    faults, _ = KEEPS.without("constant 129", "constant 128").without(COMMIT).run()
    assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
    assert "tcgen05.commit, and a wait for its mbarrier, are missing before it" in faults[0].message


def test_copy_of_bytes_that_were_written_without_a_proxy_fence():
    fault = KEEPS.without(PROXY_FENCE).only_fault()
    assert fault.kind is ViolationKind.UNFENCED
    assert fault.message.startswith("tcgen05.cp reads 512 bytes from 0x800 to 0xb7f, which thread")
    assert fault.message.endswith("is missing between the write and the tcgen05.cp")


def test_copy_of_uninitialised_shared_memory():
    fault = KEEPS.without("%i = %tid to %words", "%i = %tid to %c8").only_fault()
    assert fault.kind is ViolationKind.UNINITIALISED


def test_shared_memory_is_written_before_the_copy_completes():
    fault = KEEPS.without(ARRIVE, f"{ARRIVE}\n{REFILL}").only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert ", which the tcgen05.cp at " in fault.message
    assert "may still be reading: a wait for the mbarrier of its tcgen05.commit" in fault.message
    assert KEEPS.without(AFTER, f"{REFILL}\n{AFTER}").run()[0] == []


def after_stores(*between):
    """The kernel; its warps store to the cells, and execute lines, before the copy."""
    lines = ["%z = arith.constant dense<0> : vector<4xi32>", store("s", "z", 0, 4, "32x32b", 4)]
    return KEEPS.without(LEADER, "\n".join([*lines, *between, LEADER]), which=1)


def test_copy_over_cells_that_warps_stored():
    wait = [WAIT_STORE, BEFORE, "gpu.barrier", AFTER]
    assert after_stores(*wait).run()[0] == []
    for line, message in (
        (WAIT_STORE, "tcgen05.wait::st is missing after it"),
        (BEFORE, "fence::before_thread_sync is missing"),
        ("gpu.barrier", "gpu.barrier is missing"),
        (AFTER, "fence::after_thread_sync is missing"),
    ):
        faults, _ = after_stores(*(step for step in wait if step != line)).run()
        assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}, line
        assert "nvvm.tcgen05.cp" in faults[0].line
        assert message in faults[0].message


def test_copy_over_cells_that_a_warp_still_loads():
    again = f"{LEADER}\n{cp('j', 'c', ROWS)}\n{COMMIT}\n}}\n{ARRIVE}\n{WAIT}\n{AFTER}"
    again = again.replace("%state", "%state2").replace("%done", "%done2").replace("%again", "%a2")
    ordered = f"{BEFORE}\ngpu.barrier\n{AFTER}\n{again}"
    assert KEEPS.without(WAIT_LOAD, f"{WAIT_LOAD}\n{ordered}").run()[0] == []
    fault = KEEPS.without(WAIT_LOAD, f"{ordered}\n{WAIT_LOAD}").only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert "which the tcgen05.ld of warp 0 at" in fault.message


def test_two_copies_to_the_same_cells():
    twice = f"{cp('j', 'c', ROWS)}\n      {COMMIT}"
    fault = KEEPS.without(COMMIT, twice).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert fault.line.startswith("nvvm.tcgen05.cp %c, %j")
    assert "which the tcgen05.cp at " in fault.message


#: f16, K-major without swizzle, 64 x 16 and 8 x 16.
MATRIX = BASE >> 4 | (1024 >> 4) << 16 | (128 >> 4) << 32 | 1 << 46


def test_mma_after_a_copy_is_ordered_and_copy_after_an_mma_is_not():
    # The ISA lists cp followed by mma among the pipelined instructions, but not mma followed by cp.
    over = f"{tmem_address('d', 0, 0)}\n{mma('m', 'f16', MATRIX, MATRIX, 0x04020010, True)}"
    assert (
        KEEPS.without(COMMIT, f"{over}\n{COMMIT}").run()[0][0].kind is ViolationKind.UNINITIALISED
    )
    fresh = over.replace("constant true", "constant false")
    assert KEEPS.without(COMMIT, f"{fresh}\n{COMMIT}").run()[0] == []
    fault = KEEPS.without(LEADER, f"{LEADER}\n{fresh}", which=1).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert fault.message.startswith("writes lanes 0 to 127 of columns 484 to 487")
    assert "which the tcgen05.mma at " in fault.message


# Operands.


@pytest.mark.parametrize(
    "descriptor, message",
    [
        (
            ROWS ^ 1 << 46,
            "has an invalid descriptor: 0x0000001000000080 has 0 in bits 46 to 48",
        ),
        (ROWS | 1 << 61, "swizzles by mode 1, but is K-major of 1 bytes"),
    ],
)
def test_descriptors_that_are_not_valid(descriptor, message):
    fault = KEEPS.without(cp("k", "c", ROWS), cp("k", "c", descriptor)).run()[0][0]
    assert fault.kind is ViolationKind.DESCRIPTOR
    assert message in fault.message


def test_rows_outside_shared_memory():
    far = ROWS + (0x20000 >> 4)
    fault = KEEPS.without(cp("k", "c", ROWS), cp("k", "c", far)).run()[0][0]
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.message.startswith("reads rows from 0x20800 to 0x20b7f")


@pytest.mark.parametrize(
    "lane, column, message",
    [
        (32, 4, "copies to lane 32 of tensor memory; expected 0 for shape 32x128b"),
        (0, 30, "writes lanes 0 to 127 of columns 510 to 513 of tensor memory"),
    ],
)
def test_cells_outside_the_allocation(lane, column, message):
    fault = KEEPS.without(tmem_address("c", 0, 4), tmem_address("c", lane, column)).run()[0][0]
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message.startswith(message)


def test_swizzled_rows_are_not_known():
    swizzled = KEEPS.without(cp("k", "c", ROWS), cp("k", "c", ROWS | 2 << 61))
    with pytest.raises(EmulationError, match="copies rows that are swizzled, which the emulator"):
        swizzled.run()


@pytest.mark.parametrize(
    "attributes",
    [
        "shape = #nvvm.tcgen05_cp_shape<shape_128x256b>",
        "shape = #nvvm.tcgen05_cp_shape<shape_32x128b>, "
        "multicast = #nvvm.tcgen05_cp_multicast<warpx4>, "
        "srcFormat = #nvvm.tcgen05_cp_src_fmt<b4x16_p64>",
    ],
)
def test_other_shapes_are_not_known(attributes):
    known = cp("k", "c", ROWS)
    other = f"{known[: known.index('{')]}{{{attributes}}}"
    with pytest.raises(
        EmulationError, match=r"'nvvm\.tcgen05\.cp' is not of shape 32x128b with wa"
    ):
        KEEPS.without(known, other).run()
