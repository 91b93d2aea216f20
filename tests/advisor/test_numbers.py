"""Numbers in command lines, and malformed ones."""

import pytest

from mlir_smem.advisor.numbers import parse_number, parse_numbers
from mlir_smem.layout.text_error import TextError


@pytest.mark.parametrize(
    "text, value",
    [
        ("0", 0),
        ("1024", 1024),
        (" 0x400 ", 0x400),
        ("0X4000004000010000", 0x4000004000010000),
        ("0x4000004000010000ULL", 0x4000004000010000),
        ("0xffffffffffffffff", (1 << 64) - 1),
        ("4611686293338849280ull", 0x4000004002000000),
    ],
)
def test_numbers(text, value):
    assert parse_number("descriptor", text, "0x40") == value


@pytest.mark.parametrize(
    "text, index, problem",
    [
        ("", 0, "expected a number"),
        ("0x", 2, "expected a number"),
        ("0x40g0", 4, "unexpected 'g'"),
        (" 4000004000010c00", 14, "unexpected 'c'; hexadecimal begins with 0x"),
        ("-16", 0, "it is negative; expected 0 or more"),
        ("-x", 0, "unexpected '-'"),
        ("12ulll", 2, "unexpected 'u'"),
        (
            "0x10000000000000000",
            0,
            "it does not fit 64 bits; expected 0 to 0xffffffffffffffff",
        ),
    ],
)
def test_malformed_numbers(text, index, problem):
    with pytest.raises(TextError) as error:
        parse_number("descriptor", text, "0x40")
    assert (error.value.index, error.value.problem) == (index, problem)
    assert str(error.value) == f"malformed descriptor '{text}': {problem}"


def test_lists():
    assert parse_numbers("--k-steps", "0, 2,0x10", "0,2") == (0, 2, 16)


@pytest.mark.parametrize(
    "text, index, problem",
    [
        ("0,2,x", 4, "unexpected 'x'"),
        ("0,,2", 2, "expected a number"),
        ("", 0, "expected a number"),
    ],
)
def test_the_caret_of_a_list(text, index, problem):
    with pytest.raises(TextError) as error:
        parse_numbers("--k-steps", text, "0,2")
    assert (error.value.text, error.value.index, error.value.problem) == (text, index, problem)
