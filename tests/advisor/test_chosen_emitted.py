"""The answer of `choose` for two `tcgen05` tiles is what the lowering emits."""

import narrow_mmas
import pytest
from emitted_mmas import RANK, instructions_of
from mma_cases import Case

from fuzz.generated.blocks import BlockCase
from mlir_smem.advisor import choose_operands
from mlir_smem.emulator.tcgen05.descriptors import (
    decode_instruction,
    decode_matrix,
    decode_scaled_instruction,
)
from mlir_smem.emulator.tcgen05.narrow_floats import TCGEN05_MULTIPLICANDS
from mlir_smem.emulator.tensor_core.operands import matrix_bytes
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor

#: The ISA's names of types.
NAMES = {
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "f4E2M1FN": "e2m1",
    "!smem.padded<f4E2M1FN>": "e2m1_p64",
    "f6E2M3FN": "e2m3_p32",
    "f6E3M2FN": "e3m2_p32",
    "i8": "s8",
    "ui8": "u8",
}

E2M1 = ("f4E2M1FN", "f4E2M1FN")


def choose_product(a, b, m, n, k, **options):
    """Return the choice for an A of (m, k) and a B of (k, n), K-major by default."""
    tiles = (f"{m}x{k}x{NAMES.get(a, a)}", f"{k}x{n}x{NAMES.get(b, b)}")
    return choose_operands(*tiles, **({"b_major": "k"} | options))


def check_emitted(choice, instructions):
    """Assert that the emitted instructions are exactly those of the choice."""
    mma, (a, b) = choice.mma, choice.each
    # The allocator chooses the addresses; a tile starts with its first MMA tile.
    begin_a, begin_b = (
        Tcgen05Descriptor.decode(getattr(instructions.mmas[0], name)).start for name in "ab"
    )
    assert begin_a % a.alignment == begin_b % b.alignment == 0
    ids = {step.k: step.id for step in mma.factors.k_blocks} if mma.factors else {}
    ctas = mma.op.ctas
    expected = [
        (
            mma.opcode,
            a.descriptor_of(a_tile, begin_a).encode(),
            b.descriptor_of(b_tile, begin_b).encode(),
            mma.descriptor(
                a_tile.extent * ctas, b_tile.extent * ctas, ids.get(a_tile.k, 0)
            ).encode(),
        )
        for a_tile in a.each_mma_tile
        for b_tile in b.each_mma_tile
        if a_tile.k == b_tile.k
    ]
    mmas = [(issued.opcode, issued.a, issued.b, issued.instruction) for issued in instructions.mmas]
    assert sorted(mmas) == sorted(expected)
    check_emulator_reads(choice, instructions.mmas[-1], (begin_a, begin_b))
    assert instructions.masks == [mma.commit_mask(RANK)]
    assert instructions.columns == [mma.allocated_columns]


def check_emulator_reads(choice, last, begins):
    """Assert that the last instruction reads the end of the tiles, by the emulator's independent code."""
    op = choice.op
    kind, ctas = str(op.kind), op.ctas
    if op.block:
        decoded = decode_scaled_instruction(last.instruction, kind, op.block, ctas)
        assert (decoded.scales.factors, decoded.scales.block) == (op.scale, op.block)
    else:
        decoded = decode_instruction(last.instruction, kind, ctas)
    shape = tuple(operand.mma_tiles.pieces[-1] * ctas for operand in choice.each)
    assert ((decoded.m, decoded.n), decoded.k_bytes) == (shape, op.k_bytes)
    sides = (
        (choice.a, last.a, decoded.a, decoded.a_mn_major),
        (choice.b, last.b, decoded.b, decoded.b_mn_major),
    )
    for (operand, bits, multiplicand, mn_major), begin in zip(sides, begins, strict=True):
        element = operand.spec.element
        name = {"e2m1": "e2m1x2"}.get(element.name, element.name.split("_")[0])
        assert multiplicand == TCGEN05_MULTIPLICANDS[name]
        size, packed = max(1, element.bits // 8), 2 if element.bits == 4 else 1
        rows, k = operand.mma_tiles.pieces[-1], operand.instruction_k
        source = decode_matrix(bits, mn_major, size, op.k_bytes)
        read = matrix_bytes(source, 8 * size, mn_major, rows, op.k_bytes)
        written = begin + operand.role.orient(operand.layout).offsets()[-rows:, -k::packed]
        assert (read == written).all()


PLAIN = [
    *(
        Case(*mix, n=n, m=m)
        for mix in (
            ("f16", "f16", "f32"),
            ("bf16", "bf16", "f32"),
            ("tf32", "tf32", "f32"),
            ("f8E4M3FN", "f8E4M3FN", "f32"),
            ("f8E5M2", "f8E4M3FN", "f32"),
            ("i8", "i8", "i32"),
            ("i8", "ui8", "i32"),
        )
        for m, n in ((64, 64), (128, 48), (128, 256), (256, 32))
    ),
    *(
        Case(*mix, n=64, m=128, a_major=a, b_major=b)
        for mix in (("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"), ("f8E4M3FN",) * 2 + ("f32",))
        for a, b in (("mn", "k"), ("k", "mn"), ("mn", "mn"))
    ),
    Case("f16", "f16", "f32", n=288, m=128),
]


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_mmas_of_one_cta(case):
    majors = {
        "a_major": case.a_major.replace("mn", "m"),
        "b_major": case.b_major.replace("mn", "n"),
    }
    choice = choose_product(case.a, case.b, case.m, case.n, case.k, arch="sm_100", **majors)
    check_emitted(choice, instructions_of(case.text, "sm_100a"))


SCALED = [
    BlockCase(),
    BlockCase("f8E4M3FN", "f8E5M2", n=24, k=128),
    BlockCase(m=256, n=128),
    BlockCase(*E2M1, n=192),
    BlockCase(*E2M1, "f8E4M3FN", 16, n=8),
    BlockCase(*E2M1, "f8E8M0FNU", 16),
]
PAIRS = [
    *(
        BlockCase(a, a, None, d=d, n=n, k=128, pair=True)
        for a, d, n in (
            ("f16", "f32", 8),
            ("bf16", "f32", 128),
            ("tf32", "f32", 16),
            ("f8E4M3FN", "f32", 40),
            ("i8", "i32", 48),
        )
    ),
    BlockCase("bf16", "bf16", None, m=256, n=64, k=64, pair=True),
    BlockCase(pair=True, n=32),
    BlockCase(*E2M1, pair=True, n=64),
    BlockCase(*E2M1, "f8E4M3FN", 16, pair=True, n=128),
]
LONG = [
    *(
        BlockCase(*E2M1, *scale, n=n, k=768, pair=pair)
        for scale in (("f8E8M0FNU", 32), ("f8E8M0FNU", 16), ("f8E4M3FN", 16))
        for n in (16, 96)
        for pair in (False, True)
    ),
    BlockCase(*E2M1, m=256, n=32, k=768),
]


def choice_for(case, **options):
    """Return the choice for the tiles of a case."""
    scale = {None: None, "f8E8M0FNU": "ue8m0", "f8E4M3FN": "ue4m3"}[case.scale]
    options |= {"scale": scale, "ctas": case.blocks, "block": case.block if scale else None}
    return choose_product(case.a, case.b, case.m, case.n, case.k, **options)


@pytest.mark.parametrize("case", [*SCALED, *PAIRS], ids=str)
def test_scaled_mmas_and_cta_pairs(case):
    check_emitted(choice_for(case, arch="sm_100"), instructions_of(case.text, "sm_100a"))


@pytest.mark.parametrize("case", LONG, ids=str)
def test_rows_of_48_bytes(case):
    choice = choice_for(case, arch="sm_103", k_bytes=48)
    instructions = instructions_of(case.text, "sm_103a")
    check_emitted(choice, instructions)
    assert any(Tcgen05Descriptor.decode(issued.a).absolute for issued in instructions.mmas)


@pytest.mark.parametrize("mix", narrow_mmas.MIXES[::4], ids=" ".join)
@pytest.mark.parametrize("scaled", [False, True])
def test_padded_types(mix, scaled):
    m, n = narrow_mmas.M, narrow_mmas.N
    scale = "ue8m0" if scaled else None
    instructions = instructions_of(narrow_mmas.kernel(*mix, scaled=scaled), "sm_103a")
    check_emitted(choose_product(*mix, m, n, 128, arch="sm_103", scale=scale), instructions)


@pytest.mark.parametrize(
    "case", [BlockCase(), BlockCase(*E2M1, "f8E4M3FN", 16, n=96, pair=True)], ids=str
)
def test_copies_of_scale_factors(case):
    factors = choice_for(case, arch="sm_100").mma.factors
    copied = instructions_of(case.text, "sm_100a").copied
    counts = [len(tile.data()["copies"]) for tile in factors.tiles]
    assert len(copied) == sum(counts)
    for tile, begin in zip(factors.tiles, (0, counts[0]), strict=True):
        first = Tcgen05Descriptor.decode(copied[begin]).start
        expected = [
            tile.blocks.descriptor(block, word, first).encode()
            for block, words in enumerate(tile.blocks.offsets)
            for word in range(len(words))
        ]
        assert sorted(copied[begin : begin + len(expected)]) == sorted(expected)
