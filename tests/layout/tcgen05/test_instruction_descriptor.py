"""The instruction descriptor of tcgen05: published constants, every field, and refusals."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.layout import element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor, MmaShapeError


def descriptor_of(kind, a, b, m, n, **more):
    return InstructionDescriptor(KINDS[kind], element(a), element(b), m, n, **more)


@pytest.mark.parametrize(
    "bits, descriptor",
    [
        # From Triton's test/Conversion/tritongpu_to_llvm_blackwell.mlir.
        (136314912, descriptor_of("i8", "u8", "u8", 128, 128, d="s32")),
        (136316064, descriptor_of("i8", "s8", "s8", 128, 128, d="s32")),
        (144708608, descriptor_of("mxf8f6f4", "e4m3", "e2m1_p64", 128, 128, scale="ue8m0")),
        (
            681579536,
            descriptor_of(
                "mxf8f6f4", "e4m3", "e2m1_p64", 128, 128, scale="ue8m0", a_scale=1, b_scale=1
            ),
        ),
        # From CuTe's make_instr_desc, run on the host.
        (0x08400010, descriptor_of("f16", "f16", "f16", 128, 256)),
        (
            0x10218490,
            descriptor_of("f16", "bf16", "bf16", 256, 128, a_mn_major=True, b_mn_major=True),
        ),
        (0x04032910, descriptor_of("tf32", "tf32", "tf32", 64, 8, negate_a=True, b_mn_major=True)),
        (0x080C00A8, descriptor_of("i8", "s8", "u8", 128, 48, d="s32", saturate=True)),
        (0x08200094, descriptor_of("f8f6f4", "e5m2", "e4m3", 128, 128, sparse=True)),
        (
            0x10A11000,
            descriptor_of("mxf8f6f4", "e4m3", "e3m2_p32", 256, 128, b_mn_major=True, scale="ue8m0"),
        ),
        (0x08C00480, descriptor_of("mxf4", "e2m1", "e2m1", 128, 256, scale="ue8m0")),
        (
            0x10400484,
            descriptor_of("mxf4nvf4", "e2m1", "e2m1", 256, 256, scale="ue4m3", sparse=True),
        ),
        (
            0xD04004A0,
            descriptor_of(
                "mxf4nvf4",
                "e2m1",
                "e2m1",
                256,
                256,
                scale="ue4m3",
                a_scale=2,
                b_scale=2,
                k_bytes=48,
            ),
        ),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else "",
)
def test_known_descriptors(bits, descriptor):
    assert hex(descriptor.encode()) == hex(bits)
    assert InstructionDescriptor.decode(bits, descriptor.kind) == descriptor


@given(st.data())
def test_decode_inverts_encode(data):
    kind = data.draw(st.sampled_from(list(KINDS.values())))
    kinds, flags = st.sampled_from(list(kind.codes)), st.booleans()
    scaled = {
        "scale": st.sampled_from(sorted({name for name, _ in kind.scales})),
        "a_scale": st.integers(0, 3),
        "b_scale": st.integers(0, 3),
        "k_bytes": st.sampled_from([32, 48]),
    }
    plain = {
        "d": st.sampled_from(kind.accumulators),
        "saturate": flags,
        "selector": st.integers(0, 3),
    }
    names = ("negate_a", "negate_b", "a_mn_major", "b_mn_major", "sparse")
    drawn = data.draw(
        st.fixed_dictionaries({**dict.fromkeys(names, flags), **(scaled if kind.scales else plain)})
    )
    m, n = data.draw(st.sampled_from([64, 128, 256])), 8 * data.draw(st.integers(1, 32))
    if kind.scales:
        m = max(m, 128)
    descriptor = InstructionDescriptor(kind, data.draw(kinds), data.draw(kinds), m, n, **drawn)
    assert InstructionDescriptor.decode(descriptor.encode(), kind) == descriptor


@pytest.mark.parametrize(
    "descriptor, ctas, message",
    [
        (
            descriptor_of("f16", "f16", "bf16", 128, 64),
            1,
            "does not multiply f16 and bf16; it takes A and B of one type of f16, bf16",
        ),
        (
            descriptor_of("tf32", "bf16", "bf16", 128, 64),
            1,
            "kind::tf32 does not multiply bf16 and bf16; it takes A and B of tf32",
        ),
        (
            descriptor_of("tf32", "tf32", "tf32", 128, 64, d="f16"),
            1,
            "D of kind::tf32 is f16; expected f32",
        ),
        (
            descriptor_of("f16", "bf16", "bf16", 128, 64, d="f16"),
            1,
            "D of bf16 is f16; expected f32",
        ),
        (
            descriptor_of("i8", "s8", "s8", 128, 64, d="s32", negate_a=True),
            1,
            "kind::i8 does not negate A or B",
        ),
        (
            descriptor_of("f16", "f16", "f16", 128, 64, saturate=True),
            1,
            "kind::f16 does not saturate",
        ),
        (
            descriptor_of("f16", "f16", "f16", 128, 64, scale="ue8m0"),
            1,
            "kind::f16 is scaled by ue8m0; expected none",
        ),
        (
            descriptor_of("mxf4", "e2m1", "e2m1", 128, 64),
            1,
            "kind::mxf4 is scaled by nothing; expected factors of ue8m0",
        ),
        (
            descriptor_of("mxf4", "e2m1", "e2m1", 128, 64, scale="ue4m3"),
            1,
            "scaled by ue4m3; expected factors of ue8m0",
        ),
        (
            descriptor_of("mxf4", "e2m1", "e2m1", 128, 64, scale="ue8m0", a_mn_major=True),
            1,
            "A of e2m1 is M-major; tcgen05 reads that type K-major only",
        ),
        (
            descriptor_of("f8f6f4", "e4m3", "e2m1_p64", 128, 64, b_mn_major=True),
            1,
            "B of e2m1_p64 is N-major",
        ),
        (
            descriptor_of("f16", "f16", "f16", 192, 64),
            1,
            "M is 192; kind::f16 with cta_group::1 has 64 or 128",
        ),
        (
            descriptor_of("f16", "f16", "f16", 64, 64),
            2,
            "M is 64; kind::f16 with cta_group::2 has 128 or 256",
        ),
        (
            descriptor_of("mxf4", "e2m1", "e2m1", 128, 64, scale="ue8m0"),
            2,
            "M is 128; kind::mxf4 with cta_group::2 has 256",
        ),
        (
            descriptor_of("f16", "f16", "f16", 128, 20),
            1,
            "N is 20; kind::f16 with cta_group::1 has multiples of 8 up to 256, for example 16 "
            "or 24",
        ),
        (
            descriptor_of("f16", "f16", "f16", 256, 24),
            2,
            "N is 24; kind::f16 with cta_group::2 has multiples of 16 up to 256, for example 16 or 32",
        ),
        (
            descriptor_of("f16", "f16", "f16", 128, 512),
            1,
            "N is 512; kind::f16 with cta_group::1 has multiples of 8 up to 256, for example 256",
        ),
        (
            descriptor_of("i8", "s8", "s8", 128, 40, d="s32"),
            1,
            "N is 40; kind::i8 with cta_group::1 has multiples of 16 up to 256, for example 24",
        ),
        (
            descriptor_of("f8f6f4", "e4m3", "e4m3", 128, 24, b_mn_major=True),
            1,
            "N is 24; kind::f8f6f4 with e4m3 N-major, cta_group::1 has multiples of 16",
        ),
        (
            descriptor_of("f16", "f16", "f16", 128, 64),
            4,
            "cta_group is 4; expected 1 or 2",
        ),
        (
            descriptor_of("mxf8f6f4", "e4m3", "e4m3", 128, 64, scale="ue8m0", k_bytes=48),
            1,
            "K is 48 bytes, which kind::mxf8f6f4 does not have",
        ),
        (
            descriptor_of("mxf4", "e2m1", "e2m1", 128, 64, scale="ue8m0", k_bytes=64),
            1,
            "K is 64 bytes; expected 32",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_no_instruction_does(descriptor, ctas, message):
    with pytest.raises(ValueError) as error:
        descriptor.check(ctas)
    assert message in str(error.value)


@pytest.mark.parametrize("m, ctas, fits", [(128, 1, True), (256, 2, True), (128, 2, False)])
def test_instructions_of_48_bytes_have_the_rows_that_cutlass_gives_them(m, ctas, fits):
    descriptor = descriptor_of("mxf4nvf4", "e2m1", "e2m1", m, 16 * ctas, scale="ue4m3", k_bytes=48)
    if fits:
        descriptor.check(ctas)
    else:
        with pytest.raises(
            MmaShapeError, match="M is 128; kind::mxf4nvf4 with cta_group::2 has 256"
        ):
            descriptor.check(ctas)


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_every_kind_has_a_shape(kind, ctas):
    a = next(iter(kind.codes))
    scale = kind.scales[0][0] if kind.scales else None
    InstructionDescriptor(kind, a, a, 128 * ctas, 128, kind.accumulators[0], scale=scale).check(
        ctas
    )


def test_a_shape_error_is_a_value_error():
    assert issubclass(MmaShapeError, ValueError)


@pytest.mark.parametrize(
    "bits, kind, message",
    [
        (1 << 32, "f16", "0x100000000 is not a 32-bit value"),
        (1 << 6, "f16", "0x00000040 sets bits 0x00000040, which belong to no field of kind::f16"),
        (1 << 3, "mxf4", "0x00000008 sets bits 0x00000008, which belong to no field of kind::mxf4"),
        (1 << 6, "mxf4", "0x00000040 sets bits 0x00000040, which belong to no field of kind::mxf4"),
        (2 << 7, "f8f6f4", "the type of A is 2; expected 0 (e4m3), 1 (e5m2), 3 (e2m3_p32)"),
        (2 << 4, "f16", "the type of D is 2; expected 1 (f32), 0 (f16)"),
    ],
)
def test_bits_that_are_no_descriptor(bits, kind, message):
    with pytest.raises(ValueError) as error:
        InstructionDescriptor.decode(bits, KINDS[kind])
    assert message in str(error.value)


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_fields_are_where_values_are_encoded(kind):
    fields = InstructionDescriptor.fields(kind)
    scale = kind.scales[0][0] if kind.scales else None
    some = next(iter(kind.codes))
    plain = InstructionDescriptor(kind, some, some, 128, 64, kind.accumulators[0], scale=scale)
    changes = {"m": 256, "n": 256, "k_bytes": 48, "selector": 3, "a_scale": 3, "b_scale": 3}
    for name, (bit, width) in fields.items():
        value = changes.get(name, True)
        if name in ("a", "b", "d", "scale"):
            continue
        changed = replace(plain, **{name: value}).encode() ^ plain.encode()
        assert changed
        assert changed >> bit << bit == changed < 1 << bit + width
    first = [bit for bit, _ in fields.values()]
    assert first == sorted(first)


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_fields_are_apart_and_within_32_bits(kind):
    fields = sorted(InstructionDescriptor.fields(kind).values())
    ends = [first + width for first, width in fields]
    assert all(end <= first for end, (first, _) in zip(ends, fields[1:], strict=False))
    assert ends[-1] <= 32
