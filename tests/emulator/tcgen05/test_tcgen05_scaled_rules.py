"""Rules of block-scaled mma: synchronisation with copies of scale factors; their places and values."""

import pytest
from scaled_mmas import ScaledMma
from tcgen05_kernels import (
    AFTER,
    BEFORE,
    COMMIT,
    PROXY_FENCE,
    WAIT_STORE,
    cp,
    scaled_mma,
    store,
    tmem_address,
)

from mlir_smem.emulator import EmulationError, ViolationKind


def case_of(**options):
    """One instruction of four factors; D has 16 columns, and A's and B's factors follow in 4 each."""
    options = {"kind": "mxf4nvf4", "block": 16, "k_blocks": 1, "a": "e2m1", "b": "e2m1"} | options
    return ScaledMma(**options)


CASE = case_of()
KEEPS, IMAGE = CASE.kernel(), CASE.operands.image

FIRST = "nvvm.tcgen05.cp %x0,"


def fault_of(kernel, image=IMAGE):
    faults, _ = kernel.run(image)
    assert len(faults) == 1, faults
    return faults[0]


def piece(begin, end="}"):
    """The op of the kernel that begins and ends with these texts."""
    start = KEEPS.body.index(begin)
    return KEEPS.body[start : KEEPS.body.index(end, start) + len(end)]


def test_correct_kernel_has_no_faults():
    assert KEEPS.run(IMAGE)[0] == []


# The order of copies and mma.


@pytest.mark.parametrize("side, name, column", [("x", "A", 496), ("y", "B", 500)])
def test_uninitialised_factors(side, name, column):
    fault = fault_of(KEEPS.without(piece(f"nvvm.tcgen05.cp %{side}0,")))
    assert fault.kind is ViolationKind.UNINITIALISED
    assert fault.line.startswith("nvvm.tcgen05.mma.block_scale")
    last = column + (3 if name == "A" else 0)
    lanes = "0 to 127" if name == "A" else "0 to 111"
    assert fault.message.startswith(
        f"reads lanes {lanes} of columns {column} to {last} of tensor memory, some of which nothing "
    )


def test_copies_of_the_thread_that_issues_the_mma_are_ordered():
    # Alternating copies and mma of one thread need no waits.
    again = KEEPS.body[KEEPS.body.index("scf.if %leader {") + len("scf.if %leader {") :]
    again = again[: again.index(COMMIT)].replace("%x0", "%u0").replace("%y0", "%v0")
    again = again.replace("%m0", "%w0")
    assert KEEPS.without(COMMIT, f"{again}\n{COMMIT}").run(IMAGE)[0] == []
    # Two successive copies do.
    twice = f"{cp('t', 'x0', 1 << 46 | 0x400 >> 4 | 8 << 32)}\n{COMMIT}"
    both = KEEPS.without(COMMIT, f"{twice.replace(COMMIT, '')}\n{twice.replace('%t', '%s')}")
    fault = fault_of(both)
    assert fault.line.startswith("nvvm.tcgen05.cp %x0, %s")
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT


def another_thread(between):
    """The kernel, in which thread 0 issues the copies, and thread 5 the mma after some lines."""
    mma = scaled_mma("n", "mxf4nvf4", 16, *INSTRUCTION)
    lines = f"{between}\n%other = arith.cmpi eq, %t32, %five : i32\n"
    lines += f"scf.if %other {{\n{mma}\n{COMMIT}\n}}"
    alone = KEEPS.without("constant 129", "constant 130")
    start = alone.body.index("%m0a = arith.constant")
    mma_lines = alone.body[start : alone.body.index(COMMIT)]
    return alone.without(mma_lines).without("%state =", f"{lines}\n%state =")


INSTRUCTION = (
    [descriptors[0] for descriptors in CASE.descriptors],
    1 << 27 | 1 << 23 | 2 << 17 | 1 << 10 | 1 << 7,
    False,
    CASE.columns,
)


def test_mma_of_another_thread_after_fences_and_a_barrier():
    assert another_thread(f"{BEFORE}\ngpu.barrier\n{AFTER}").run(IMAGE)[0] == []


@pytest.mark.parametrize("between", ["", "gpu.barrier"])
def test_mma_of_another_thread_without_fences(between):
    faults, _ = another_thread(between).run(IMAGE)
    assert faults[0].kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert faults[0].line.startswith("nvvm.tcgen05.mma.block_scale")
    assert "which the tcgen05.cp at " in faults[0].message


def test_copy_of_factors_that_were_written_without_a_proxy_fence():
    faults, _ = KEEPS.without(PROXY_FENCE).run(IMAGE)
    assert {fault.kind for fault in faults} == {ViolationKind.UNFENCED}
    assert faults[0].message.startswith("tcgen05.cp reads")


def test_factors_are_written_before_the_mma_completes():
    lines = f"%z = arith.constant dense<0> : vector<4xi32>\n{store('z', 'z', 0, 16, '32x32b', 4)}"
    lines = lines.replace("%zd", "%zz").replace("st %zz", "st %zd").replace("%zz =", "%zd =")
    early = KEEPS.without("%state =", f"{lines}\n{WAIT_STORE}\n%state =")
    faults, _ = early.run(IMAGE)
    assert {fault.kind for fault in faults} == {
        ViolationKind.TENSOR_MEMORY_IN_FLIGHT,
        ViolationKind.OVERWRITTEN,
    }
    assert any("which the tcgen05.mma at " in fault.message for fault in faults)


def with_stored_factors(*between):
    """A kernel in which warps store A's scale factors, all alike, instead of the copy."""
    lines = ["%ones = arith.constant dense<0x7F7F7F7F> : vector<4xi32>"]
    lines += [store("s", "ones", 0, 16, "32x32b", 4), *between, "scf.if %leader {"]
    return KEEPS.without(piece(FIRST)).without("scf.if %leader {", "\n".join(lines), which=1)


def test_factors_that_warps_store():
    between = [WAIT_STORE, BEFORE, "gpu.barrier", AFTER]
    assert with_stored_factors(*between).run(IMAGE)[0] == []
    for line, message in (
        (WAIT_STORE, "tcgen05.wait::st is missing after it"),
        (AFTER, "tcgen05.fence::after_thread_sync is missing after the barrier"),
    ):
        faults, _ = with_stored_factors(*(step for step in between if step != line)).run(IMAGE)
        assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
        assert message in faults[0].message


def test_factors_that_differ_between_quarters_of_the_lanes():
    lines = (
        "%lane = arith.addi %t32, %zero : i32\n%v = vector.broadcast %lane : i32 to vector<4xi32>"
    )
    other = with_stored_factors(WAIT_STORE, BEFORE, "gpu.barrier", AFTER)
    other = other.without("%ones =", f"{lines}\n%ones =")
    fault = fault_of(other.without("st %sd, %ones", "st %sd, %v"))
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message == (
        "has scale factors of A that differ between the quarters of the lanes, first for row 0: "
        "0x00000000, 0x20000000, 0x40000000, 0x60000000"
    )


def test_negative_factors():
    case = case_of(scale="ue4m3")
    case.factors[1][5, 2] = -1
    fault = fault_of(case.kernel(), case.operands.image)
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message == "has scale factors of B with a sign bit, which ue4m3 does not have"


# Places and selectors of scale factors.


@pytest.mark.parametrize(
    "lane, column, message",
    [
        (32, 16, "has scale factors of A at lane 32 of tensor memory; expected 0"),
        (
            0,
            30,
            "reads scale factors of A from lanes 0 to 127 of columns 510 to 513 of tensor memory",
        ),
    ],
)
def test_places_that_factors_cannot_have(lane, column, message):
    fault = fault_of(KEEPS.without(tmem_address("m0f", 0, 16), tmem_address("m0f", lane, column)))
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message.startswith(message)


@pytest.mark.parametrize(
    "options, flip, message",
    [
        ({}, 1 << 4, "the id of B's scale factors is 1; expected 0 where an instruction takes 4"),
        ({"kind": "mxf4", "block": 32}, 1 << 29, "of A's scale factors is 1; expected 0, 2 where"),
        ({"long": (0, False)}, 3 << 29, "A's scale factors is 3; expected 0, 2 where"),
        ({"kind": "mxf4", "block": 32}, 1 << 23, r"scale factors is 0; expected 1 (ue8m0)"),
        ({}, 3 << 27, "M is 256; expected 128"),
        ({}, 1 << 24, "sets bits 0x01000000, which kind::mxf4nvf4 does not have"),
        ({}, 1 << 15, "sets bits 0x00008000, which kind::mxf4nvf4 does not have"),
        ({}, 1 << 12, "sets bits 0x00001000, which kind::mxf4nvf4 does not have"),
        ({}, 1 << 7, "the type of A is 0; expected 1 (e2m1x2)"),
        ({}, 2 << 17, "N is 0; expected a multiple of 8 from 8 to 256"),
    ],
)
def test_scaled_instruction_descriptors_that_are_not_valid(options, flip, message):
    bad = case_of(flip=flip, **options)
    fault = fault_of(bad.kernel(), bad.operands.image)
    assert fault.kind is ViolationKind.DESCRIPTOR
    assert fault.message.startswith("has an invalid instruction descriptor: ")
    assert message in fault.message


def test_eight_bit_types_have_no_k_of_48_bytes():
    bad = case_of(kind="mxf8f6f4", a="e4m3", b="e4m3", block=32, flip=1 << 31)
    fault = fault_of(bad.kernel(), bad.operands.image)
    assert "sets bits 0x80000000, which kind::mxf8f6f4 does not have" in fault.message


@pytest.mark.parametrize(
    "flip, words", [(1 << 2, "is sparse"), (1 << 15, "has an M-major A of e2m1")]
)
def test_scaled_instructions_that_the_emulator_does_not_know(flip, words):
    bad = case_of(kind="mxf8f6f4", a="e2m1_p64", b="e4m3", block=32, flip=flip)
    with pytest.raises(EmulationError, match=f"{words}, which the emulator does not know"):
        bad.run()


# Rows of 48 bytes.


def test_row_that_crosses_buffers_needs_an_absolute_leading_dimension():
    long = case_of(long=(0, False), k_blocks=4, kind="mxf4", block=32)
    assert long.run()[0] == []
    long.descriptors[0][2] ^= 1 << 52
    faults, _ = long.run()
    assert faults[0].kind is ViolationKind.DESCRIPTOR
    assert faults[0].message.startswith("has an invalid descriptor of A: ")
    assert (
        "has rows of 48 bytes that begin 96 bytes into 128; rows continue beyond"
        in faults[0].message
    )
