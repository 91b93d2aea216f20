"""Products by tcgen05.mma of every kind, type and major, against exact sums.

Descriptors are encoded, and operands placed, by `layout.tcgen05`, which shares no rule with the emulator.
"""

from itertools import product as every

import ml_dtypes
import numpy as np
import pytest
from tensor_kernels import BASE, BYTES, matrix_of, product

from mlir_smem.emulator import EmulationError
from mlir_smem.layout import Swizzle, element
from mlir_smem.layout.tcgen05 import (
    KINDS,
    InstructionDescriptor,
    Tcgen05Descriptor,
    tcgen05_addresses,
)

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "u8": np.uint8,
    "s8": np.int8,
}

#: Kinds with types of A and B.
MIXES = [
    ("f16", "f16", "f16"),
    ("f16", "bf16", "bf16"),
    ("tf32", "tf32", "tf32"),
    *(("f8f6f4", a, b) for a, b in every(("e4m3", "e5m2"), repeat=2)),
    *(("i8", a, b) for a, b in every(("u8", "s8"), repeat=2)),
]

MAJORS = list(every(("k", "mn"), repeat=2))

#: M, the lane of D, N, and the swizzles of A and B; MN-major tf32 has a swizzle of its own.
SIZES = [
    (64, 0, 16, Swizzle.B128, Swizzle.B64),
    (128, 0, 48, Swizzle.B32, Swizzle.NONE),
    (64, 16, 32, Swizzle.NONE, Swizzle.B128),
    (128, 0, 256, Swizzle.B64, Swizzle.B32),
]


class Operands:
    """Shared memory, filled with one operand after the other."""

    def __init__(self):
        self.image = np.zeros(BYTES, np.uint8)
        self.taken = np.zeros(BYTES, bool)
        self.next = BASE

    def place(self, values, name, major, swizzle):
        """Puts [m or n, k] values anywhere; their descriptor."""
        if name == "tf32" and major == "mn":
            swizzle = Swizzle.B128_ATOM_32B
        rows, size = len(values), np.dtype(DTYPES[name]).itemsize
        start = -(-self.next // 1024) * 1024
        lbo, sbo = _strides(rows, size, major, swizzle)
        descriptor = Tcgen05Descriptor(start, lbo, sbo, 0, swizzle).encode()
        address = tcgen05_addresses(descriptor, name, major, rows)
        at = (address - BASE)[..., None] + np.arange(size)
        assert len(np.unique(at)) == at.size
        assert not self.taken[at].any()
        self.image[at] = values.astype(DTYPES[name])[..., None].view(np.uint8)
        self.taken[at] = True
        self.next = BASE + int(at.max()) + 1
        return descriptor


def _strides(rows, size, major, swizzle):
    """LBO and SBO with which atoms lie densely."""
    atom = swizzle.atom_bytes
    if major == "k":
        return (16, atom) if swizzle is not Swizzle.NONE else (16 * rows, atom)
    along = -(-rows * size // swizzle.width) * atom
    return (along, atom) if swizzle is Swizzle.NONE else (atom, along)


def values(name, rng, shape):
    """Small numbers of a type."""
    return rng.integers(0 if name == "u8" else -4, 5, shape)


def multiplied(mix, majors, size, steps=2, negate=(False, False), saturate=False, start=None):
    """What the kernel makes of the product, and what it is, added to what D began with."""
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
        "s32" if kind == "i8" else "f32",
        *mn,
        *negate,
        saturate,
    )
    form.check(1)
    k = 32 // np.dtype(DTYPES[names[0]]).itemsize
    expected, instructions = np.full((m, n), start or 0, np.int64), []
    for step in range(steps):
        a, b = (values(name, rng, (rows, k)) for name, rows in zip(names, (m, n), strict=True))
        placed = [
            operands.place(*each) for each in zip((a, b), names, majors, swizzles, strict=True)
        ]
        instructions.append((*placed, form.encode(), step > 0 or start is not None))
        expected += (-1) ** sum(negate) * (a @ b.T)
    found, registers = product(kind, instructions, m, n, lane, start).run(operands.image)
    assert found == []
    return matrix_of(registers.view(np.int32 if kind == "i8" else np.float32), m, n), expected


@pytest.mark.parametrize("majors", MAJORS, ids="-".join)
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_a_product_is_right(mix, majors):
    size = SIZES[(MIXES.index(mix) + MAJORS.index(majors)) % len(SIZES)]
    steps = 1 if size[2] == 256 else 2
    found, expected = multiplied(mix, majors, size, steps)
    assert (found == expected).all()


@pytest.mark.parametrize("size", SIZES[:3], ids=str)
@pytest.mark.parametrize("majors", MAJORS, ids="-".join)
def test_every_swizzle_of_a_type(majors, size):
    found, expected = multiplied(MIXES[0], majors, size)
    assert (found == expected).all()


@pytest.mark.parametrize("n", [8, 24, 40, 136, 200])
def test_n_of_every_eighth(n):
    found, expected = multiplied(MIXES[1], MAJORS[0], (128, 0, n, Swizzle.B32, Swizzle.B32))
    assert (found == expected).all()


@pytest.mark.parametrize("negate", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("mix", [MIXES[0], MIXES[2], MIXES[4]], ids="-".join)
def test_a_or_b_negated(mix, negate):
    found, expected = multiplied(mix, MAJORS[0], SIZES[0], negate=negate)
    assert (found == expected).all()


@pytest.mark.parametrize("saturate", [False, True])
def test_integers_wrap_around_or_are_saturated(saturate):
    limits = np.iinfo(np.int32)
    mix, start = ("i8", "s8", "s8"), limits.max - 20
    found, expected = multiplied(mix, MAJORS[0], SIZES[0], saturate=saturate, steps=1, start=start)
    assert expected.max() > limits.max
    assert (
        found == (expected.clip(limits.min, limits.max) if saturate else expected.astype("i4"))
    ).all()


@pytest.mark.parametrize(
    "kind, bits, words",
    [
        ("f16", 0x08400000, "multiplies f16 by f16 into f16"),
        ("f16", 0x08400410, "multiplies f16 by bf16"),
        ("f8f6f4", 0x08400290, "multiplies e2m1 by e4m3 into f32"),
        ("f16", 0x08400014, "is sparse"),
    ],
)
def test_an_instruction_that_is_not_known(kind, bits, words):
    with pytest.raises(
        EmulationError, match=f"'nvvm.tcgen05.mma' {words}, which the emulator does"
    ):
        product(kind, [(0, 0, bits, False)], 128, 256).run()
