"""`nvvm.prmt` against the PTX ISA's definition of each mode. The op's first operand is the selector."""

import numpy as np
import pytest
from emulated import elementwise, run
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.integers(0, 2**32 - 1)

#: The bytes that each mode selects for selectors 0 to 3, the highest first: the ISA's table.
TABLE = {
    "f4e": "3210 4321 5432 6543",
    "b4e": "5670 6701 7012 0123",
    "rc8": "0000 1111 2222 3333",
    "ecl": "3210 3211 3222 3333",
    "ecr": "0000 1110 2210 3210",
    "rc16": "1010 3232 1010 3232",
}


def permute(mode, low, high, selector):
    """One result, in plain Python."""
    pool = low.to_bytes(4, "little") + high.to_bytes(4, "little")
    if mode != "default":
        order = TABLE[mode].split()[selector & 3]
        return int.from_bytes(bytes(pool[int(b)] for b in order), "big")
    word = 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = pool[nibble & 7]
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        word |= byte << 8 * i
    return word


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=32))
def test_default_mode(words):
    arrays = [np.array(column, np.uint32) for column in zip(*words, strict=True)]
    outputs = elementwise("nvvm.prmt <default> %b, %a, %c : i32", arrays, np.uint32)
    assert outputs.tolist() == [permute("default", a, c, b) for a, b, c in words]


@pytest.mark.parametrize("mode", TABLE)
def test_other_modes(mode):
    low, high = np.full(8, 0x33221100, np.uint32), np.full(8, 0x77665544, np.uint32)
    selector = np.arange(8, dtype=np.uint32) + 4 * np.arange(8, dtype=np.uint32)
    two = mode in ("f4e", "b4e")
    operands = "%b, %a, %c" if two else "%b, %a"
    outputs = elementwise(f"nvvm.prmt <{mode}> {operands} : i32", [low, selector, high], np.uint32)
    expected = [permute(mode, 0x33221100, 0x77665544, int(s)) for s in selector]
    assert outputs.tolist() == expected


def test_uniform_selector():
    words = np.arange(32, dtype=np.uint32) * 0x01020304
    out = np.zeros(32, np.uint32)
    body = """
    %s = arith.constant 0x3120 : i32
    %a = memref.load %A[%tid] : memref<32xi32>
    %r = nvvm.prmt <default> %s, %a, %a : i32
    memref.store %r, %B[%tid] : memref<32xi32>"""
    run(body, words, out)
    assert out.tolist() == [permute("default", int(w), int(w), 0x3120) for w in words]
