"""The emulator notices an encoder of matrix descriptors that is wrong in any field.

Each test edits constants of an encoder, as if its source had been edited, so that all code that uses
them is wrong in the same way. A kernel whose result depends on the field is then compiled. It must
violate a rule of the emulator or compute another product than NumPy; without the edit it does neither.
"""

import numpy as np
import pytest
from encoder_edits import (
    KERNELS,
    TCGEN05,
    TCGEN05_LONG,
    WGMMA,
    bit_field,
    check_noticed,
    drop,
    edit,
    is_right_unedited,
    kernel_of,
)
from mma_programs import PRODUCT, lower_kernel
from tcgen05_kernels import matrix_of, mma_kernel
from tcgen05_operands import Operands, values

from mlir_smem.layout import Swizzle, WgmmaDescriptor, element
from mlir_smem.layout import descriptor as matrix_descriptor
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor, Tcgen05Descriptor
from mlir_smem.layout.tcgen05 import descriptor as tcgen05_descriptor

#: Edits of the fields that wgmma's and tcgen05's matrix descriptors share.
STRIDES = {
    "LBO a bit higher": {"LBO": bit_field(17, 14)},
    "LBO a bit lower": {"LBO": bit_field(15, 14)},
    "SBO a bit higher": {"SBO": bit_field(33, 14)},
    "SBO a bit lower": {"SBO": bit_field(31, 14)},
    "LBO and SBO exchanged": {"LBO": bit_field(32, 14), "SBO": bit_field(16, 14)},
}
SBO_ALONE = {name: edits for name, edits in STRIDES.items() if "LBO" not in edits}
BASE_OFFSETS = {
    "base offset a bit higher": {"BASE_OFFSET": bit_field(50, 3)},
    "base offset a bit lower": {"BASE_OFFSET": bit_field(48, 3)},
}

#: The modes as `CUtensorMapSwizzle` numbers them.
NUMBERED = {Swizzle.NONE: 0, Swizzle.B32: 1, Swizzle.B64: 2, Swizzle.B128: 3}
#: For each architecture the encoder class, and edits of its mode and version.
MODES = {
    WGMMA: (
        WgmmaDescriptor,
        {
            "mode a bit lower": {"mode": bit_field(61, 2)},
            "mode in the place of the base offset": {"mode": bit_field(49, 2)},
            "modes numbered as tensor maps": {"modes": NUMBERED},
        },
    ),
    TCGEN05: (
        Tcgen05Descriptor,
        {
            "mode a bit lower": {"mode": bit_field(60, 3)},
            "mode in the place of the base offset": {"mode": bit_field(49, 3)},
            "modes numbered as tensor maps": {"modes": NUMBERED | {Swizzle.B128_ATOM_32B: 4}},
            "modes of wgmma": {"modes": WgmmaDescriptor.modes},
            "version 0": {"fixed": {tcgen05_descriptor.VERSION: 0}},
            "version 2": {"fixed": {tcgen05_descriptor.VERSION: 2}},
            "version a bit higher": {"fixed": {bit_field(47, 3): 1}},
        },
    ),
}


def parameters(edits):
    """Pytest parameters of a table of named edits."""
    return [pytest.param(change, id=name) for name, change in edits.items()]


# -- matrix descriptors ----------------------------------------------------------------------------


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_right_without_edits(name, arch):
    if name in ("scaled", "long"):
        arch = {WGMMA: TCGEN05, TCGEN05: TCGEN05_LONG}[arch]
    assert is_right_unedited(name, arch)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("kernel", ["K-major", "MN-major"])
@pytest.mark.parametrize("change", parameters(STRIDES))
def test_wrong_strides(change, kernel, arch, monkeypatch):
    check_noticed(monkeypatch, kernel, arch, matrix_descriptor, change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("change", parameters(SBO_ALONE))
def test_wrong_stride_of_swizzled_rows(change, arch, monkeypatch):
    check_noticed(monkeypatch, "K-major swizzled", arch, matrix_descriptor, change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("change", parameters(BASE_OFFSETS))
def test_wrong_base_offset(change, arch, monkeypatch):
    check_noticed(monkeypatch, "view", arch, matrix_descriptor, change)


@pytest.mark.parametrize(
    "arch, change",
    [
        pytest.param(arch, change, id=f"{arch}-{name}")
        for arch, (_, edits) in MODES.items()
        for name, change in edits.items()
    ],
)
@pytest.mark.parametrize("kernel", ["K-major swizzled", "MN-major"])
def test_wrong_mode_or_version(arch, change, kernel, monkeypatch):
    check_noticed(monkeypatch, kernel, arch, MODES[arch][0], change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("bits", [3, 5])
def test_strides_in_units_of_8_or_32_bytes(bits, arch, monkeypatch):
    change = {"encode_address": lambda value: (value & 0x3FFFF) >> bits}
    check_noticed(monkeypatch, "K-major", arch, matrix_descriptor, change)


@pytest.mark.parametrize(
    "change", [{"LBO_MODE": bit_field(51, 1)}, {"LBO_MODE": bit_field(53, 1)}], ids=str
)
def test_wrong_position_of_the_lbo_mode(change, monkeypatch):
    check_noticed(monkeypatch, "long", TCGEN05_LONG, tcgen05_descriptor, change)


@pytest.mark.parametrize("first", [15, 17])
def test_wrong_position_of_an_absolute_lbo(first, monkeypatch):
    check_noticed(
        monkeypatch, "long", TCGEN05_LONG, matrix_descriptor, {"LBO": bit_field(first, 14)}
    )


@pytest.mark.parametrize(
    "kernel, field",
    [
        ("K-major", matrix_descriptor.LBO),
        ("K-major", matrix_descriptor.SBO),
        ("K-major swizzled", matrix_descriptor.SBO),
        ("K-major swizzled", None),
        ("MN-major", matrix_descriptor.LBO),
        ("MN-major", matrix_descriptor.SBO),
        ("MN-major", None),
    ],
)
@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
def test_missing_field(kernel, field, arch, monkeypatch):
    """`field` is None for the swizzle mode."""
    encoder = MODES[arch][0]
    assert is_right_unedited(kernel, arch)
    drop(monkeypatch, encoder, field or encoder.mode)
    assert not kernel_of(kernel).is_right(arch)


# -- the start address, which compiled kernels encode at run time ------------------------------------

STARTS = {
    "start a bit higher": {"START": bit_field(1, 14)},
    "start and LBO exchanged": {"START": bit_field(16, 14), "LBO": bit_field(0, 14)},
    "start in units of 8 bytes": {"encode_address": lambda value: value >> 3},
    "start in units of 32 bytes": {"encode_address": lambda value: value >> 5},
}


def wgmma_by_hand():
    """A function: whether an mma by `wgmma`, with A's whole descriptor as a constant, is right."""
    kernel = lower_kernel(PRODUCT)

    def is_right():
        # A is the first tile, at the beginning of shared memory: 64 rows of 128 bytes.
        bits = WgmmaDescriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
        faults, d, exact = kernel.with_descriptor(f"%bad = arith.constant {bits} : i64").run()
        return not faults and (d == exact).all()

    return is_right


def tcgen05_by_hand():
    """The same for `tcgen05`, and for both operands."""
    rng, operands = np.random.default_rng(0), Operands()
    a, b = (values("f16", rng, (rows, 16)) for rows in (64, 16))
    placed = [operands.place(matrix, "f16", "k", Swizzle.B128) for matrix in (a, b)]
    descriptors = [Tcgen05Descriptor.decode(bits) for bits in placed]
    form = InstructionDescriptor(KINDS["f16"], element("f16"), element("f16"), 64, 16)

    def is_right():
        instruction = (*(descriptor.encode() for descriptor in descriptors), form.encode(), False)
        faults, registers = mma_kernel("f16", [instruction], 64, 16).run(operands.image)
        return not faults and (matrix_of(registers.view(np.float32), 64, 16) == a @ b.T).all()

    return is_right


@pytest.mark.parametrize("by_hand", [wgmma_by_hand, tcgen05_by_hand])
@pytest.mark.parametrize("change", parameters(STARTS))
def test_wrong_start_address(change, by_hand, monkeypatch):
    is_right = by_hand()
    assert is_right()
    edit(monkeypatch, matrix_descriptor, **change)
    assert not is_right()


@pytest.mark.parametrize("by_hand", [wgmma_by_hand, tcgen05_by_hand])
def test_missing_start_address(by_hand, monkeypatch):
    is_right = by_hand()
    assert is_right()
    for encoder in (WgmmaDescriptor, Tcgen05Descriptor):
        drop(monkeypatch, encoder, matrix_descriptor.START)
    assert not is_right()
