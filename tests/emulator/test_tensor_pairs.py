"""tcgen05.mma of two blocks: products, and where each block has its part."""

import numpy as np
import pytest
from tensor_pair_kernels import pair_matrix, pair_product
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
    """The steps of a product of two blocks, what each block's shared memory holds, and the product."""
    kind, *names = mix
    rng, blocks = np.random.default_rng(seed), (Operands(), Operands())
    accumulator = "s32" if kind == "i8" else "f32"
    mn = [major == "mn" for major in majors]
    form = InstructionDescriptor(KINDS[kind], *map(element, names), m, n, accumulator, *mn)
    form.check(2)
    k = 32 // np.dtype(DTYPES[names[0]]).itemsize
    expected, instructions = np.zeros((m, n), np.int64), []
    for step in range(steps):
        placed, product = [], []
        for name, extent, major in zip(names, (m, n), majors, strict=True):
            whole = values(name, rng, (extent, k))
            at = [
                block.place(part, name, major, Swizzle.B32)
                for block, part in zip(blocks, np.split(whole, 2), strict=True)
            ]
            assert at[0] == at[1]
            placed.append(at[0])
            product.append(whole)
        instructions.append((*placed, form.encode(), step > 0))
        expected += product[0] @ product[1].T
    return instructions, np.stack([block.image for block in blocks]), expected


@pytest.mark.parametrize("m, n", [(256, 32), (128, 32), (256, 256), (128, 96)])
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_a_product_is_right(mix, m, n):
    steps, image, expected = operands(mix, m, n, steps=1 if n == 256 else 2)
    found, registers = pair_product(steps, m, n, mix[0]).run(image)
    assert found == []
    dtype = np.int32 if mix[0] == "i8" else np.float32
    assert (pair_matrix(registers.view(dtype), m, n) == expected).all()
