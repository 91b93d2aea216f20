"""`tcgen05.mma` with A in tensor memory: its results, and the synchronisation that it needs."""

import numpy as np
import pytest
from tcgen05_kernels import (
    AFTER,
    BEFORE,
    BYTES,
    COMMIT,
    WAIT_STORE,
    matrix_of,
    mma_kernel,
    store,
    tmem_address,
)
from tcgen05_operands import DTYPES, Operands

from mlir_smem.emulator import ViolationKind
from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

#: The offset of A's registers in the input bytes of a kernel; N, which is also the number of D's columns.
REGISTERS, N = BYTES // 2, 16

STORED = "gpu.barrier // A is stored"


def build(mix=("f16", "f16"), m=64, lane=0, a_lane=None, m_major=False, column=N):
    """Return a kernel that stores A to tensor memory and multiplies it, its input image, and A * B."""
    rng, operands = np.random.default_rng(0), Operands()
    size = np.dtype(DTYPES[mix[1]]).itemsize
    a, b = (rng.integers(-3, 4, (rows, 32 // size)) for rows in (m, N))
    kind = {"f16": "f16", "tf32": "tf32", "s8": "i8"}.get(mix[1], "f8f6f4")
    accumulator = "s32" if kind == "i8" else "f32"
    types = (element(name) for name in mix)
    form = InstructionDescriptor(KINDS[kind], *types, m, N, accumulator, m_major)
    descriptor = operands.place(b, mix[1], "k", Swizzle.B32)
    words = np.ascontiguousarray(a.astype(DTYPES[mix[0]])).view(np.uint32)
    halves = m // 64
    thread, half, i = np.mgrid[:128, :halves, :4]
    row = thread // 32 * (m // 4) + half * 16 + thread % 32 // 4 + i // 2 * 8
    registers = words[row, thread % 4 * 2 + i % 2]
    operands.image[REGISTERS:][: registers.nbytes] = registers.reshape(-1).view(np.uint8)
    kernel = mma_kernel(kind, [(0, descriptor, form.encode(), False)], m, N, lane)
    kernel = kernel.without("mma %d, %m0a", "mma %d, %ta").without("6>, i64,", "6>, !llvm.ptr<6>,")
    lines = [
        tmem_address("d", lane),
        tmem_address("ta", lane if a_lane is None else a_lane, column),
    ]
    for i in range(halves):
        lines += [
            f"%z{i} = arith.constant {4 * halves} : index",
            f"%y{i} = arith.muli %tid, %z{i} : index",
            f"%w{i} = arith.constant {REGISTERS // 4 + 4 * i} : index",
            f"%x{i} = arith.addi %y{i}, %w{i} : index",
            f"%v{i} = vector.load %A[%x{i}] : memref<{BYTES // 4}xi32>, vector<4xi32>",
            store(f"s{i}", f"v{i}", lane + 16 * i, N, "16x256b", 4),
        ]
    lines += [WAIT_STORE, BEFORE, STORED, AFTER]
    return kernel.without(tmem_address("d", lane), "\n    ".join(lines)), operands.image, a @ b.T


@pytest.mark.parametrize("m, lane", [(64, 0), (64, 16), (128, 0)])
@pytest.mark.parametrize(
    "mix", [("f16", "f16"), ("tf32", "tf32"), ("e4m3", "e5m2"), ("s8", "s8")], ids="-".join
)
def test_a_in_tensor_memory_is_multiplied_exactly(mix, m, lane):
    kernel, image, expected = build(mix, m, lane)
    faults, registers = kernel.run(image)
    assert faults == []
    dtype = np.int32 if mix[0] == "s8" else np.float32
    assert (matrix_of(registers.view(dtype), m, N) == expected).all()


@pytest.mark.parametrize(
    "line, message",
    [
        (WAIT_STORE, "tcgen05.wait::st is missing after it"),
        (BEFORE, "tcgen05.fence::before_thread_sync is missing between its tcgen05.wait and the"),
        (STORED, "gpu.barrier is missing between its tcgen05.wait and this"),
        (AFTER, "tcgen05.fence::after_thread_sync is missing after the barrier"),
    ],
)
def test_mma_needs_stores_of_a_to_be_waited_for_and_fenced(line, message):
    kernel, image, _ = build()
    faults, _ = kernel.without(line).run(image)
    assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
    assert faults[0].message.startswith("reads lanes 0 to 111 of columns 496 to 503")
    assert message in faults[0].message


def test_a_is_stored_again_before_the_mma_completes():
    kernel, image, _ = build()
    again = f"{store('again', 'v0', 0, N, '16x256b', 4)}\n{WAIT_STORE}"
    early = kernel.without("%state =", f"{again}\n%state =")
    faults, _ = early.run(image)
    assert [fault.kind for fault in faults] == [ViolationKind.OVERWRITTEN]
    assert "which the tcgen05.mma at " in faults[0].message
    assert "a wait for the mbarrier of its tcgen05.commit is missing" in faults[0].message
    # After the wait and its fence the store is allowed.
    assert kernel.without(AFTER, f"{AFTER}\n{again}", which=1).run(image)[0] == []


def test_a_is_freed_before_the_mma_completes():
    kernel, image, _ = build()
    alone = kernel.without("constant 129", "constant 128").without(COMMIT)
    faults, _ = alone.run(image)
    assert "tcgen05.dealloc" in faults[-1].line
    assert {fault.kind for fault in faults} == {
        ViolationKind.TENSOR_MEMORY_IN_FLIGHT,
        ViolationKind.OVERWRITTEN,
    }


def test_a_is_uninitialised():
    kernel, image, _ = build(column=N + 8)
    faults, _ = kernel.run(image)
    assert [fault.kind for fault in faults] == [ViolationKind.UNINITIALISED]


def test_d_overlaps_a():
    kernel, image, _ = build(column=N - 4)
    faults, _ = kernel.without("%s0dc = arith.constant 16", "%s0dc = arith.constant 12").run(image)
    assert [fault.kind for fault in faults] == [ViolationKind.OVERWRITTEN]
    assert faults[0].message.startswith("writes lanes 0 to 111 of columns 480 to 495")


@pytest.mark.parametrize(
    "options, kind, message",
    [
        (
            {"a_lane": 16},
            ViolationKind.TENSOR_MEMORY,
            "has A at lane 16 of tensor memory and D at lane 0",
        ),
        (
            {"column": 28},
            ViolationKind.TENSOR_MEMORY,
            "reads A from lanes 0 to 111 of columns 508 to 515 of",
        ),
        ({"m_major": True}, ViolationKind.DESCRIPTOR, "has an M-major A in tensor memory"),
    ],
)
def test_places_and_majorness_that_a_cannot_have(options, kind, message):
    kernel, image, _ = build(**options)
    faults, _ = kernel.run(image)
    assert [fault.kind for fault in faults] == [kind]
    assert faults[0].message.startswith(message)
