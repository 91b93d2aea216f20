"""The emulator notices an encoder of instruction descriptors that is wrong in any field.

The method is that of `test_encoder_mutations.py`.
"""

import pytest
from encoder_edits import (
    TCGEN05,
    TCGEN05_LONG,
    bit_field,
    check_noticed,
    drop,
    is_right_unedited,
    kernel_of,
)

from mlir_smem.layout.tcgen05 import InstructionDescriptor, instruction_descriptor

#: For each kernel, the fields that its result depends on, and the first bits that they are moved to.
MOVED = {
    "A of e5m2": {"_A_TYPE": (6, 8), "_D_TYPE": (3, 5)},
    "B of e5m2": {"_B_TYPE": (9, 11)},
    "N of 24": {"_N": (16, 18), "_M": (23, 25)},
    "A M-major": {"_A_MN_MAJOR": (14, 16)},
    "B N-major": {"_B_MN_MAJOR": (15, 17)},
    # Bit 14 is missing: moving A's sign to B's place does not change the product.
    "A negated": {"_NEGATE_A": (12,)},
    "B negated": {"_NEGATE_B": (15,)},
    "saturated": {"_SATURATE": (2, 4)},
    "scaled": {"_A_SCALE": (28, 30), "_B_SCALE": (3, 5), "_SCALE_TYPE": (22, 24), "_M": (23, 25)},
    "long": {"_LONG_K": (30,)},
}

EXCHANGED = [
    ("A of e5m2", "_A_TYPE", "_B_TYPE"),
    ("A M-major", "_A_MN_MAJOR", "_B_MN_MAJOR"),
    ("N of 24", "_N", "_M"),
]


def arch_of(kernel):
    """The architecture of tcgen05 that a kernel is for."""
    return TCGEN05_LONG if kernel == "long" else TCGEN05


@pytest.mark.parametrize(
    "kernel, name, first",
    [
        (kernel, name, first)
        for kernel, fields in MOVED.items()
        for name, bits in fields.items()
        for first in bits
    ],
)
def test_field_at_a_wrong_position(kernel, name, first, monkeypatch):
    width = getattr(instruction_descriptor, name)[1]
    change = {name: bit_field(first, width)}
    check_noticed(monkeypatch, kernel, arch_of(kernel), instruction_descriptor, change)


@pytest.mark.parametrize("kernel, one, other", EXCHANGED)
def test_two_exchanged_fields(kernel, one, other, monkeypatch):
    fields = [getattr(instruction_descriptor, name) for name in (one, other)]
    change = dict(zip((other, one), fields, strict=True))
    check_noticed(monkeypatch, kernel, TCGEN05, instruction_descriptor, change)


@pytest.mark.parametrize(
    "kernel, name", [(kernel, name) for kernel, fields in MOVED.items() for name in fields]
)
def test_missing_field_of_the_instruction(kernel, name, monkeypatch):
    arch = arch_of(kernel)
    assert is_right_unedited(kernel, arch)
    drop(monkeypatch, InstructionDescriptor, getattr(instruction_descriptor, name))
    assert not kernel_of(kernel).is_right(arch)


def test_exchanged_type_codes_of_d(monkeypatch):
    change = {"_D_CODES": {"f16": 1, "f32": 0, "s32": 2}}
    check_noticed(monkeypatch, "K-major", TCGEN05, instruction_descriptor, change)
