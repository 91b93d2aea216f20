"""The element types of wgmma."""

import pytest

from mlir_smem.layout import ELEMENTS, Arch, LayoutError, element, instruction_k
from mlir_smem.layout.wgmma import MN_MAJOR, MULTIPLICANDS, SPARSE, WgmmaInstruction


@pytest.mark.parametrize(
    "name, k, mn_major",
    [
        ("f16", 16, True),
        ("bf16", 16, True),
        ("tf32", 8, False),
        ("e4m3", 32, False),
        ("e5m2", 32, False),
        ("s8", 32, False),
        ("u8", 32, False),
        ("b1", 256, False),
    ],
)
def test_k_and_majors(name, k, mn_major):
    element_type = element(name)
    assert element_type in MULTIPLICANDS
    assert (instruction_k(element_type), element_type in MN_MAJOR) == (k, mn_major)


def test_s32_is_no_multiplicand():
    assert set(ELEMENTS.values()) - set(MULTIPLICANDS) == {element("s32")}


def test_b1_is_not_multiplied_sparse():
    assert set(MULTIPLICANDS) - set(SPARSE) == {element("b1")}


def test_types_that_do_not_go_together():
    message = "wgmma does not multiply f16 by bf16; with an A of f16, B is f16"
    with pytest.raises(LayoutError, match=message):
        WgmmaInstruction().check_types(element("f16"), element("bf16"))


def test_one_warpgroup_multiplies():
    with pytest.raises(LayoutError, match="wgmma has no instructions of 2 CTAs"):
        Arch.SM_90.isa.instruction(element("f16"), element("f16"), ctas=2)
