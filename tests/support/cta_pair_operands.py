"""Operands of `tcgen05.mma` of a CTA pair: half of each is in the shared memory of each CTA."""

import numpy as np
from tcgen05_operands import DTYPES, Operands, values

from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor


def pair_operands(mix, m, n, k_blocks=2, majors=("k", "k"), seed=0):
    """Return the instructions of a CTA pair, each CTA's image of shared memory, and A and B of each
    K block, [m or n, k].

    Args:
        mix: the kind, and the types of A and B.
    """
    kind, *names = mix
    rng, ctas = np.random.default_rng(seed), (Operands(), Operands())
    accumulator = "s32" if kind == "i8" else "f32"
    mn = [major == "mn" for major in majors]
    form = InstructionDescriptor(KINDS[kind], *map(element, names), m, n, accumulator, *mn)
    form.check(2)
    k = 32 // np.dtype(DTYPES[names[0]]).itemsize
    of_k_blocks, instructions = [], []
    for k_block in range(k_blocks):
        placed, matrices = [], []
        for name, extent, major in zip(names, (m, n), majors, strict=True):
            whole = values(name, rng, (extent, k))
            descriptors = [
                cta.place(half, name, major, Swizzle.B32)
                for cta, half in zip(ctas, np.split(whole, 2), strict=True)
            ]
            assert descriptors[0] == descriptors[1]
            placed.append(descriptors[0])
            matrices.append(whole)
        instructions.append((*placed, form.encode(), k_block > 0))
        of_k_blocks.append(matrices)
    return instructions, np.stack([cta.image for cta in ctas]), of_k_blocks


def sum_of_products(of_k_blocks):
    """The sum of A * B over all K blocks."""
    return sum(a @ b.T for a, b in of_k_blocks)
