"""Errors of math results are measured correctly, and errors beyond the bound are found."""

import json
from concurrent.futures import Future
from math import inf, nan
from pathlib import Path

import math_accuracy
import ml_dtypes
import numpy as np
import pytest
from math_cases import FUNCTIONS
from math_runs import (
    DTYPES,
    THREADS,
    bounded_by_ulps,
    distance,
    kernel,
    on_emulator,
    operand_types,
    operands,
    outside,
    steps,
)

import mlir_smem

RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "math-h200.json"

BY_NAME = {str(function): function for function in FUNCTIONS}

CASES = [(function, element) for function in FUNCTIONS for element in function.elements]


def move_from_zero(numbers, by):
    """Return numbers that are some steps further from zero."""
    bits = np.dtype(f"u{numbers.itemsize}")
    return (numbers.view(bits) + bits.type(by)).view(numbers.dtype)


# Distances.


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_steps_count_numbers_of_the_type(element):
    one = np.array([1.0, 2.0, -1.0, 0.0, 2.0**-14]).astype(DTYPES[element])
    assert steps(one, move_from_zero(one, 3)).tolist() == [3] * 5
    assert steps(move_from_zero(one, 3), one).tolist() == [3] * 5
    small = np.array([0.0, -0.0]).astype(DTYPES[element])
    assert steps(move_from_zero(small, 1), move_from_zero(small[::-1], 1)).tolist() == [2, 2]
    assert steps(small, small[::-1]).tolist() == [0, 0]


def test_steps_to_nan_and_infinity():
    a, b = np.array([[nan, nan, 1.0, inf], [nan, 1.0, nan, 3.4028234663852886e38]], np.float32)
    assert steps(a, b).tolist() == [0, inf, inf, 1]


def test_distances_in_ulps():
    computed = np.array([1.0, 1.0, 2.0, 0.0, inf, inf, nan, nan], np.float32)
    exact = np.array(
        [1 + 2.0**-24, 1 - 2.0**-25, 2 - 2.0**-24, 2.0**-149, 2.0**128, 2.0**130, nan, 1.0],
        np.longdouble,
    )
    with np.errstate(over="ignore"):
        far = distance(computed, exact, "f32")
    assert far.ulps.tolist() == [0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, inf]
    assert far.steps.tolist() == [0, 0, 0, 1, 0, 0, 0, inf]


def test_numbers_are_rounded_once():
    # Rounded to f32 first, this would be a tie of bf16, and be rounded to even.
    exact = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40], np.longdouble)
    computed = np.array([1 + 2.0**-7, 1.0]).astype(ml_dtypes.bfloat16)
    assert distance(computed, exact, "bf16").steps.tolist() == [0, 0]


# Bounds.


@pytest.mark.parametrize(
    "name, element, within, beyond",
    [
        ("math.erf", "f32", 2, 4),
        ("math.log1p", "f64", 1, 3),
        ("math.sqrt", "f32", 0, 1),
        ("math.erf", "bf16", 0, 2),
        ("math.tanh fastmath<afn>", "f32", 2**12, 2**14 + 2),
        ("math.exp fastmath<afn>", "f32", 2, 6),
    ],
)
def test_results_beyond_the_bound_are_found(name, element, within, beyond):
    function = BY_NAME[name]
    rows = [np.resize(np.linspace(0.6, 0.9, 128).astype(DTYPES[element]), THREADS)]
    exact = function.exact(rows[0].astype(np.longdouble)).astype(np.longdouble)
    right = on_emulator(function, element, rows)
    for by, wrong in ((0, False), (within, False), (beyond, True)):
        far = distance(move_from_zero(right, by), exact, element)
        assert outside(function, element, rows, far).all() == wrong, by


def test_an_absolute_difference_is_enough_in_its_interval():
    function = BY_NAME["math.sin fastmath<afn>"]
    rows = [np.array([3.1415927, 300.0, 400.0], np.float32)]
    exact = np.sin(rows[0].astype(np.longdouble))
    for difference, expected in ((2.0**-21, [0, 0, 0]), (2.0**-19, [1, 0, 0]), (0.1, [1, 1, 0])):
        computed = (exact + difference).astype(np.float32)
        far = distance(computed, exact, "f32")
        assert outside(function, "f32", rows, far).tolist() == expected


@pytest.mark.parametrize("function, element", CASES, ids=str)
def test_the_emulator_is_within_every_bound(function, element):
    with np.errstate(all="ignore"):
        rows = operands(function, element, 4096)
        computed = on_emulator(function, element, rows)
        wide = [x.astype(np.longdouble) for x in rows]
        exact = (function.exact(*wide) if function.exact else computed).astype(np.longdouble)
        far = distance(computed, exact, element)
        assert not outside(function, element, rows, far).any()
    # f64 is as accurate as NumPy.
    assert np.max(far.ulps) <= (2.5 if element == "f64" else 0.5 + 2.0**-9)


# Operands.


def test_operands_include_special_subnormal_and_usual_numbers():
    function = BY_NAME["math.exp"]
    (a,) = operands(function, "f32", 1 << 14)
    assert len(a) % THREADS == 0
    assert np.isnan(a).any() and np.isinf(a).any()
    assert ((a != 0) & (np.abs(a) < 2.0**-126)).any()
    assert len(np.unique(a.view(np.uint32) >> 23)) == 512
    assert ((a > -80) & (a < 80) & (np.abs(a) > 1)).sum() > 500
    (again,) = operands(function, "f32", 1 << 14)
    assert (a.view(np.uint32) == again.view(np.uint32)).all()


def test_one_operand_of_sixteen_bits_has_all_bit_patterns():
    (a,) = operands(BY_NAME["math.exp"], "bf16", 1)
    assert len(np.unique(a.view(np.uint16))) == 1 << 16


@pytest.mark.parametrize("count", [1, 1963, 1 << 18])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("name", ["math.exp", "math.powf", "math.clampf", "math.fpowi"])
def test_operands_of_any_number(name, element, count):
    function = BY_NAME[name]
    rows = operands(function, element, count)
    assert [x.dtype for x in rows] == [DTYPES[t] for t in operand_types(function, element)]
    (size,) = {len(x) for x in rows}
    assert size % THREADS == 0
    assert size >= count or len(rows) == 1


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_each_of_several_operands_of_sixteen_bits_has_all_bit_patterns(element):
    for column in operands(BY_NAME["math.fma"], element, 1 << 18):
        assert len(np.unique(column.view(np.uint16))) == 1 << 16


def test_special_numbers_are_combined():
    a, b = operands(BY_NAME["math.atan2"], "f64", 1)
    for x in (0.0, inf, -inf, 1.0, 5e-324):
        for y in (0.0, inf, -inf, 1.0, 5e-324):
            assert ((a == x) & (b == y)).any()


# The command.


def future(result):
    completed = Future()
    completed.set_result(result)
    return completed


def case_of(monkeypatch, name, element, change):
    """Return the case of an op whose results on a chip are those of the emulator, changed."""
    index = list(BY_NAME).index(name)
    function = FUNCTIONS[index]
    rows = operands(function, element, 2048)
    with np.errstate(all="ignore"):
        emulated = on_emulator(function, element, rows)
    monkeypatch.setattr(math_accuracy, "on_chip", lambda *_: change(emulated.copy()))
    return math_accuracy.case(index, element, 2048, future(emulated), gpu=True)


@pytest.mark.parametrize(
    "name", ["math.erf", "math.fma", "math.isnormal", "math.powf fastmath<afn>"]
)
def test_a_chip_that_agrees_does_not_fail(monkeypatch, name):
    case = case_of(monkeypatch, name, "f32", lambda results: results)
    assert not math_accuracy.fails(case), case
    assert (case["apart"], case["differ"], case["outside"]) == (0, 0, 0)
    assert case["chip"] <= 0.5
    json.dumps(case, allow_nan=False)


def with_number(results, row, number):
    results[row] = number
    return results


@pytest.mark.parametrize(
    "change, key",
    [
        (lambda results: with_number(results, 100, nan), "NaN differs"),
        (
            lambda results: with_number(results, np.flatnonzero(np.isnan(results))[0], 1.0),
            "NaN differs",
        ),
        (lambda results: with_number(results, 5, results[5] * 1.001), "outside"),
    ],
)
def test_a_chip_that_is_wrong_fails(monkeypatch, change, key):
    case = case_of(monkeypatch, "math.erf", "f32", change)
    assert case[key] == 1
    assert math_accuracy.fails(case)
    json.dumps(case, allow_nan=False)


def test_the_sign_of_zero_is_counted(monkeypatch):
    case = case_of(
        monkeypatch, "math.erf", "f32", lambda results: np.where(results == 0, -results, results)
    )
    assert case["sign of zero differs"] >= 2
    assert not math_accuracy.fails(case)


def test_an_exception_is_recorded(monkeypatch):
    def refuse(results):
        raise RuntimeError("no such kernel")

    case = case_of(monkeypatch, "math.erf", "f32", refuse)
    assert case["error"] == "RuntimeError: no such kernel"
    assert math_accuracy.fails(case)
    assert math_accuracy.line(case) == [
        "math.erf f32",
        "RuntimeError: no such kernel",
        *[""] * 6,
    ]


def test_absolute_errors_in_intervals_are_recorded(monkeypatch):
    case = case_of(monkeypatch, "math.cos fastmath<afn>", "f32", lambda results: results)
    assert list(case["chip, absolute"]) == ["[-6.283, 6.283]", "[-314.2, 314.2]"]
    json.dumps(case, allow_nan=False)
    # No result has a bound in ULP.
    assert (case["chip"], case["apart"]) == (None, None)
    assert " in [-6.283, 6.283], " in math_accuracy.line(case)[3]


@pytest.mark.parametrize(
    "name, operand, beyond",
    [
        ("math.sin fastmath<afn>", 1e6, False),
        ("math.sin fastmath<afn>", 1.5, True),
        ("math.cos fastmath<afn>", 300.0, True),
        ("math.tan fastmath<afn>", 1e6, False),
        ("math.tan fastmath<afn>", np.pi / 2, False),
        ("math.tan fastmath<afn>", 1.0, True),
        ("math.log fastmath<afn>", 1.0000001, True),
        ("math.log fastmath<afn>", 3.0, True),
    ],
)
def test_results_without_a_bound_are_never_outside(name, operand, beyond):
    function = BY_NAME[name]
    rows = [np.full(4, operand, np.float32)]
    exact = function.exact(rows[0].astype(np.longdouble))
    computed = (exact + np.array([0, 0.3, 1.0, 1e4])).astype(np.float32)
    far = distance(computed, exact, "f32")
    assert outside(function, "f32", rows, far).tolist() == [False, *[beyond] * 3]


def test_bounds_by_ulps():
    x = np.array([0.4, 1.0, 1.0001, 7.0], np.float32)
    assert bounded_by_ulps(BY_NAME["math.log"], "f32", [x]).tolist() == [True] * 4
    fast = bounded_by_ulps(BY_NAME["math.log fastmath<afn>"], "f32", [x])
    assert fast.tolist() == [True, False, False, True]
    assert not bounded_by_ulps(BY_NAME["math.sin fastmath<afn>"], "f32", [x]).any()
    assert bounded_by_ulps(BY_NAME["math.fpowi"], "f32", [x, x.astype(np.int32)]).all()


def test_approximate_powers_are_nan_where_their_logarithms_are_nan():
    function = BY_NAME["math.powf fastmath<afn>"]
    rows = [np.float32([-2.0, 0.0, 1.0, 2.0]), np.float32([2.0, 0.0, inf, 3.0])]
    with np.errstate(all="ignore"):
        exact = function.exact(*(x.astype(np.longdouble) for x in rows))
    assert np.isnan(exact).tolist() == [True, True, True, False]
    far = distance(np.float32([nan, nan, nan, 8.0]), exact, "f32")
    assert not outside(function, "f32", rows, far).any()


@pytest.mark.parametrize("function, element", CASES, ids=str)
def test_kernels_compile(function, element):
    assert mlir_smem.compile(kernel(function, element, 1024)).cubin


def test_the_record_has_every_op():
    if not RECORD.exists():
        pytest.skip("no chip has been measured yet")
    cases = json.loads(RECORD.read_text())["cases"]
    assert {(case["function"], case["element"]) for case in cases} == {
        (str(function), element) for function, element in CASES
    }
    assert [case for case in cases if math_accuracy.fails(case)] == []
