"""Floats of 4 and 6 bits as the emulator reads them: every code, and what of 16 bytes is read."""

import numpy as np
import pytest
from tcgen05_kernels import product
from test_tensor_products import NARROW, Operands, bytes_of

from mlir_smem.emulator import ViolationKind
from mlir_smem.emulator.tcgen05.narrow_floats import TCGEN05_MULTIPLICANDS
from mlir_smem.layout import Swizzle

#: For each type by its name in the layouts, the emulator's, and bits of its exponent and fraction.
TYPES = {
    "e2m1_p64": ("e2m1", 2, 1),
    "e2m3_p32": ("e2m3", 2, 3),
    "e3m2_p32": ("e3m2", 3, 2),
    "e2m1": ("e2m1x2", 2, 1),
}


def number(code, exponent_bits, fraction_bits):
    """The number of a code, by the definition of a float without infinities and NaN."""
    fraction = code % (1 << fraction_bits)
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    sign = -1 if code >> fraction_bits + exponent_bits else 1
    bias = (1 << exponent_bits - 1) - 1
    if exponent == 0:
        return sign * fraction / (1 << fraction_bits) * 2.0 ** (1 - bias)
    return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)


@pytest.mark.parametrize("name", TYPES)
def test_every_code(name):
    its, exponent_bits, fraction_bits = TYPES[name]
    expected = [number(code, exponent_bits, fraction_bits) for code in range(1 << NARROW[name][0])]
    rows = np.resize(expected, (4, 96))[:, np.random.default_rng(0).permutation(96)]
    assert (TCGEN05_MULTIPLICANDS[its].values(bytes_of(rows, name)) == rows).all()
    normal = expected[1 << fraction_bits]
    assert 2.0 ** TCGEN05_MULTIPLICANDS[its].smallest_exponent == normal


# Padding.

#: Words of each four that are written.
SOME = """%rest = arith.remui %i, %c4 : index
      %held = arith.cmpi ult, %rest, %cWORDS : index
      scf.if %held {
        llvm.store %word, %p : i32, !llvm.ptr<3>
      }"""
ALL = "llvm.store %word, %p : i32, !llvm.ptr<3>"


@pytest.mark.parametrize("name, words", [("e2m1_p64", 2), ("e2m3_p32", 3)])
def test_padding_may_be_uninitialised(name, words):
    operands, rows = Operands(), np.ones((64, 32))
    placed = operands.place(rows, name, "k", Swizzle.B64)
    code = {"e2m1_p64": 5, "e2m3_p32": 3}[name]
    # 64 x 64 of K = 32.
    step = (placed, placed, 4 << 24 | 8 << 17 | code << 10 | code << 7 | 1 << 4, False)
    made = product("f8f6f4", [step], 64, 64)
    found, registers = made.without(ALL, SOME.replace("WORDS", str(words))).run(operands.image)
    assert found == []
    assert (registers.view(np.float32) == 32).all()
    found, _ = made.without(ALL, SOME.replace("WORDS", str(words - 1))).run(operands.image)
    assert {fault.kind for fault in found} == {ViolationKind.UNINITIALISED}


def test_what_an_upper_half_holds_is_not_promised():
    operands = Operands()
    placed = operands.place(np.ones((64, 16)), "f16", "k", Swizzle.B32)
    _, registers = product("f16", [(placed, placed, 0x04020000, False)], 64, 8).run(operands.image)
    assert (registers.view(np.uint32) == 0xFFFF0000 | int(np.float16(16).view(np.uint16))).all()
