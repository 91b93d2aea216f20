"""tcgen05.mma with A in tensor memory: what it multiplies, and what must come before and after."""

import numpy as np
import pytest
from tcgen05_kernels import (
    AFTER,
    BEFORE,
    BYTES,
    COMMIT,
    WAIT_STORE,
    at,
    matrix_of,
    product,
    store,
)
from test_tensor_products import DTYPES, Operands

from mlir_smem.emulator import ViolationKind
from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

#: Where the registers of A lie among the bytes that a kernel is given, and its N, which D's columns take.
REGISTERS, N = BYTES // 2, 16

STORED = "gpu.barrier // A is stored"


def kernel(mix=("f16", "f16"), m=64, lane=0, a_lane=None, m_major=False, column=N):
    """A kernel that stores A to tensor memory and multiplies it; what it is given, and the product."""
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
    made = product(kind, [(0, descriptor, form.encode(), False)], m, N, lane)
    made = made.without("mma %d, %m0a", "mma %d, %ta").without("6>, i64,", "6>, !llvm.ptr<6>,")
    lines = [at("d", lane), at("ta", lane if a_lane is None else a_lane, column)]
    for part in range(halves):
        lines += [
            f"%z{part} = arith.constant {4 * halves} : index",
            f"%y{part} = arith.muli %tid, %z{part} : index",
            f"%w{part} = arith.constant {REGISTERS // 4 + 4 * part} : index",
            f"%x{part} = arith.addi %y{part}, %w{part} : index",
            f"%v{part} = vector.load %A[%x{part}] : memref<{BYTES // 4}xi32>, vector<4xi32>",
            store(f"s{part}", f"v{part}", lane + 16 * part, N, "16x256b", 4),
        ]
    lines += [WAIT_STORE, BEFORE, STORED, AFTER]
    return made.without(at("d", lane), "\n    ".join(lines)), operands.image, a @ b.T


@pytest.mark.parametrize("m, lane", [(64, 0), (64, 16), (128, 0)])
@pytest.mark.parametrize(
    "mix", [("f16", "f16"), ("tf32", "tf32"), ("e4m3", "e5m2"), ("s8", "s8")], ids="-".join
)
def test_a_product_is_right(mix, m, lane):
    made, image, expected = kernel(mix, m, lane)
    found, registers = made.run(image)
    assert found == []
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
def test_a_that_is_not_known_to_be_stored(line, message):
    made, image, _ = kernel()
    found, _ = made.without(line).run(image)
    assert {fault.kind for fault in found} == {ViolationKind.TENSOR_IN_FLIGHT}
    assert found[0].message.startswith("reads lanes 0 to 111 of columns 496 to 503")
    assert message in found[0].message


def test_a_is_stored_again_while_an_mma_may_read_it():
    made, image, _ = kernel()
    again = f"{store('again', 'v0', 0, N, '16x256b', 4)}\n{WAIT_STORE}"
    early = made.without("%state =", f"{again}\n%state =")
    found, _ = early.run(image)
    assert [fault.kind for fault in found] == [ViolationKind.OVERWRITTEN]
    assert "which the tcgen05.mma at " in found[0].message
    assert "a wait for the mbarrier of its tcgen05.commit is missing" in found[0].message
    # After the wait and its fence it may be.
    assert made.without(AFTER, f"{AFTER}\n{again}", which=1).run(image)[0] == []


def test_a_is_freed_while_an_mma_may_read_it():
    made, image, _ = kernel()
    alone = made.without("constant 129", "constant 128").without(COMMIT)
    found, _ = alone.run(image)
    assert "tcgen05.dealloc" in found[-1].line
    assert {fault.kind for fault in found} == {
        ViolationKind.TENSOR_IN_FLIGHT,
        ViolationKind.OVERWRITTEN,
    }


def test_a_that_nothing_has_stored():
    made, image, _ = kernel(column=N + 8)
    found, _ = made.run(image)
    assert [fault.kind for fault in found] == [ViolationKind.UNINITIALISED]


def test_d_over_a():
    made, image, _ = kernel(column=N - 4)
    found, _ = made.without("%s0dc = arith.constant 16", "%s0dc = arith.constant 12").run(image)
    assert [fault.kind for fault in found] == [ViolationKind.OVERWRITTEN]
    assert found[0].message.startswith("writes lanes 0 to 111 of columns 480 to 495")


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
def test_a_where_it_cannot_be(options, kind, message):
    made, image, _ = kernel(**options)
    found, _ = made.run(image)
    assert [fault.kind for fault in found] == [kind]
    assert found[0].message.startswith(message)
