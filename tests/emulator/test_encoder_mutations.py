"""The emulator notices an encoder of matrix descriptors that is wrong in any field.

Each test edits constants of an encoder, as if its source had been edited, so that everything that
shares them is wrong in the same way. A kernel whose result depends on the field is then compiled. It
must break a rule of the emulator or compute another product than NumPy; without the edit it does not.
"""

import numpy as np
import pytest
from encoder_edits import (
    KERNELS,
    TCGEN05,
    TCGEN05_LONG,
    WGMMA,
    at,
    check_noticed,
    drop,
    edit,
    is_right_unedited,
    kernel_of,
)
from mma_programs import PRODUCT, lowered
from tcgen05_kernels import matrix_of, mma_kernel
from tcgen05_operands import Operands, values

from mlir_smem.layout import Swizzle, WgmmaDescriptor, element
from mlir_smem.layout import descriptor as matrix_descriptor
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor, Tcgen05Descriptor
from mlir_smem.layout.tcgen05 import descriptor as tcgen05_descriptor

#: Edits of the fields that wgmma's and tcgen05's matrix descriptors share.
STRIDES = {
    "LBO a bit higher": {"LBO": at(17, 14)},
    "LBO a bit lower": {"LBO": at(15, 14)},
    "SBO a bit higher": {"SBO": at(33, 14)},
    "SBO a bit lower": {"SBO": at(31, 14)},
    "LBO and SBO exchanged": {"LBO": at(32, 14), "SBO": at(16, 14)},
}
SBO_ALONE = {name: edits for name, edits in STRIDES.items() if "LBO" not in edits}
BASE_OFFSETS = {
    "base offset a bit higher": {"BASE_OFFSET": at(50, 3)},
    "base offset a bit lower": {"BASE_OFFSET": at(48, 3)},
}

#: The modes as `CUtensorMapSwizzle` numbers them.
NUMBERED = {Swizzle.NONE: 0, Swizzle.B32: 1, Swizzle.B64: 2, Swizzle.B128: 3}
#: For each architecture the class that encodes, and edits of its mode and version.
MODES = {
    WGMMA: (
        WgmmaDescriptor,
        {
            "mode a bit lower": {"mode": at(61, 2)},
            "mode in the place of the base offset": {"mode": at(49, 2)},
            "modes numbered as tensor maps": {"modes": NUMBERED},
        },
    ),
    TCGEN05: (
        Tcgen05Descriptor,
        {
            "mode a bit lower": {"mode": at(60, 3)},
            "mode in the place of the base offset": {"mode": at(49, 3)},
            "modes numbered as tensor maps": {"modes": NUMBERED | {Swizzle.B128_ATOM_32B: 4}},
            "modes of wgmma": {"modes": WgmmaDescriptor.modes},
            "version 0": {"fixed": {tcgen05_descriptor.VERSION: 0}},
            "version 2": {"fixed": {tcgen05_descriptor.VERSION: 2}},
            "version a bit higher": {"fixed": {at(47, 3): 1}},
        },
    ),
}


def pairs(edits):
    """Parameters of the edits that come in a table of names."""
    return [pytest.param(change, id=name) for name, change in edits.items()]


# -- matrix descriptors ----------------------------------------------------------------------------


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_are_right_as_they_are(name, arch):
    if name in ("scaled", "long"):
        arch = {WGMMA: TCGEN05, TCGEN05: TCGEN05_LONG}[arch]
    assert is_right_unedited(name, arch)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("kernel", ["K-major", "MN-major"])
@pytest.mark.parametrize("change", pairs(STRIDES))
def test_a_stride_that_is_encoded_wrong(change, kernel, arch, monkeypatch):
    check_noticed(monkeypatch, kernel, arch, matrix_descriptor, change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("change", pairs(SBO_ALONE))
def test_the_stride_of_swizzled_rows(change, arch, monkeypatch):
    check_noticed(monkeypatch, "K-major swizzled", arch, matrix_descriptor, change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("change", pairs(BASE_OFFSETS))
def test_a_base_offset_that_is_encoded_wrong(change, arch, monkeypatch):
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
def test_a_mode_or_a_version_that_is_encoded_wrong(arch, change, kernel, monkeypatch):
    check_noticed(monkeypatch, kernel, arch, MODES[arch][0], change)


@pytest.mark.parametrize("arch", [WGMMA, TCGEN05])
@pytest.mark.parametrize("bits", [3, 5])
def test_strides_that_count_8_bytes_or_32(bits, arch, monkeypatch):
    change = {"encode_address": lambda value: (value & 0x3FFFF) >> bits}
    check_noticed(monkeypatch, "K-major", arch, matrix_descriptor, change)


@pytest.mark.parametrize("change", [{"LBO_MODE": at(51, 1)}, {"LBO_MODE": at(53, 1)}], ids=str)
def test_the_mode_of_an_absolute_lbo(change, monkeypatch):
    check_noticed(monkeypatch, "long", TCGEN05_LONG, tcgen05_descriptor, change)


@pytest.mark.parametrize("first", [15, 17])
def test_an_absolute_lbo(first, monkeypatch):
    check_noticed(monkeypatch, "long", TCGEN05_LONG, matrix_descriptor, {"LBO": at(first, 14)})


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
def test_a_field_that_is_left_out(kernel, field, arch, monkeypatch):
    """No field means that of the mode."""
    encoder = MODES[arch][0]
    assert is_right_unedited(kernel, arch)
    drop(monkeypatch, encoder, field or encoder.mode)
    assert not kernel_of(kernel).is_right(arch)


# -- the start address, which the pipeline encodes at run time ---------------------------------------

STARTS = {
    "start a bit higher": {"START": at(1, 14)},
    "start and LBO exchanged": {"START": at(16, 14), "LBO": at(0, 14)},
    "start in units of 8 bytes": {"encode_address": lambda value: value >> 3},
    "start in units of 32 bytes": {"encode_address": lambda value: value >> 5},
}


def wgmma_by_hand():
    """A function that says whether a product by `wgmma` is right whose A has its start in a number."""
    kernel = lowered(PRODUCT)

    def is_right():
        # A is the first tile, at the beginning of shared memory: 64 rows of 128 bytes.
        bits = WgmmaDescriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
        found, d, exact = kernel.with_descriptor(f"%bad = arith.constant {bits} : i64").run()
        return not found and (d == exact).all()

    return is_right


def tcgen05_by_hand():
    """The same of `tcgen05`, and of both operands."""
    rng, operands = np.random.default_rng(0), Operands()
    a, b = (values("f16", rng, (rows, 16)) for rows in (64, 16))
    placed = [operands.place(each, "f16", "k", Swizzle.B128) for each in (a, b)]
    descriptors = [Tcgen05Descriptor.decode(bits) for bits in placed]
    form = InstructionDescriptor(KINDS["f16"], element("f16"), element("f16"), 64, 16)

    def is_right():
        step = (*(each.encode() for each in descriptors), form.encode(), False)
        found, registers = mma_kernel("f16", [step], 64, 16).run(operands.image)
        return not found and (matrix_of(registers.view(np.float32), 64, 16) == a @ b.T).all()

    return is_right


@pytest.mark.parametrize("by_hand", [wgmma_by_hand, tcgen05_by_hand])
@pytest.mark.parametrize("change", pairs(STARTS))
def test_a_start_address_that_is_encoded_wrong(change, by_hand, monkeypatch):
    is_right = by_hand()
    assert is_right()
    edit(monkeypatch, matrix_descriptor, **change)
    assert not is_right()


@pytest.mark.parametrize("by_hand", [wgmma_by_hand, tcgen05_by_hand])
def test_a_start_address_that_is_left_out(by_hand, monkeypatch):
    is_right = by_hand()
    assert is_right()
    for encoder in (WgmmaDescriptor, Tcgen05Descriptor):
        drop(monkeypatch, encoder, matrix_descriptor.START)
    assert not is_right()
