"""`tcgen05.mma` of a CTA pair: results, and the halves of the operands in each CTA."""

import numpy as np
import pytest
from cta_pair_kernels import pair_kernel, pair_matrix
from cta_pair_operands import pair_operands, sum_of_products
from tcgen05_kernels import AFTER, BEFORE, BYTES, WAIT_STORE, store, tmem_address

MIXES = [
    ("f16", "f16", "f16"),
    ("f16", "bf16", "bf16"),
    ("tf32", "tf32", "tf32"),
    ("f8f6f4", "e4m3", "e5m2"),
    ("i8", "u8", "s8"),
]


@pytest.mark.parametrize("m, n", [(256, 32), (128, 32), (256, 256), (128, 96)])
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_pair_mma_of_each_type(mix, m, n):
    instructions, image, matrices = pair_operands(mix, m, n, k_blocks=1 if n == 256 else 2)
    faults, registers = pair_kernel(instructions, m, n, mix[0]).run(image)
    assert faults == []
    dtype = np.int32 if mix[0] == "i8" else np.float32
    assert (pair_matrix(registers.view(dtype), m, n) == sum_of_products(matrices)).all()


@pytest.mark.parametrize("majors", [("mn", "k"), ("k", "mn"), ("mn", "mn")], ids="-".join)
def test_mn_major_operands(majors):
    instructions, image, matrices = pair_operands(MIXES[0], 256, 64, majors=majors)
    faults, registers = pair_kernel(instructions, 256, 64).run(image)
    assert faults == []
    assert (pair_matrix(registers.view(np.float32), 256, 64) == sum_of_products(matrices)).all()


#: The offset of A's registers in the input bytes of a CTA.
REGISTERS = BYTES // 2


def with_a_in_tensor_memory(m, n, rows):
    """Return a kernel whose CTAs store rows of A, [CTA, 128, 16], to all lanes; its input image; B."""
    instructions, image, [[_, b]] = pair_operands(MIXES[0], m, n, k_blocks=1)
    thread, half, i = np.mgrid[:128, :2, :4]
    lane = thread // 32 * 32 + half * 16 + thread % 32 // 4 + i // 2 * 8
    for cta, of_cta in enumerate(rows):
        words = np.ascontiguousarray(of_cta.astype(np.float16)).view(np.uint32)
        registers = words[lane, thread % 4 * 2 + i % 2]
        image[cta, REGISTERS:][: registers.nbytes] = registers.reshape(-1).view(np.uint8)
    column = n if m == 256 else n // 2
    lines = [
        tmem_address("d", 0),
        tmem_address("ta", 0, column),
        "%eight = arith.constant 8 : index",
    ]
    lines.append("%eighth = arith.muli %tid, %eight : index")
    for half in range(2):
        lines += [
            f"%w{half} = arith.constant {REGISTERS // 4 + 4 * half} : index",
            f"%x{half} = arith.addi %eighth, %w{half} : index",
            f"%v{half} = vector.load %A[%cta, %x{half}] : memref<2x{BYTES // 4}xi32>, vector<4xi32>",
            store(f"s{half}", f"v{half}", 16 * half, column, "16x256b", 4),
        ]
    lines += [WAIT_STORE, BEFORE, "gpu.barrier // A is stored", AFTER]
    kernel = pair_kernel(instructions, m, n).without(tmem_address("d", 0), "\n    ".join(lines))
    kernel = kernel.without("mma %d, %m0a", "mma %d, %ta").without("6>, i64,", "6>, !llvm.ptr<6>,")
    return kernel, image, b


def test_a_in_tensor_memory():
    a = np.random.default_rng(1).integers(-4, 5, (256, 16))
    kernel, image, b = with_a_in_tensor_memory(256, 16, np.split(a, 2))
    faults, registers = kernel.run(image)
    assert faults == []
    assert (pair_matrix(registers.view(np.float32), 256, 16) == a @ b.T).all()


def test_each_half_of_the_columns_uses_the_copy_of_a_in_its_lanes():
    # With M = 128 each CTA holds two copies of its rows of A. Different copies show in D.
    rows = np.random.default_rng(1).integers(-4, 5, (2, 128, 16))
    kernel, image, b = with_a_in_tensor_memory(128, 32, rows)
    faults, registers = kernel.run(image)
    assert faults == []
    of_copies = [rows[:, lane : lane + 64].reshape(128, 16) for lane in (0, 64)]
    expected = [a @ half.T for a, half in zip(of_copies, np.split(b, 2), strict=True)]
    assert (pair_matrix(registers.view(np.float32), 128, 32) == np.concatenate(expected, 1)).all()


def test_a_of_the_peer_cta_that_is_not_waited_for():
    rows = np.zeros((2, 128, 16))
    kernel, image, _ = with_a_in_tensor_memory(128, 32, rows)
    faults, _ = kernel.without(WAIT_STORE, f"scf.if %even {{ {WAIT_STORE} }}").run(image)
    assert faults[0].message.startswith(
        "reads lanes 0 to 127 of columns 496 to 503 of tensor memory of"
    )
    assert " CTA 1 of the cluster, which the tcgen05.st of warp " in faults[0].message
