"""Descriptors of `tcgen05.mma`: the emulator's rules agree with those of `mlir_smem.layout`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator.tcgen05.descriptors import (
    KINDS,
    InstructionDescriptorFields,
    ScaleFactorFields,
    UnknownInstruction,
    decode_instruction,
    decode_matrix,
    decode_scaled_instruction,
)
from mlir_smem.emulator.tcgen05.narrow_floats import TCGEN05_MULTIPLICANDS
from mlir_smem.emulator.tensor_core.multiplicands import MULTIPLICANDS
from mlir_smem.emulator.tensor_core.operands import matrix_bytes
from mlir_smem.layout import Major, Role, Swizzle, TileOrder, element, tile_of_atoms
from mlir_smem.layout.canonical import DENSE_FORMS
from mlir_smem.layout.tcgen05 import KINDS as LAYOUT_KINDS
from mlir_smem.layout.tcgen05 import (
    InstructionDescriptor,
    Tcgen05Descriptor,
    chunked_mma_tiles,
    swizzles_of,
    tcgen05_addresses,
)

units = st.integers(0, (1 << 14) - 1)
majors = st.sampled_from(["k", "mn"])
elements = st.sampled_from([("f16", 2), ("e4m3", 1), ("tf32", 4), ("s8", 1)])


@st.composite
def operands(draw):
    """A descriptor, the name and the bytes of an element type, and a majorness that fit each other."""
    (name, size), major = draw(elements), draw(majors)
    swizzle = draw(st.sampled_from(swizzles_of(element(name), Major(major))))
    base_offset = 0 if swizzle.value == 0 else draw(st.integers(0, 7))
    start, lbo, sbo = (16 * draw(units) for _ in range(3))
    return Tcgen05Descriptor(start, lbo, sbo, base_offset, swizzle).encode(), name, size, major


@given(operands(), st.sampled_from([8 * n for n in range(1, 33)]))
def test_both_rules_read_the_same_bytes(operand, rows):
    bits, name, size, major = operand
    mn_major = major == "mn"
    addresses = matrix_bytes(decode_matrix(bits, mn_major, size), 8 * size, mn_major, rows)
    assert (addresses == tcgen05_addresses(bits, name, major, rows)).all()


FORMS_OF_ELEMENTS = [
    (form, element_)
    for form in DENSE_FORMS.values()
    for element_ in map(element, ("f16", "tf32", "s8"))
    if form.swizzle in swizzles_of(element_, form.major)
]


@pytest.mark.parametrize(
    "form, element_", FORMS_OF_ELEMENTS, ids=lambda x: str(getattr(x, "text", x))
)
def test_canonical_layouts_are_read_as_the_isa_defines_them(form, element_):
    mn_major = form.major is Major.MN
    m, k, lbo, sbo = (2, 2, 0x1230, 0x5670) if mn_major else (3, 1, 0x1230, 0x2460)
    layout = form.layout(element_, m, k, lbo, sbo)
    rows, columns = layout.shape
    bits = Tcgen05Descriptor(0x400, lbo, sbo, swizzle=form.swizzle).encode()
    operand = decode_matrix(bits, mn_major, element_.bits // 8)
    addresses = matrix_bytes(operand, element_.bits, mn_major, rows, columns * element_.bits // 8)
    assert (addresses == 0x400 + layout.offsets()).all()


@given(*[st.integers(0, 255)] * 2, st.integers(0, 7), st.booleans(), st.sampled_from([8, 24, 128]))
def test_both_rules_read_the_same_rows_of_48_bytes(first, second, unit, always, rows):
    # Two buffers with rows of 128 bytes; the instruction begins at a 16-byte unit of the first.
    crosses = 16 * unit + 48 > 128
    start, lbo = 1024 * first + 16 * unit, 1024 * second if crosses or always else 0
    descriptor = Tcgen05Descriptor(
        start, lbo, 1024, swizzle=Swizzle.B128, absolute=crosses or always
    )
    bits = descriptor.encode()
    addresses = matrix_bytes(decode_matrix(bits, False, 1, 48), 8, False, rows, 48)
    assert (addresses == tcgen05_addresses(bits, "e2m1", "k", rows, 48)[:, ::2]).all()


@pytest.mark.parametrize("order", TileOrder, ids=str)
@pytest.mark.parametrize(
    "role, shape", [(Role.A, (256, 768)), (Role.B, (480, 384)), (Role.A, (128, 96))]
)
def test_tiles_are_read_48_bytes_at_a_time_as_they_are_written(role, shape, order):
    operand = tile_of_atoms(element("e2m1"), shape, 1, Swizzle.B128, order)
    tiles = chunked_mma_tiles(role.orient(operand), role, LAYOUT_KINDS["mxf4nvf4"])
    offsets, row = operand.offsets(), 0
    for mn, piece in enumerate(tiles.pieces):
        for k in range(shape[1] // 96):
            bits = tiles.tile_descriptor(mn, k, 0x800).encode()
            read = matrix_bytes(decode_matrix(bits, False, 1, 48), 8, False, piece, 48)
            written = offsets[row : row + piece, 96 * k : 96 * (k + 1) : 2]
            assert (read == 0x800 + written).all()
        row += piece
    first, moved = tiles.tile_descriptor(0, 0, 0x800), tiles.descriptor(0x800, 1)
    assert moved.encode() == first.encode() | 1 << 49


@pytest.mark.parametrize(
    "bits, chunks",
    [
        # Triton's and CUTLASS's encodings of the K blocks of three buffers of 128 rows from 0x800 on.
        (0x4000404000000083, [(0x830, 48)]),
        (0x4010404000800083, [(0x830, 48)]),
        (0x4010404004800086, [(0x860, 32), (0x4800, 16)]),
        (0x4010404008800487, [(0x4870, 16), (0x8800, 32)]),
    ],
)
def test_encodings_of_triton_and_cutlass_of_rows_of_48_bytes(bits, chunks):
    first = [start + i for start, size in chunks for i in range(size)]
    for row in (0, 1, 13):
        linear = [byte + row // 8 * 1024 + row % 8 * 128 for byte in first]
        swizzled = [byte ^ (byte >> 7 & 7) << 4 for byte in linear]
        assert (
            matrix_bytes(decode_matrix(bits, False, 1, 48), 8, False, 16, 48)[row].tolist()
            == swizzled
        )


@pytest.mark.parametrize(
    "bits, message",
    [
        (6 << 61 | 1 << 52, "has an absolute leading dimension with mode 6 and base offset 0"),
        (
            1 << 52,
            "has an absolute leading dimension with mode 0 and base offset 0; expected mode 2",
        ),
        (2 << 61 | 1 << 52 | 1 << 49, "with mode 2 and base offset 1; expected mode 2 and 0"),
        (
            2 << 61 | 0x60 >> 4,
            "has rows of 48 bytes that begin 96 bytes into 128; rows continue beyond",
        ),
        (6 << 61, "has rows of 48 bytes that begin 0 bytes into 32; rows continue beyond"),
        (1 << 53, "sets bits 0x0020000000000000, which must be 0"),
        (
            0x4010404000870047,
            "reads 32 of the 48 bytes of each row from 0x870 on, 112 bytes into a line of 128; expected",
        ),
    ],
)
def test_descriptors_of_rows_of_48_bytes_that_are_not_valid(bits, message):
    with pytest.raises(ValueError, match=message):
        decode_matrix(bits | 1 << 46, False, 1, 48)


def refuses(function, *arguments):
    try:
        function(*arguments)
    except ValueError:
        return True
    return False


@given(
    *[st.integers(0, 15)] * 2, st.integers(0, 4), st.sampled_from([0, 1, 2, 4, 6]), st.booleans()
)
def test_both_rules_refuse_the_same_rows_of_48_bytes(start, lbo, phase, mode, absolute):
    bits = start | lbo << 16 | 64 << 32 | 1 << 46 | phase << 49 | absolute << 52 | mode << 61
    for k_bytes in (32, 48):
        expected = refuses(tcgen05_addresses, bits, "e2m1", "k", 16, k_bytes)
        assert refuses(decode_matrix, bits, False, 1, k_bytes) == expected


@given(st.integers(0, (1 << 64) - 1), st.booleans(), elements, majors)
def test_both_rules_refuse_the_same_descriptors(bits, is_likely, typed, major):
    name, size = typed
    if is_likely:
        # Every field but the mode and the base offset gets a legal value, which is rare by chance.
        bits = bits & ~(0x1FF << 52 | 3 << 14 | 3 << 30 | 7 << 46) | 1 << 46
    expected = refuses(tcgen05_addresses, bits, name, major, 64)
    assert refuses(decode_matrix, bits, major == "mn", size) == expected


@pytest.mark.parametrize(
    "bits, mn_major, size, message",
    [
        (1 << 46 | 1 << 14, False, 2, "0x0000400000004000 sets bits 0x0000000000004000"),
        (1 << 46 | 1 << 52, False, 2, "sets bits 0x0010000000000000, which must be 0"),
        (0, False, 2, "0x0000000000000000 has 0 in bits 46 to 48; expected 1"),
        (1 << 46 | 3 << 61, False, 2, "swizzles by mode 3; expected 0, 1, 2, 4, 6"),
        (1 << 46 | 1 << 61, False, 4, "swizzles by mode 1, but is K-major of 4 bytes"),
        (1 << 46 | 2 << 61, True, 4, "swizzles by mode 2, but is M- or N-major of 4 bytes"),
        (1 << 46 | 1 << 49, False, 2, "has base offset 1 without swizzle; expected 0"),
    ],
)
def test_matrix_descriptors_that_are_not_valid(bits, mn_major, size, message):
    with pytest.raises(ValueError, match=message):
        decode_matrix(bits, mn_major, size)


# Instruction descriptors. Rules of block-scaled ones are also in test_tcgen05_scaled_rules.py.


@pytest.mark.parametrize(
    "bits, kind, block, expected",
    [
        # CUTLASS's encodings, changed to one CTA (M is 128), dense, and K-major.
        (0x08A01000, "mxf8f6f4", 32, ("e4m3", "e3m2", 128, False, False, 32, "ue8m0", 0, 0)),
        (0x08C00480, "mxf4", 32, ("e2m1x2", "e2m1x2", 256, False, False, 32, "ue8m0", 0, 0)),
        (0x08400480, "mxf4nvf4", 16, ("e2m1x2", "e2m1x2", 256, False, False, 32, "ue4m3", 0, 0)),
        (0xC84004A0, "mxf4nvf4", 16, ("e2m1x2", "e2m1x2", 256, False, False, 48, "ue4m3", 2, 2)),
        # From Triton's tests, of e4m3 by e2m1.
        (144708608, "mxf8f6f4", 32, ("e4m3", "e2m1", 128, False, False, 32, "ue8m0", 0, 0)),
        (681579536, "mxf8f6f4", 32, ("e4m3", "e2m1", 128, False, False, 32, "ue8m0", 1, 1)),
    ],
)
def test_encodings_of_triton_and_cutlass_of_scaled_instructions(bits, kind, block, expected):
    a, b, n, a_mn, b_mn, k_bytes, factors, *first = expected
    types = TCGEN05_MULTIPLICANDS[a], TCGEN05_MULTIPLICANDS[b]
    scales = ScaleFactorFields(block, factors, *first)
    expected_instruction = InstructionDescriptorFields(
        128, n, *types, "f32", a_mn, b_mn, 1, 1, False, k_bytes, scales
    )
    assert decode_scaled_instruction(bits, kind, block) == expected_instruction


def decode_and_check(bits, kind, group):
    """Decode an instruction descriptor of one CTA or of a pair by the layouts' rules, and check it."""
    descriptor = InstructionDescriptor.decode(bits, LAYOUT_KINDS[kind])
    descriptor.check(group)
    return descriptor


fields = st.tuples(
    st.sampled_from(range(8)),
    *[st.integers(0, 3)] * 4,
    st.sampled_from([0, 0, 0, 1, 2, 3]),
    st.sampled_from([0, 1, 2, 3, 4, 5, 6, 8, 10, 31, 32, 33]),
    st.sampled_from([2, 4, 8, 4, 8, 16]),
)


@given(fields, st.integers(0, 31), st.sampled_from(KINDS), st.sampled_from([1, 2]))
def test_both_rules_decode_an_instruction_alike(chosen, any_bit, kind, group):
    low, d, a, b, major, negate, n, m = chosen
    # Every second case flips one more bit.
    flipped = 1 << any_bit if any_bit % 2 else 0
    low &= 8 if any_bit % 4 else 15
    bits = low | d << 4 | a << 7 | b << 10 | negate << 13 | major << 15 | n << 17 | m << 24
    check_agree(bits ^ flipped, kind, group)


def check_agree(bits, kind, group=1):
    """Check that both rules decode, or both refuse, an instruction of a kind without scale factors."""
    try:
        decoded = decode_instruction(bits, kind, group)
    except UnknownInstruction:
        return
    except ValueError:
        assert refuses(decode_and_check, bits, kind, group)
        return
    check_same(decoded, decode_and_check(bits, kind, group))


def check_same(decoded, expected):
    """Check that the two decoded instructions have the same fields."""
    assert (decoded.m, decoded.n, decoded.accumulator) == (expected.m, expected.n, expected.d)
    assert (decoded.a_mn_major, decoded.b_mn_major) == (expected.a_mn_major, expected.b_mn_major)
    assert (decoded.a_sign < 0, decoded.b_sign < 0) == (expected.negate_a, expected.negate_b)
    assert decoded.saturates == expected.saturate
    for decoded_type, expected_type in ((decoded.a, expected.a), (decoded.b, expected.b)):
        # A byte holds two unpadded elements of 4 bits.
        name = expected_type.name.split("_")[0]
        name = "e2m1x2" if expected_type.name == "e2m1" else name
        assert decoded_type == TCGEN05_MULTIPLICANDS[name]


#: An instruction of each kind; then the fields of all kinds, as first bit and width.
PLAIN = {"f16": 0x08400010, "tf32": 0x08400910, "f8f6f4": 0x08400010, "i8": 0x084004A0}
SCALED = [("mxf8f6f4", 32, 0x08A01000), ("mxf4", 32, 0x08C00480), ("mxf4nvf4", 16, 0x08400480)]
FIELDS = (
    (0, 2),
    (2, 1),
    (3, 1),
    (4, 2),
    (6, 1),
    (7, 3),
    (10, 3),
    (13, 1),
    (14, 1),
    (15, 1),
    (16, 1),
)
FIELDS += ((17, 6), (23, 1), (24, 5), (29, 2), (31, 1))


def variants(bits):
    """An instruction with each of its fields replaced by each number that the field can hold."""
    for first, width in FIELDS:
        for value in range(1 << width):
            yield bits & ~((1 << width) - 1 << first) | value << first


@pytest.mark.parametrize("kind", PLAIN)
def test_both_rules_decode_each_field_alike(kind):
    for bits in variants(PLAIN[kind]):
        check_agree(bits, kind)
        check_agree(bits ^ (0x18 << 24), kind, 2)


@pytest.mark.parametrize("kind, block, bits", SCALED)
def test_both_rules_decode_each_field_of_scaled_instructions_alike(kind, block, bits):
    known = 0
    for variant in variants(bits):
        try:
            decoded = decode_scaled_instruction(variant, kind, block)
        except (ValueError, UnknownInstruction):
            continue
        expected, known = decode_and_check(variant, kind, 1), known + 1
        check_same(decoded, expected)
        assert (decoded.scales.factors, decoded.k_bytes) == (expected.scale, expected.k_bytes)
        assert (decoded.scales.a_first, decoded.scales.b_first) == (
            expected.a_scale,
            expected.b_scale,
        )
        assert expected.encode() == variant
    assert known > 40


@pytest.mark.parametrize(
    "bits, kind, expected",
    [
        (0x08400010, "f16", ("f16", "f16", 128, 256, False, False, 1, 1, False)),
        (0x10218490, "f16", ("bf16", "bf16", 256, 128, True, True, 1, 1, False)),
        (0x04032910, "tf32", ("tf32", "tf32", 64, 8, False, True, -1, 1, False)),
        (0x080C00A8, "i8", ("s8", "u8", 128, 48, False, False, 1, 1, True)),
    ],
)
def test_encodings_of_cutlass(bits, kind, expected):
    a, b, m, n, *rest = expected
    accumulator = "s32" if kind == "i8" else "f32"
    fields = InstructionDescriptorFields(
        m, n, MULTIPLICANDS[a], MULTIPLICANDS[b], accumulator, *rest
    )
    assert decode_instruction(bits, kind, m // 128 or 1) == fields


@pytest.mark.parametrize(
    "bits, kind, message",
    [
        (0x08400050, "f16", "0x08400050 sets bits 0x00000040, which kind::f16 does not have"),
        (0x48400010, "f16", "sets bits 0x40000000, which kind::f16 does not have"),
        (0x08400090 | 1 << 8, "tf32", "the type of A is 3; expected 2"),
        (0x08400030, "f16", r"the type of D is 3; expected 0 \(f16\), 1 \(f32\)"),
        (0x08400480, "f16", r"the type of D is 0 \(f16\), but those of A and B are bf16"),
        (0x08400018, "f16", "it saturates, which kind::f16 does not"),
        (0x08402020, "i8", "it negates, which kind::i8 does not"),
        (0x0C400010, "f16", "M is 192; expected 64 or 128"),
        (0x08000010, "f16", "N is 0; expected a multiple of 8 from 8 to 256"),
        (0x080A0020, "i8", "N is 40; expected a multiple of 16 from 16 to 256"),
        (0x08030010, "f8f6f4", "N is 8; expected a multiple of 16 from 16 to 256"),
    ],
)
def test_instruction_descriptors_that_are_not_valid(bits, kind, message):
    with pytest.raises(ValueError, match=message):
        decode_instruction(bits, kind)


@pytest.mark.parametrize(
    "bits, kind, message",
    [
        (0x04400010, "f16", "M is 64; expected 128 or 256"),
        (0x08020010, "f16", "N is 8; expected a multiple of 16 from 16 to 256"),
        (0x08040020, "i8", "N is 16; expected a multiple of 32 from 32 to 256"),
        (0x08050010, "f8f6f4", "N is 16; expected a multiple of 32 from 32 to 256"),
    ],
)
def test_instruction_descriptors_that_are_not_valid_for_a_cta_pair(bits, kind, message):
    with pytest.raises(ValueError, match=message):
        decode_instruction(bits, kind, 2)
