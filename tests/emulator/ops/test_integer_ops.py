"""Integer ops of `arith` and `llvm` against Python's integers, at every width."""

import numpy as np
import pytest
from arithmetic import WIDTHS, as_signed, integer_pairs
from emulated import elementwise


def _divide_toward_zero(a, b):
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def _on_signed(function):
    return lambda a, b, width: function(as_signed(a, width), as_signed(b, width))


def _divides(function):
    """None for a division by zero and for a quotient that overflows, which are undefined."""

    def divide(a, b, width):
        if b == 0 or (as_signed(a, width), as_signed(b, width)) == (-(1 << width - 1), -1):
            return None
        return function(as_signed(a, width), as_signed(b, width))

    return divide


def _divides_unsigned(function):
    return lambda a, b, width: function(a, b) if b else None


def _shifts(function):
    return lambda a, b, width: function(a, b, width) if b < width else None


#: The Python function of each op; it returns None where the result is undefined.
OPS = {
    ("arith.addi", "llvm.add"): lambda a, b, width: a + b,
    ("arith.subi", "llvm.sub"): lambda a, b, width: a - b,
    ("arith.muli", "llvm.mul"): lambda a, b, width: a * b,
    ("arith.divui", "llvm.udiv"): _divides_unsigned(lambda a, b: a // b),
    ("arith.remui", "llvm.urem"): _divides_unsigned(lambda a, b: a % b),
    ("arith.ceildivui",): _divides_unsigned(lambda a, b: -(-a // b)),
    ("arith.divsi", "llvm.sdiv"): _divides(_divide_toward_zero),
    ("arith.remsi", "llvm.srem"): _divides(lambda a, b: a - b * _divide_toward_zero(a, b)),
    ("arith.floordivsi",): _divides(lambda a, b: a // b),
    ("arith.ceildivsi",): _divides(lambda a, b: -(-a // b)),
    ("arith.andi", "llvm.and"): lambda a, b, width: a & b,
    ("arith.ori", "llvm.or"): lambda a, b, width: a | b,
    ("arith.xori", "llvm.xor"): lambda a, b, width: a ^ b,
    ("arith.shli", "llvm.shl"): _shifts(lambda a, b, width: a << b),
    ("arith.shrui", "llvm.lshr"): _shifts(lambda a, b, width: a >> b),
    ("arith.shrsi", "llvm.ashr"): _shifts(lambda a, b, width: as_signed(a, width) >> b),
    ("arith.maxui", "llvm.intr.umax"): lambda a, b, width: max(a, b),
    ("arith.minui", "llvm.intr.umin"): lambda a, b, width: min(a, b),
    ("arith.maxsi", "llvm.intr.smax"): _on_signed(max),
    ("arith.minsi", "llvm.intr.smin"): _on_signed(min),
}

PREDICATES = (
    lambda a, b, width: a == b,
    lambda a, b, width: a != b,
    _on_signed(lambda a, b: a < b),
    _on_signed(lambda a, b: a <= b),
    _on_signed(lambda a, b: a > b),
    _on_signed(lambda a, b: a >= b),
    lambda a, b, width: a < b,
    lambda a, b, width: a <= b,
    lambda a, b, width: a > b,
    lambda a, b, width: a >= b,
)


def check(a, b, outputs, function, width):
    """Compare results with those of a function of each pair."""
    wrong = [
        (int(x), int(y), int(r), expected)
        for x, y, r in zip(a, b, outputs, strict=True)
        if (expected := function(int(x), int(y), width)) is not None
        and int(r) != expected % (1 << width)
    ]
    assert wrong == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "name, function", [(name, f) for names, f in OPS.items() for name in names]
)
def test_results_are_those_of_python(name, function, width):
    a, b = integer_pairs(width)
    line = f'"{name}"(%a, %b) : (i{width}, i{width}) -> i{width}'
    check(a, b, elementwise(line, [a, b], a.dtype), function, width)


@pytest.mark.parametrize("name", [name for names in OPS for name in names if "arith" in name])
def test_index_is_64_bits_wide(name):
    a, b = integer_pairs(64)
    outputs = elementwise(
        f'"{name}"(%a, %b) : (index, index) -> index', [a, b], a.dtype, ["index"] * 3
    )
    function = next(f for names, f in OPS.items() if name in names)
    check(a, b, outputs, function, 64)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["arith.cmpi", "llvm.icmp"])
@pytest.mark.parametrize("predicate", range(10))
def test_comparisons(name, predicate, width):
    a, b = integer_pairs(width)
    line = f'"{name}"(%a, %b) {{predicate = {predicate} : i64}} : (i{width}, i{width}) -> i1'
    outcomes = elementwise(line, [a, b], np.bool_)
    expected = [PREDICATES[predicate](int(x), int(y), width) for x, y in zip(a, b, strict=True)]
    assert outcomes.tolist() == expected


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["arith.constant", "llvm.mlir.constant"])
def test_constants_are_bit_patterns(name, width):
    a, _ = integer_pairs(width)
    for value in sorted({int(x) for x in a} | {as_signed(int(x), width) for x in a}):
        line = f'"{name}"() {{value = {value} : i{width}}} : () -> i{width}'
        if width == 1:
            line = line.replace(f"{value} : i1", "true" if value else "false")
        elif value >= 1 << (width - 1):
            continue  # The parser takes numbers with a sign.
        assert int(elementwise(line, [a[:1]], a.dtype)[0]) == value % (1 << width)


@pytest.mark.parametrize("name", ["arith.shli", "arith.shrui", "arith.shrsi"])
def test_shift_by_the_width_or_more_does_not_raise(name):
    a, b = np.array([5, 5], np.uint32), np.array([32, 2**32 - 1], np.uint32)
    elementwise(f'"{name}"(%a, %b) : (i32, i32) -> i32', [a, b], np.uint32)


@pytest.mark.parametrize("name", ["arith.divsi", "arith.remui", "arith.ceildivui"])
def test_division_by_zero_does_not_raise(name):
    a, b = np.array([5, 0], np.uint32), np.zeros(2, np.uint32)
    elementwise(f'"{name}"(%a, %b) : (i32, i32) -> i32', [a, b], np.uint32)
