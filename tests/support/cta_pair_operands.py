"""Operands of `tcgen05.mma` of two CTAs, half of each in the shared memory of either."""

import numpy as np
from tcgen05_operands import DTYPES, Operands, values

from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor


def pair_operands(mix, m, n, steps=2, majors=("k", "k"), seed=0):
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


def sum_of_products(factors):
    """The sum of the products of all steps."""
    return sum(a @ b.T for a, b in factors)
