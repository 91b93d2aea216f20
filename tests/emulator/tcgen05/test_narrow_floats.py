"""Floats of 4 and 6 bits in the emulator: the value of every code, and the padding of 16-byte units."""

import numpy as np
import pytest
from tcgen05_kernels import mma_kernel
from tcgen05_operands import NARROW, Operands, bytes_of

from mlir_smem.emulator import ViolationKind
from mlir_smem.emulator.tcgen05.narrow_floats import TCGEN05_MULTIPLICANDS
from mlir_smem.layout import Swizzle

#: For each type's name in `mlir_smem.layout`: its name in the emulator, bits of exponent and of fraction.
TYPES = {
    "e2m1_p64": ("e2m1", 2, 1),
    "e2m3_p32": ("e2m3", 2, 3),
    "e3m2_p32": ("e3m2", 3, 2),
    "e2m1": ("e2m1x2", 2, 1),
}


def number(code, exponent_bits, fraction_bits):
    """The value of a code, by the definition of a float without infinities and NaN."""
    fraction = code % (1 << fraction_bits)
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    sign = -1 if code >> fraction_bits + exponent_bits else 1
    bias = (1 << exponent_bits - 1) - 1
    if exponent == 0:
        return sign * fraction / (1 << fraction_bits) * 2.0 ** (1 - bias)
    return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)


@pytest.mark.parametrize("name", TYPES)
def test_every_code(name):
    emulated_name, exponent_bits, fraction_bits = TYPES[name]
    expected = [number(code, exponent_bits, fraction_bits) for code in range(1 << NARROW[name][0])]
    rows = np.resize(expected, (4, 96))[:, np.random.default_rng(0).permutation(96)]
    assert (TCGEN05_MULTIPLICANDS[emulated_name].values(bytes_of(rows, name)) == rows).all()
    normal = expected[1 << fraction_bits]
    assert 2.0 ** TCGEN05_MULTIPLICANDS[emulated_name].smallest_exponent == normal


# Padding.

#: Lines that store only the first WORDS of every four words.
STORE_SOME = """%rest = arith.remui %i, %c4 : index
      %held = arith.cmpi ult, %rest, %cWORDS : index
      scf.if %held {
        llvm.store %word, %p : i32, !llvm.ptr<3>
      }"""
STORE_ALL = "llvm.store %word, %p : i32, !llvm.ptr<3>"


@pytest.mark.parametrize("name, words", [("e2m1_p64", 2), ("e2m3_p32", 3)])
def test_padding_may_be_uninitialised(name, words):
    operands, rows = Operands(), np.ones((64, 32))
    placed = operands.place(rows, name, "k", Swizzle.B64)
    code = {"e2m1_p64": 5, "e2m3_p32": 3}[name]
    # M = N = 64, K = 32.
    instruction = (placed, placed, 4 << 24 | 8 << 17 | code << 10 | code << 7 | 1 << 4, False)
    kernel = mma_kernel("f8f6f4", [instruction], 64, 64)
    faults, registers = kernel.without(STORE_ALL, STORE_SOME.replace("WORDS", str(words))).run(
        operands.image
    )
    assert faults == []
    assert (registers.view(np.float32) == 32).all()
    faults, _ = kernel.without(STORE_ALL, STORE_SOME.replace("WORDS", str(words - 1))).run(
        operands.image
    )
    assert {fault.kind for fault in faults} == {ViolationKind.UNINITIALISED}


def test_upper_halves_of_f16_accumulators_are_undefined():
    operands = Operands()
    placed = operands.place(np.ones((64, 16)), "f16", "k", Swizzle.B32)
    _, registers = mma_kernel("f16", [(placed, placed, 0x04020000, False)], 64, 8).run(
        operands.image
    )
    assert (registers.view(np.uint32) == 0xFFFF0000 | int(np.float16(16).view(np.uint16))).all()
