"""Small mistakes in a kernel: each is one sentence in the words of the language, at its line."""

import math
import operator

import numpy as np
import pytest
from kernel_failures import F, failure

import mlir_smem.language as sl
from mlir_smem import bindings

#: By name: the mistake in a kernel (A, B, a fragment of A), and the message.
MISTAKES = {
    "a function of NumPy": (
        lambda A, B, x: np.exp(x),
        "loop of ufunc does not support argument 0 of type a fragment which has no callable "
        "exp method; write the function of sl, such as sl.exp",
    ),
    "a window in arithmetic": (
        lambda A, B, x: A[0:64, :] * 2,
        "a window 64x64 of the array A (M, 64) of f32 is an operand of *; read it first, by "
        "sl.load",
    ),
    "a fragment and a window": (
        lambda A, B, x: x + A[0:64, :],
        "a window 64x64 of the array A (M, 64) of f32 is an operand of +; read it first, by "
        "sl.load",
    ),
    "a tile in arithmetic": (
        lambda A, B, x: -sl.alloc((64, 64), sl.f32),
        "a tile 64x64 of f32 is an operand of neg; read it first, by sl.load",
    ),
    "an array in arithmetic": (
        lambda A, B, x: 2.0 - A,
        "the array A (M, 64) of f32 is an operand of -; read it first, by sl.load",
    ),
    "@ of fragments": (
        lambda A, B, x: x @ x,
        "elements have no @; of matrices, write sl.mma(a, b), with B in a tile",
    ),
    "@ of windows": (
        lambda A, B, x: A[0:64, :] @ B[0:64, :],
        "a window 64x64 of the array A (M, 64) of f32 is an operand of @; write sl.mma(a, b),"
        " of tiles",
    ),
    "% of floats": (
        lambda A, B, x: x % 2.0,
        "elements of f32 have no %; write x - sl.floor(x / y) * y",
    ),
    "// of floats": (lambda A, B, x: 7.0 // x, "elements of f32 have no //; write sl.floor(x / y)"),
    "& of floats": (
        lambda A, B, x: x & 1,
        "elements of f32 have no &; convert them, by x.to(sl.i32)",
    ),
    "/ of integers": (
        lambda A, B, x: x.to(sl.i32) / 2,
        "elements of i32 have no /; convert them, by x.to(sl.f32)",
    ),
    "** of indices": (
        lambda A, B, x: A.shape[0] ** 2,
        "elements of index have no pow; convert them, by x.to(sl.f32)",
    ),
    "arithmetic with a text": (
        lambda A, B, x: x + "1",
        "unsupported operand type(s) for +: a fragment and 'str'",
    ),
    "arithmetic with None": (
        lambda A, B, x: A.shape[0] * None,
        "unsupported operand type(s) for *: an index and 'NoneType'",
    ),
    "a condition times a number": (
        lambda A, B, x: (sl.block_id(0) < 3) * 2.0,
        "unsupported operand type(s) for *: a condition and 'float'; write "
        "sl.where(condition, x, y)",
    ),
    "a fragment times a condition": (
        lambda A, B, x: x * (sl.block_id(0) < 3),
        "a condition meets elements of f32; write sl.where(condition, x, 0)",
    ),
    "a fragment times its comparison": (
        lambda A, B, x: x * (x > 0.0),
        "a condition meets elements of f32; write sl.where(condition, x, 0)",
    ),
    "f16 meets an index": (
        lambda A, B, x: x.to(sl.f16) * A.shape[0],
        "elements of f16 meet an index; convert one, for example by x.to(sl.f16)",
    ),
    "i32 meets an index": (
        lambda A, B, x: x.to(sl.i32) - A.shape[0],
        "elements of i32 meet an index; convert one, for example by x.to(sl.i32)",
    ),
    "f32 meets positions": (
        lambda A, B, x: x * sl.iota(0),
        "elements of f32 meet elements of index; convert one, for example by x.to(sl.f32)",
    ),
    "a fraction of positions": (
        lambda A, B, x: (x + (sl.iota(0) * 0.5).to(sl.f32)).value,
        "0.5 is used with index; expected a whole number, or x.to(sl.f32)",
    ),
    "a window as A of a product": (
        lambda A, B, x: sl.mma(A[0:64, :], sl.alloc((64, 64), sl.f32)),
        "a window 64x64 of the array A (M, 64) of f32 is A of a product; expected a tile, "
        "which sl.copy fills, or a fragment",
    ),
    "a window as B of a product": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.f32), B[0:64, :]),
        "expected a tile, not a window 64x64 of the array B (M, 64) of f32; sl.copy fills one",
    ),
    "a fragment as B of a product": (
        lambda A, B, x: sl.mma(x.to(sl.bf16), x),
        "expected a tile, not a fragment 64x64 of f32; sl.store fills one",
    ),
    "operands of f32": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.f32), sl.alloc((64, 64), sl.f32)),
        "sl.mma reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which"
        " rounds, or write truncate=True",
    ),
    "operands of two types": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.f16), sl.alloc((64, 64), sl.bf16)),
        "sl.mma multiplies f16 by bf16; expected B of f16",
    ),
    "N that is no multiple of 8": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.f16), sl.alloc((64, 60), sl.f16)),
        "sl.mma has an accumulator of [64, 60]; expected (M, N) with M a multiple of 64 and N of 8",
    ),
    "a window as an accumulator": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.f32), sl.alloc((64, 64), sl.f32), A[0:64, :]),
        "a window 64x64 of the array A (M, 64) of f32 is added to a product; expected an "
        "accumulator, such as sl.zeros",
    ),
    "integers in an accumulator of f32": (
        lambda A, B, x: sl.mma(sl.alloc((64, 64), sl.i8), sl.alloc((64, 64), sl.i8), x),
        "sl.mma adds products of s8 and s8 in f32; expected i32",
    ),
    "a modifier that is unknown": (
        lambda A, B, x: sl.mma(
            sl.alloc((64, 64), sl.f32), sl.alloc((64, 64), sl.f32), transpose=True
        ),
        "sl.mma has no parameter transpose; expected a, b, accumulator, element, negate_a, "
        "negate_b, satfinite, truncate, pair",
    ),
    "a product without operands": (
        lambda A, B, x: sl.mma(),
        "sl.mma() missing 2 required positional arguments: 'a' and 'b'",
    ),
    "a type that no tile holds": (
        lambda A, B, x: sl.alloc((64, 64), sl.f64),
        "sl.alloc has the element type f64, which no tile holds; expected one of f16, bf16, "
        "f32, tf32, e4m3, e5m2, e8m0, padded_e2m1, e2m1, e2m3, e3m2, i8, si8, u8, b1, i32",
    ),
    "an extent that is no constant": (
        lambda A, B, x: sl.alloc((A.shape[0], 64), sl.f32),
        "an index of the running kernel is used as a Python integer, but is known at run time"
        " only; use sl.range for the loop, or a keyword-only parameter for a constant",
    ),
    "zeros of a run-time extent": (
        lambda A, B, x: sl.zeros((A.shape[0], 64), sl.f32),
        "an index of the running kernel is used as a Python integer, but is known at run time"
        " only; use sl.range for the loop, or a keyword-only parameter for a constant",
    ),
    "a tile of one extent": (
        lambda A, B, x: sl.alloc(64, sl.f32),
        "sl.alloc: a tile has the shape (rows, columns) or (stages, rows, columns), not [64]",
    ),
    "a negative extent": (
        lambda A, B, x: sl.alloc((64, -64), sl.f32),
        "sl.alloc has the shape [64, -64]; expected extents from 1",
    ),
    "an extent that is a float": (
        lambda A, B, x: sl.alloc((64, 64.0), sl.f32),
        "sl.alloc: 'float' object cannot be interpreted as an integer",
    ),
    "an accumulator of tf32": (
        lambda A, B, x: sl.zeros((64, 64), sl.tf32),
        "sl.full has an accumulator of tf32; expected f32, f16, i32, bf16, i16, i8, u8, e4m3, "
        "e5m2, i4, u4",
    ),
    "rows that are no multiple of 64": (
        lambda A, B, x: sl.load(A[0:63, :]),
        "sl.load has an accumulator of [63, 64]; expected (M, N) with M a multiple of 64 and "
        "N of 8",
    ),
    "an accumulator without a type": (
        lambda A, B, x: sl.zeros((64, 64)),
        "sl.zeros() missing 1 required positional argument: 'dtype'",
    ),
    "a number of another type": (
        lambda A, B, x: sl.full((64, 64), A[0, 0].to(sl.f16), sl.f32),
        "a number of f16 meets f32; write x.to(sl.f32) to convert it",
    ),
    "an array is loaded whole": (
        lambda A, B, x: sl.load(A),
        "the array A (M, 64) of f32 is taken whole; take a window of a static shape",
    ),
    "a number is loaded": (
        lambda A, B, x: sl.load(A[0, 0]),
        "expected a tile, or a window of an array such as A[0:64, 0:64], not a number of f32",
    ),
    "a row without its axis": (
        lambda A, B, x: sl.load(A[0, :]),
        "a window 64 of the array A (M, 64) of f32 is loaded to a slice; expected axis=1 for "
        "rows, or axis=0 for columns",
    ),
    "an unknown argument of load": (
        lambda A, B, x: sl.load(A[0:64, :], mask=3),
        "sl.load() got an unexpected keyword argument 'mask'",
    ),
    "a number is stored": (
        lambda A, B, x: sl.store(0.0, B[0:64, :]),
        "expected a fragment, not 0.0",
    ),
    "a window is stored": (
        lambda A, B, x: sl.store(A[0:64, :], B[0:64, :]),
        "expected a fragment, not a window 64x64 of the array A (M, 64) of f32; sl.load reads it",
    ),
    "floats are stored as integers": (
        lambda A, B, x: sl.store(x, sl.alloc((64, 64), sl.i32)),
        "sl.store stores f32 to a tile of i32; expected f32, f16, bf16, e4m3, e5m2",
    ),
    "a tile is assigned": (
        lambda A, B, x: operator.setitem(sl.alloc((64, 64), sl.f32), 0, x),
        "a tile object does not support item assignment; write sl.store(value, t[...]), or "
        "sl.where(condition, x, y) for elements",
    ),
    "an element of a fragment is assigned": (
        lambda A, B, x: operator.setitem(x, (0, 0), 1.0),
        "a fragment object does not support item assignment; write sl.store(value, t[...]), "
        "or sl.where(condition, x, y) for elements",
    ),
    "a fragment is assigned to an element": (
        lambda A, B, x: operator.setitem(B, (0, 0), x),
        "a fragment 64x64 of f32 meets a number of f32; expected a number of f32",
    ),
    "a copy of a fragment": (
        lambda A, B, x: sl.copy(x, sl.alloc((64, 64), sl.f32)),
        "expected a tile, or a window of an array such as A[0:64, 0:64], not a fragment 64x64"
        " of f32",
    ),
    "a copy to a window": (
        lambda A, B, x: sl.copy(sl.alloc((64, 64), sl.f32), B[0:64, :]),
        "expected a tile, not a window 64x64 of the array B (M, 64) of f32; sl.copy fills one",
    ),
    "a copy to another type": (
        lambda A, B, x: sl.copy(A[0:64, :], sl.alloc((64, 64), sl.bf16)),
        "sl.copy copies f32 to a tile of bf16",
    ),
    "the length of an array": (lambda A, B, x: len(A), "object of type an array has no len()"),
    "a method that fragments lack": (
        lambda A, B, x: x.mean(axis=1),
        "a fragment 64x64 of f32 has no mean; it has axis, bitcast, dtype, in_flight, is_a, "
        "is_expression, max, min, prod, shape, sum, to",
    ),
    "a method of fragments on a window": (
        lambda A, B, x: A[0:64, :].max(axis=1),
        "a window 64x64 of the array A (M, 64) of f32 has no max; read it first, by sl.load",
    ),
    "a conversion of a tile": (
        lambda A, B, x: sl.alloc((64, 64), sl.f32).to(sl.bf16),
        "a tile 64x64 of f32 has no to; read it first, by sl.load",
    ),
    "an argument that max lacks": (
        lambda A, B, x: x.max(keepdims=True),
        "Fragment.max() got an unexpected keyword argument 'keepdims'",
    ),
    "a conversion to Python's float": (
        lambda A, B, x: A[0, 0].to(float),
        "<class 'float'> is no element type; expected an array, or one of f64, f32, tf32, "
        "f16, bf16, e4m3, e5m2, e8m0, e2m3, e3m2, e2m1, padded_e2m1, i64, i32, i16, i8, u8, "
        "i4, u4, b1, index",
    ),
    "math of Python": (
        lambda A, B, x: math.exp(A[0, 0]),
        "a number of f32 of the running kernel is used as a Python number, but is known at "
        "run time only; use arithmetic on the value itself",
    ),
    "the truth of a fragment": (
        lambda A, B, x: x if x > 0.0 else 0.0,
        "a fragment 64x64 of b1 of the running kernel is used as one truth value, but is "
        "known at run time only; use sl.where(condition, x, y), and & | ~ to combine",
    ),
    "the truth of a window": (
        lambda A, B, x: 1 if A[0:64, :] else 0,
        "a window 64x64 of the array A (M, 64) of f32 is used as a truth value; write x is "
        "not None, or a comparison",
    ),
    "and of fragments": (
        lambda A, B, x: (x > 0.0) and (x < 1.0),
        "a fragment 64x64 of b1 of the running kernel is used as one truth value, but is "
        "known at run time only; use sl.where(condition, x, y), and & | ~ to combine",
    ),
    "where of a fragment of numbers": (
        lambda A, B, x: sl.where(x, 1.0, 0.0),
        "elements of f32 are used as b1; expected a comparison, such as x > 0",
    ),
    "where of a window": (
        lambda A, B, x: sl.where(x > 0.0, A[0:64, :], 0.0),
        "a window 64x64 of the array A (M, 64) of f32 is used as f32; expected a number, or a"
        " fragment",
    ),
    "where of two types": (
        lambda A, B, x: sl.where(sl.block_id(0) < 3, x, x.to(sl.f16)),
        "elements of f32 meet elements of f16; convert one, for example by x.to(sl.f32)",
    ),
    "a function of a Python number": (
        lambda A, B, x: sl.sqrt(64),
        "sl.sqrt of 64; expected a fragment or a number of the kernel",
    ),
    "a function of a window": (
        lambda A, B, x: sl.exp(A[0:64, :]),
        "sl.exp of a window 64x64 of the array A (M, 64) of f32; expected a fragment or a "
        "number of the kernel",
    ),
    "a loop to a quotient of floats": (
        lambda A, B, x: sl.range(A.shape[0] / 64),
        "expected an index or an integer, not a number of f32; x.to(sl.index) converts it, "
        "and x // y is a whole quotient",
    ),
    "a slice from a float": (
        lambda A, B, x: A[A.shape[0] / 2 : 64, :],
        "dimension 0 of the array A (M, 64) of f32 is sliced at a number of f32; "
        "x.to(sl.index) converts it, and x // y is a whole quotient",
    ),
    "an element from the end": (
        lambda A, B, x: A[-1, 0],
        "element -1 of dimension 0 of the array A (M, 64) of f32 is counted from an end that "
        "is known at run time; write A.shape[0] - 1",
    ),
    "a window from the end": (
        lambda A, B, x: A[sl.ds(-64, 64), :],
        "element -64 of dimension 0 of the array A (M, 64) of f32 is counted from an end that"
        " is known at run time; write A.shape[0] - 64",
    ),
    "a window of no elements": (
        lambda A, B, x: A[sl.ds(0, 0), :],
        "0 elements of dimension 0 of the array A (M, 64) of f32 are taken from 0; expected 1"
        " or more, from an index",
    ),
    "a window of a run-time size": (
        lambda A, B, x: A[sl.ds(0, A.shape[0]), :],
        "an index of the running kernel is used as a Python integer, but is known at run time"
        " only; use sl.range for the loop, or a keyword-only parameter for a constant",
    ),
    "columns that begin in a register": (
        lambda A, B, x: x[:, 4:12],
        "the slice takes 64x8 of f32 from column 4 of 64x64 of f32; expected all 64 rows, "
        "from a multiple of 8, within 64 columns",
    ),
    "an element of a fragment": (
        lambda A, B, x: x[0, 0],
        "a fragment 64x64 of f32 is indexed; expected numbers, x[:, first:last] or "
        "x[first:last, :]",
    ),
    "a broadcast to 63": (
        lambda A, B, x: sl.broadcast(x.max(axis=1), 63),
        "sl.broadcast has an accumulator of [64, 63]; expected (M, N) with M a multiple of 64"
        " and N of 8",
    ),
    "a word that reductions lack": (
        lambda A, B, x: sl.reduce(x, "mean", 1),
        'sl.reduce reduces f32 by "mean"; expected one of add, mul, maximumf, maxnumf, '
        "minimumf, minnumf",
    ),
    "stages of a pipeline": (
        lambda A, B, x: sl.pipeline(0),
        "sl.pipeline has stages = 0; expected 1 or more",
    ),
    "an election of a cluster": (
        lambda A, B, x: sl.elect("cluster"),
        'sl.elect has the scope \'cluster\'; expected "warpgroup" or "cta"',
    ),
    "when without with": (
        lambda A, B, x: sl.when(sl.block_id(0) < 1),
        "sl.when(...) does nothing by itself; write with sl.when(...):",
    ),
    "an index in a set": (
        lambda A, B, x: sl.block_id(0) in {1, 2},
        "unhashable type: an index; compare it with each key: (i == 1) | (i == 2)",
    ),
    "a key of a dictionary": (
        lambda A, B, x: {0: 1}[sl.block_id(0)],
        "unhashable type: an index; compare it with each key: (i == 1) | (i == 2)",
    ),
    "range without a bound": (
        lambda A, B, x: sl.range(),
        "sl.range() missing 1 required positional argument: 'start'",
    ),
    "f64 to an accumulator": (
        lambda A, B, x: sl.load(A[0:64, :], sl.f64),
        "sl.load has an accumulator of f64; expected f32, f16, i32, bf16, i16, i8, u8, e4m3, "
        "e5m2, i4, u4",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake(name, capfd):
    mistake, message = MISTAKES[name]

    def kernel(A, B):
        mistake(A, B, sl.load(A[0:64, :]))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)")(kernel).trace(F, F)
    position, code = caught.value.position, mistake.__code__
    assert caught.value.message == message
    assert position is not None and position.file == __file__
    assert position.line in {line for *_, line in code.co_lines()} | {
        kernel.__code__.co_firstlineno + 1
    }
    assert capfd.readouterr() == ("", "")


def test_a_range_that_is_iterated_twice():
    def kernel(A, B):
        steps = sl.range(2)
        for _ in steps:
            sl.barrier()
        for _ in steps:
            sl.barrier()

    message, line, _ = failure(kernel)
    assert message == "this sl.range was iterated before; write sl.range(...) in each for"
    assert line == "for _ in steps:"


def test_an_op_without_lowering(capfd):
    def kernel(A, B):
        x = sl.load(A)
        sl.store(sl.map(bindings.math.ipowi, x, x, dtype=sl.i32), B)

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(64,64), (64,64)")(kernel).ptx(sl.i32, sl.i32)
    assert "'math.ipowi' op has no lowering" in caught.value.message
    assert caught.value.position.line == kernel.__code__.co_firstlineno + 2
    assert capfd.readouterr().err == ""


def test_errors_of_python_that_are_no_misuse():
    def kernel(A, B):
        _ = 3 + "x"

    with pytest.raises(TypeError, match="unsupported operand"):
        sl.kernel("(M,64), (M,64)")(kernel).trace(F, F)


def test_conditions_are_equal_by_value():
    def kernel(A, B):
        first, second = sl.block_id(0) < 1, sl.block_id(0) < 2
        assert all(isinstance(c, sl.Bool) for c in (first == second, first != True, first ^ second))  # noqa: E712
        assert (first == None) is False  # noqa: E711

    sl.kernel("(M,64), (M,64)")(kernel).trace(F, F)
