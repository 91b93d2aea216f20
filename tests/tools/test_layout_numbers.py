"""Descriptors and numbers as people have them: printed by %llx, by MLIR, by C."""

import pytest

DESCRIPTOR = 0x4000004000010040
SWIZZLE_64 = 0x8000002000010000


def fields(json_of, *words):
    answer = json_of(*words)
    return int(answer["descriptor"], 16), answer.get("notes", [])


@pytest.mark.parametrize(
    "text, bits, note",
    [
        # printf("%llx"), as docs/howto/garbage.md prints it.
        ("4000004000010040", DESCRIPTOR, "as decimal it is 0xe35fb81854f38"),
        ("40000040000100c0", 0x40000040000100C0, "it has letters"),
        ("C000002000010000", 0xC000002000010000, "it has letters"),
        ("0000004000010000", 0x4000010000, "as decimal"),
        # MLIR, LLVM IR and PTX print signed constants.
        (str(SWIZZLE_64 - (1 << 64)), SWIZZLE_64, None),
        ("-0x7fffffdffff0000", -0x7FFFFFDFFFF0000 % (1 << 64), None),
        (str(DESCRIPTOR), DESCRIPTOR, None),
        (f"{DESCRIPTOR:#x}ull", DESCRIPTOR, None),
        ("0", 0, None),
    ],
)
def test_decode(json_of, text, bits, note):
    value, notes = fields(json_of, "decode", text, "--element", "bf16")
    assert value == bits
    assert len(notes) == (note is not None)
    assert not note or note in notes[0]


def test_a_short_number_is_decimal_and_says_so(output_of):
    assert output_of("decode", "64").endswith(
        "\n\n64 is read as decimal, 0x40; as hexadecimal it is 0x64: write it with 0x to choose\n"
    )


@pytest.mark.parametrize("text", ["4000004000010040", str(DESCRIPTOR), f"{DESCRIPTOR:#x}"])
def test_diagnose(json_of, text):
    tile = ["Swizzle<3,4,3> o (64,64):(64,1)", "--element", "bf16"]
    answer = json_of("diagnose", *tile, "--descriptor", text)
    assert answer["correct"]
    assert ("notes" in answer) == (text == "4000004000010040")


def test_diagnose_a_negative_one(json_of):
    tile = ["Swizzle<2,4,3> o (64,32):(32,1)", "--element", "bf16"]
    negative = str(SWIZZLE_64 - (1 << 64))
    assert json_of("diagnose", *tile, "--descriptor", negative)["correct"]


def test_instruction_descriptors(json_of):
    for text in ("08400010", "0x08400010", str(0x08400010)):
        answer = json_of("decode", "--instruction", text, "--kind", "f16")
        assert int(answer["instruction"], 16) == 0x08400010


def test_scale_descriptors(json_of):
    for text in ("400800010080", "0x400800010080"):
        answer = json_of("decode", "--scales", text)
        assert int(answer["descriptor"], 16) == 0x400800010080


RANGE = "expected -9223372036854775808 to 18446744073709551615 (0xffffffffffffffff)"


@pytest.mark.parametrize(
    "words, message",
    [
        (["decode", "18446744073709551616"], f"it does not fit 64 bits; {RANGE}"),
        (["decode", "-9223372036854775809"], f"it does not fit 64 bits; {RANGE}"),
        (["decode", "10000000000000000f"], "hexadecimal begins with 0x"),
        (["decode", "0x10000000000000000"], f"it does not fit 64 bits; {RANGE}"),
        (["decode", "0x0", "--at", "-16"], "malformed --at: it is negative; expected 0 or more"),
        (["decode", "0x0", "--rows", "-0x40"], "malformed --rows: it is negative"),
        (
            ["encode", "--lbo", "16", "--sbo", "16", "--start", "-1"],
            "malformed --start: it is negative; expected 0 or more",
        ),
        (
            ["diagnose", "(64,64):(64,1)", "--element=bf16", "--descriptor=0", "--k-steps", "-2,0"],
            "malformed --k-steps: it is negative; expected 0 or more",
        ),
        (
            ["decode", "--instruction", "-2147483649", "--kind", "f16"],
            "it does not fit 32 bits; expected -2147483648 to 4294967295 (0xffffffff)",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_refused(error_of, words, message):
    assert message in error_of(*words)
