"""Float ops of `arith` and `llvm` against Python's floats, rounded once; NaN and zeros as in MLIR."""

import math

import numpy as np
import pytest
from arithmetic import FORMATS, same
from emulated import elementwise

each_format = pytest.mark.parametrize("element", FORMATS)


def _divide(a, b):
    if b:
        return a / b
    return math.nan if math.isnan(a) or not a else math.copysign(math.inf, a) * math.copysign(1, b)


def _larger(a, b):
    """The larger number, +0 above -0."""
    return max(a, b, key=lambda x: (x, math.copysign(1, x)))


def _smaller(a, b):
    return -_larger(-a, -b)


def _propagates(function):
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else function(a, b)


#: Computing in f64 and rounding to a narrower format gives the same sums, products and quotients as
#: rounding once (Figueroa 1995).
OPS = {
    ("arith.addf", "llvm.fadd"): lambda a, b: a + b,
    ("arith.subf", "llvm.fsub"): lambda a, b: a - b,
    ("arith.mulf", "llvm.fmul"): lambda a, b: a * b,
    ("arith.divf", "llvm.fdiv"): _divide,
    ("arith.maximumf", "llvm.intr.maximum"): _propagates(_larger),
    ("arith.minimumf", "llvm.intr.minimum"): _propagates(_smaller),
}


def binary(name, element):
    """Pairs of edge cases of a format, and an op's result for each."""
    a, b = FORMATS[element].pairs()
    outputs = elementwise(
        f'"{name}"(%a, %b) : ({element}, {element}) -> {element}', [a, b], a.dtype
    )
    return list(zip(*(x.astype(np.float64).tolist() for x in (a, b, outputs)), strict=True))


@each_format
@pytest.mark.parametrize(
    "name, function", [(name, f) for names, f in OPS.items() for name in names]
)
def test_ops_round_once(name, function, element):
    wrong = [
        (a, b, computed, expected)
        for a, b, computed in binary(name, element)
        if not same(computed, expected := FORMATS[element].round(function(a, b)))
    ]
    assert wrong == []


@each_format
@pytest.mark.parametrize(
    "name, function",
    [
        ("arith.maxnumf", max),
        ("llvm.intr.maxnum", max),
        ("arith.minnumf", min),
        ("llvm.intr.minnum", min),
    ],
)
def test_maxnum_and_minnum_ignore_nan(name, function, element):
    for a, b, computed in binary(name, element):
        if math.isnan(a) or math.isnan(b):
            assert same(computed, b if math.isnan(a) else a)
        else:
            assert computed == function(a, b)  # Zeros of either sign are equal.


@each_format
@pytest.mark.parametrize("name", ["arith.negf", "llvm.fneg"])
def test_negation_changes_the_sign_of_everything(name, element):
    a = np.array(FORMATS[element].edges()).astype(FORMATS[element].dtype)
    negated = elementwise(f'"{name}"(%a) : ({element}) -> {element}', [a], a.dtype)
    unsigned = f"u{a.dtype.itemsize}"
    assert (negated.view(unsigned) ^ a.view(unsigned) == 1 << (8 * a.dtype.itemsize - 1)).all()


PREDICATES = {
    "false": lambda a, b: False,
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: a < b or a > b,
    "ord": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "ueq": lambda a, b: not (a < b or a > b),
    "ugt": lambda a, b: not a <= b,
    "uge": lambda a, b: not a < b,
    "ult": lambda a, b: not a >= b,
    "ule": lambda a, b: not a > b,
    "une": lambda a, b: a != b,
    "uno": lambda a, b: math.isnan(a) or math.isnan(b),
    "true": lambda a, b: True,
}


@each_format
@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("dialect", ["arith", "llvm"])
def test_comparisons(dialect, predicate, element):
    if dialect == "arith":
        line = f"arith.cmpf {predicate}, %a, %b : {element}"
    else:
        word = f"_{predicate}" if predicate in ("true", "false") else predicate
        line = f'llvm.fcmp "{word}" %a, %b : {element}'
    a, b = FORMATS[element].pairs()
    outcomes = elementwise(line, [a, b], np.bool_).tolist()
    pairs = zip(a.astype(float).tolist(), b.astype(float).tolist(), strict=True)
    assert outcomes == [PREDICATES[predicate](x, y) for x, y in pairs]


@each_format
@pytest.mark.parametrize("name", ["arith.constant", "llvm.mlir.constant"])
def test_constants(name, element):
    form = FORMATS[element]
    size = form.dtype.itemsize
    for value in form.edges():
        bits = int(np.array([value]).astype(form.dtype).view(f"u{size}")[0])
        line = f'"{name}"() {{value = 0x{bits:0{2 * size}X} : {element}}} : () -> {element}'
        constants = elementwise(line, [np.zeros(1, np.int32)], form.dtype)
        assert same(float(constants[0]), value)
