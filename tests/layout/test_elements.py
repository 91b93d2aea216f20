"""The element types, and the numbers that follow from their width."""

import pytest

from mlir_smem.layout import ELEMENTS, element


@pytest.mark.parametrize(
    "name, bits, unit",
    [
        ("f16", 16, 8),
        ("bf16", 16, 8),
        ("tf32", 32, 4),
        ("e4m3", 8, 16),
        ("e5m2", 8, 16),
        ("s8", 8, 16),
        ("u8", 8, 16),
        ("b1", 1, 128),
        ("s32", 32, 4),
    ],
)
def test_numbers(name, bits, unit):
    element_type = element(name)
    assert (str(element_type), element_type.bits, element_type.unit) == (name, bits, unit)


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
