"""The element types, and the numbers that wgmma derives from their width."""

import pytest

from mlir_smem.layout import ELEMENTS, element


@pytest.mark.parametrize(
    "name, bits, unit, instruction_k, mn_major",
    [
        ("f16", 16, 8, 16, True),
        ("bf16", 16, 8, 16, True),
        ("tf32", 32, 4, 8, False),
        ("e4m3", 8, 16, 32, False),
        ("e5m2", 8, 16, 32, False),
        ("s8", 8, 16, 32, False),
        ("u8", 8, 16, 32, False),
        ("b1", 1, 128, 256, False),
        ("s32", 32, 4, 8, False),
    ],
)
def test_numbers(name, bits, unit, instruction_k, mn_major):
    kind = element(name)
    assert (str(kind), kind.bits, kind.unit) == (name, bits, unit)
    assert (kind.instruction_k, kind.mn_major) == (instruction_k, mn_major)


def test_s32_is_no_multiplicand():
    assert [name for name, kind in ELEMENTS.items() if not kind.multiplied] == ["s32"]
    assert not element("s32").has_sparse


def test_there_are_no_others():
    assert list(ELEMENTS) == ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1", "s32"]


@pytest.mark.parametrize("name, count, size", [("tf32", 3, 12), ("bf16", 3, 6), ("b1", 24, 3)])
def test_bytes(name, count, size):
    assert element(name).bytes(count) == size


def test_bytes_refuses_parts_of_a_byte():
    with pytest.raises(ValueError, match="12 elements of b1 do not fill whole bytes"):
        element("b1").bytes(12)


def test_unknown_name_lists_the_known():
    known = "f16, bf16, tf32, e4m3, e5m2, s8, u8, b1, s32"
    with pytest.raises(ValueError, match=f"unknown element type 'fp8'; expected one of {known}"):
        element("fp8")
