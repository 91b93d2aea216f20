"""tcgen05.mma of two blocks: products, and where each block has its part."""

import numpy as np
import pytest
from cta_pair_kernels import pair_matrix, pair_product
from tcgen05_kernels import AFTER, BEFORE, BYTES, WAIT_STORE, at, store
from test_tensor_products import DTYPES, Operands, values

from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

MIXES = [
    ("f16", "f16", "f16"),
    ("f16", "bf16", "bf16"),
    ("tf32", "tf32", "tf32"),
    ("f8f6f4", "e4m3", "e5m2"),
    ("i8", "u8", "s8"),
]


def operands(mix, m, n, steps=2, majors=("k", "k"), seed=0):
    """The steps of a product of two blocks, what each block's shared memory holds, and A and B of each
    step, [m or n, k]."""
    kind, *names = mix
    rng, blocks = np.random.default_rng(seed), (Operands(), Operands())
    accumulator = "s32" if kind == "i8" else "f32"
    mn = [major == "mn" for major in majors]
    form = InstructionDescriptor(KINDS[kind], *map(element, names), m, n, accumulator, *mn)
    form.check(2)
    k = 32 // np.dtype(DTYPES[names[0]]).itemsize
    factors, instructions = [], []
    for step in range(steps):
        placed, pair = [], []
        for name, extent, major in zip(names, (m, n), majors, strict=True):
            whole = values(name, rng, (extent, k))
            at = [
                block.place(part, name, major, Swizzle.B32)
                for block, part in zip(blocks, np.split(whole, 2), strict=True)
            ]
            assert at[0] == at[1]
            placed.append(at[0])
            pair.append(whole)
        instructions.append((*placed, form.encode(), step > 0))
        factors.append(pair)
    return instructions, np.stack([block.image for block in blocks]), factors


def product_of(factors):
    """The sum of the products of all steps."""
    return sum(a @ b.T for a, b in factors)


@pytest.mark.parametrize("m, n", [(256, 32), (128, 32), (256, 256), (128, 96)])
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_a_product_is_right(mix, m, n):
    steps, image, factors = operands(mix, m, n, steps=1 if n == 256 else 2)
    found, registers = pair_product(steps, m, n, mix[0]).run(image)
    assert found == []
    dtype = np.int32 if mix[0] == "i8" else np.float32
    assert (pair_matrix(registers.view(dtype), m, n) == product_of(factors)).all()


@pytest.mark.parametrize("majors", [("mn", "k"), ("k", "mn"), ("mn", "mn")], ids="-".join)
def test_operands_of_other_majors(majors):
    steps, image, factors = operands(MIXES[0], 256, 64, majors=majors)
    found, registers = pair_product(steps, 256, 64).run(image)
    assert found == []
    assert (pair_matrix(registers.view(np.float32), 256, 64) == product_of(factors)).all()


#: Where the registers of A lie among the bytes that a block is given.
REGISTERS = BYTES // 2


def with_a_in_tensor_memory(m, n, rows):
    """A kernel whose blocks store rows of A, [block, 128, 16], to all lanes; what it is given, and B."""
    steps, image, [[_, b]] = operands(MIXES[0], m, n, steps=1)
    thread, half, i = np.mgrid[:128, :2, :4]
    lane = thread // 32 * 32 + half * 16 + thread % 32 // 4 + i // 2 * 8
    for block, of_block in enumerate(rows):
        words = np.ascontiguousarray(of_block.astype(np.float16)).view(np.uint32)
        registers = words[lane, thread % 4 * 2 + i % 2]
        image[block, REGISTERS:][: registers.nbytes] = registers.reshape(-1).view(np.uint8)
    column = n if m == 256 else n // 2
    lines = [at("d", 0), at("ta", 0, column), "%eight = arith.constant 8 : index"]
    lines.append("%eighth = arith.muli %tid, %eight : index")
    for part in range(2):
        lines += [
            f"%w{part} = arith.constant {REGISTERS // 4 + 4 * part} : index",
            f"%x{part} = arith.addi %eighth, %w{part} : index",
            f"%v{part} = vector.load %A[%block, %x{part}] : memref<2x{BYTES // 4}xi32>, vector<4xi32>",
            store(f"s{part}", f"v{part}", 16 * part, column, "16x256b", 4),
        ]
    lines += [WAIT_STORE, BEFORE, "gpu.barrier // A is stored", AFTER]
    made = pair_product(steps, m, n).without(at("d", 0), "\n    ".join(lines))
    made = made.without("mma %d, %m0a", "mma %d, %ta").without("6>, i64,", "6>, !llvm.ptr<6>,")
    return made, image, b


def test_a_in_tensor_memory():
    a = np.random.default_rng(1).integers(-4, 5, (256, 16))
    made, image, b = with_a_in_tensor_memory(256, 16, np.split(a, 2))
    found, registers = made.run(image)
    assert found == []
    assert (pair_matrix(registers.view(np.float32), 256, 16) == a @ b.T).all()


def test_each_half_of_the_columns_takes_the_copy_of_a_on_its_lanes():
    # What a kernel does wrong whose copies differ shows in its result.
    rows = np.random.default_rng(1).integers(-4, 5, (2, 128, 16))
    made, image, b = with_a_in_tensor_memory(128, 32, rows)
    found, registers = made.run(image)
    assert found == []
    of_copies = [rows[:, at : at + 64].reshape(128, 16) for at in (0, 64)]
    expected = [a @ half.T for a, half in zip(of_copies, np.split(b, 2), strict=True)]
    assert (pair_matrix(registers.view(np.float32), 128, 32) == np.concatenate(expected, 1)).all()


def test_a_that_the_other_block_has_not_stored():
    rows = np.zeros((2, 128, 16))
    made, image, _ = with_a_in_tensor_memory(128, 32, rows)
    found, _ = made.without(WAIT_STORE, f"scf.if %even {{ {WAIT_STORE} }}").run(image)
    assert found[0].message.startswith(
        "reads lanes 0 to 127 of columns 496 to 503 of tensor memory of"
    )
    assert " CTA 1 of the cluster, which the tcgen05.st of warp " in found[0].message
