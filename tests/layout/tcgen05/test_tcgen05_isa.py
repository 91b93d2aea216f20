"""The instruction set of tcgen05, and the operands of its instructions."""

import re

import pytest

from mlir_smem.layout import Arch, LayoutError, Major, Role, element
from mlir_smem.layout.tcgen05 import KINDS, Tcgen05, Tcgen05Instruction

BF16, E4M3, S8, E2M1 = map(element, ("bf16", "e4m3", "s8", "e2m1"))


def test_architectures_have_different_kinds():
    assert Arch.SM_100.isa == Tcgen05()
    assert Arch.SM_100.kinds == tuple(KINDS.values())
    assert set(Arch.SM_100.kinds) - set(Arch.SM_103.kinds) == {KINDS["i8"]}
    assert (Arch.SM_100.has_absolute_lbo, Arch.SM_103.has_absolute_lbo) == (False, True)


ACCUMULATORS = [
    ("f16", "f16", False, ["f32", "f16"]),
    ("bf16", "bf16", False, ["f32"]),
    ("e4m3", "e2m1_p64", False, ["f32", "f16"]),
    ("e4m3", "e2m1_p64", True, ["f32"]),
    ("s8", "u8", False, ["s32"]),
    ("e2m1", "e2m1", False, []),
    ("e2m1", "e2m1", True, ["f32"]),
    ("b1", "b1", False, []),
]


@pytest.mark.parametrize(
    "a, b, scaled, accumulators",
    ACCUMULATORS,
    ids=[f"{a}-{b}-{scaled}-found{i}" for i, (a, b, scaled, _) in enumerate(ACCUMULATORS)],
)
def test_accumulators(a, b, scaled, accumulators):
    assert [str(x) for x in Tcgen05().accumulators(element(a), element(b), scaled)] == accumulators


def test_shapes_are_those_of_one_cta():
    one, pair = (Tcgen05().instruction(BF16, BF16, ctas=ctas) for ctas in (1, 2))
    assert (one.legal_m, pair.legal_m) == ((64, 128), (64, 128))
    assert one.legal_n(BF16) == tuple(range(8, 257, 8))
    assert pair.legal_n(BF16) == tuple(range(8, 129, 8))
    assert Tcgen05().instruction(E4M3, E4M3).legal_n(E4M3, Major.MN) == tuple(range(16, 257, 16))
    assert (Tcgen05().rows(256), Tcgen05().rows(192)) == (128, 64)


@pytest.mark.parametrize("long_k, k_bytes, least", [(False, 32, 8), (True, 48, 16)])
def test_rows_of_48_bytes_have_an_n_of_their_own(long_k, k_bytes, least):
    instruction = Tcgen05Instruction(KINDS["mxf4"], long_k=long_k)
    assert instruction.k_bytes == k_bytes and instruction.legal_n(E2M1)[0] == least


@pytest.mark.parametrize(
    "isa, options, message",
    [
        (Tcgen05(), {}, "tcgen05 does not multiply bf16 by e4m3"),
        (Tcgen05(), {"sparse": True}, "tcgen05 does not multiply bf16 by e4m3 with a sparse A"),
        (Tcgen05(), {"ctas": 4}, "tcgen05 does not multiply bf16 by e4m3 in 4 CTAs"),
    ],
)
def test_what_it_does_not_multiply(isa, options, message):
    with pytest.raises(LayoutError, match=f"{message}$"):
        isa.instruction(BF16, E4M3, **options)


def test_an_architecture_without_integers():
    assert S8 not in Arch.SM_103.isa.elements
    with pytest.raises(LayoutError, match="tcgen05 does not multiply s8 by s8"):
        Arch.SM_103.isa.instruction(S8, S8)


def test_types_of_a_kind():
    message = "kind::f16 does not multiply bf16 by e4m3; it takes f16, bf16"
    with pytest.raises(LayoutError, match=message):
        Tcgen05Instruction(KINDS["f16"]).check_types(BF16, E4M3)


@pytest.mark.parametrize(
    "instruction, role, shape, message",
    [
        (
            Tcgen05Instruction(KINDS["f16"]),
            Role.A,
            (96, 16),
            "A: M is 96; kind::f16 takes multiples of 64, for example 64 or 128",
        ),
        (
            Tcgen05Instruction(KINDS["f16"], 2),
            Role.B,
            (16, 12),
            "B: N is 12 in each of 2 CTAs; kind::f16 takes multiples of 8 in each of 2 CTAs, for "
            "example 8 or 16",
        ),
        (
            Tcgen05Instruction(KINDS["mxf4"], long_k=True),
            Role.A,
            (128, 96),
            "A: K is 96; tcgen05 takes 96 elements of e2m1 at a time, of whole atoms of 256: expected "
            "a multiple of 768, for example 768",
        ),
    ],
    ids=[
        "made0-Role.A-shape0-A: M is 96; kind::f16 takes multiples of 64, for example 64 or 128",
        "made1-Role.B-shape1-B: N is 12 in each of 2 CTAs; kind::f16 takes multiples of 8 in each of 2 "
        "CTAs, for example 8 or 16",
        "made2-Role.A-shape2-message2",
    ],
)
def test_extents(instruction, role, shape, message):
    element = E2M1 if instruction.long_k else BF16
    with pytest.raises(LayoutError, match=f"{re.escape(message)}$"):
        instruction.check_extents(role, element, shape)
