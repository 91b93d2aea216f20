"""`tcgen05.mma` of every kind, type and majorness, against exact sums.

Descriptors are encoded, and operands placed, by `layout.tcgen05`, which shares no code with the emulator.
"""

from itertools import product

import numpy as np
import pytest
from tcgen05_kernels import matrix_of, mma_kernel
from tcgen05_operands import DTYPES, Operands, values

from mlir_smem.emulator import EmulationError
from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

#: The kind and the types of A and B.
MIXES = [
    ("f16", "f16", "f16"),
    ("f16", "bf16", "bf16"),
    ("tf32", "tf32", "tf32"),
    *(("f8f6f4", a, b) for a, b in product(("e4m3", "e5m2"), repeat=2)),
    *(("i8", a, b) for a, b in product(("u8", "s8"), repeat=2)),
]

MAJORS = list(product(("k", "mn"), repeat=2))

#: M, the lane of D, N, and the swizzles of A and B; MN-major tf32 has a swizzle of its own.
SIZES = [
    (64, 0, 16, Swizzle.B128, Swizzle.B64),
    (128, 0, 48, Swizzle.B32, Swizzle.NONE),
    (64, 16, 32, Swizzle.NONE, Swizzle.B128),
    (128, 0, 256, Swizzle.B64, Swizzle.B32),
]


def multiply(
    mix,
    majors,
    size,
    k_blocks=2,
    negate=(False, False),
    saturate=False,
    start=None,
    accumulator="f32",
):
    """Return D as the kernel computes it, and the exact D, which begins with `start`."""
    kind, *names = mix
    m, lane, n, *swizzles = size
    rng, operands = np.random.default_rng(0), Operands()
    mn = [major == "mn" for major in majors]
    form = InstructionDescriptor(
        KINDS[kind],
        element(names[0]),
        element(names[1]),
        m,
        n,
        "s32" if kind == "i8" else accumulator,
        *mn,
        *negate,
        saturate,
    )
    form.check(1)
    k = 32 // np.dtype(DTYPES[names[0]]).itemsize
    expected, instructions = np.full((m, n), start or 0, np.int64), []
    for k_block in range(k_blocks):
        a, b = (values(name, rng, (rows, k)) for name, rows in zip(names, (m, n), strict=True))
        placed = [
            operands.place(*operand)
            for operand in zip((a, b), names, majors, swizzles, strict=True)
        ]
        instructions.append((*placed, form.encode(), k_block > 0 or start is not None))
        expected += (-1) ** sum(negate) * (a @ b.T)
    faults, registers = mma_kernel(kind, instructions, m, n, lane, start).run(operands.image)
    assert faults == []
    if accumulator == "f16":
        # The upper halves of the registers are undefined.
        registers = np.ascontiguousarray(registers.view(np.float16)[:, ::2])
    else:
        registers = registers.view(np.int32 if kind == "i8" else np.float32)
    return matrix_of(registers, m, n), expected


@pytest.mark.parametrize("majors", MAJORS, ids="-".join)
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_types_and_majorness(mix, majors):
    size = SIZES[(MIXES.index(mix) + MAJORS.index(majors)) % len(SIZES)]
    k_blocks = 1 if size[2] == 256 else 2
    d, expected = multiply(mix, majors, size, k_blocks)
    assert (d == expected).all()


@pytest.mark.parametrize("accumulator", ["f32", "f16"])
@pytest.mark.parametrize("narrow", ["e2m1_p64", "e2m3_p32", "e3m2_p32"])
@pytest.mark.parametrize("other", ["e4m3", "e5m2", "e2m1_p64", "e2m3_p32", "e3m2_p32"])
def test_narrow_types_with_each_other_and_with_8_bits(narrow, other, accumulator):
    for i, mix in enumerate({(narrow, other), (other, narrow)}):
        d, expected = multiply(("f8f6f4", *mix), MAJORS[0], SIZES[i], accumulator=accumulator)
        assert (d == expected).all()


@pytest.mark.parametrize("mix", [MIXES[0], MIXES[3], MIXES[6]], ids="-".join)
@pytest.mark.parametrize("start", [None, 0x3C00])
def test_accumulators_of_16_bits(mix, start):
    size = SIZES[1]
    d, expected = multiply(mix, MAJORS[0], size, start=start, accumulator="f16")
    # 0x3c00 is 1.
    assert (d == expected - (0x3BFF if start else 0)).all()


@pytest.mark.parametrize("size", SIZES[:3], ids=str)
@pytest.mark.parametrize("majors", MAJORS, ids="-".join)
def test_every_swizzle_of_a_type(majors, size):
    d, expected = multiply(MIXES[0], majors, size)
    assert (d == expected).all()


@pytest.mark.parametrize("n", [8, 24, 40, 136, 200])
def test_n_of_multiples_of_8(n):
    d, expected = multiply(MIXES[1], MAJORS[0], (128, 0, n, Swizzle.B32, Swizzle.B32))
    assert (d == expected).all()


@pytest.mark.parametrize("negate", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("mix", [MIXES[0], MIXES[2], MIXES[4]], ids="-".join)
def test_a_or_b_negated(mix, negate):
    d, expected = multiply(mix, MAJORS[0], SIZES[0], negate=negate)
    assert (d == expected).all()


@pytest.mark.parametrize("saturate", [False, True])
def test_integer_sums_wrap_around_or_saturate(saturate):
    limits = np.iinfo(np.int32)
    mix, start = ("i8", "s8", "s8"), limits.max - 20
    d, expected = multiply(mix, MAJORS[0], SIZES[0], saturate=saturate, k_blocks=1, start=start)
    assert expected.max() > limits.max
    assert (
        d == (expected.clip(limits.min, limits.max) if saturate else expected.astype("i4"))
    ).all()


@pytest.mark.parametrize(
    "kind, bits, words",
    [
        ("f16", 0x08400410, "multiplies f16 by bf16"),
        ("f8f6f4", 0x08408290, "has an M-major A of e2m1"),
        ("f8f6f4", 0x08410C10, "has an N-major B of e2m3"),
        ("f16", 0x08400014, "is sparse"),
    ],
)
def test_instructions_that_the_emulator_does_not_know(kind, bits, words):
    with pytest.raises(
        EmulationError, match=f"'nvvm.tcgen05.mma' {words}, which the emulator does"
    ):
        mma_kernel(kind, [(0, 0, bits, False)], 128, 256).run()
