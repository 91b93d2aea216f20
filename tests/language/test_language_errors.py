"""Mistakes in a kernel: one sentence, at its line, with what would fit."""

import inspect

import pytest

import mlir_smem.language as sl

F = sl.f32


def failure(function, signature="(M,64), (M,64)", given=(F, F), **options):
    """Trace a function, and return its error, whose position is in the function."""
    options.setdefault("sync", "manual")
    with pytest.raises(sl.TraceError) as caught:
        sl.kernel(signature, **options)(function).trace(*given)
    error = caught.value
    lines, first = inspect.getsourcelines(function)
    assert error.position is not None, error
    assert error.position.file == __file__
    assert first <= error.position.line < first + len(lines)
    marked = [lines[error.position.line - first]]
    assert "\n" not in error.message
    return error.message, marked[0].strip(), str(error)


def test_a_loop_variable_is_no_python_integer():
    def kernel(A, B):
        for k in sl.range(4):
            _ = [0, 1, 2, 3][k]

    message, line, text = failure(kernel)
    assert message == (
        "k, an index of the running kernel, is used as a Python integer, but is known at run time "
        "only; use sl.range for the loop, or a keyword-only parameter for a constant"
    )
    assert line == "_ = [0, 1, 2, 3][k]"
    assert text.splitlines()[1:] == [f"    {line}", "        ^~~~~~~~~~~~~~~"]


def test_python_range_of_an_extent():
    def kernel(A, B):
        for _ in range(A.shape[0]):
            pass

    message, line, _ = failure(kernel)
    assert "is used as a Python integer" in message
    assert "use sl.range" in message
    assert line == "for _ in range(A.shape[0]):"


def test_an_if_on_a_condition_of_the_kernel():
    def kernel(A, B):
        block = sl.block_id(0)
        if block < 4:
            pass

    message, line, _ = failure(kernel)
    assert message == (
        "a condition of the running kernel is used as a Python truth value, but is known at run time "
        "only; use with sl.when(condition): or sl.where"
    )
    assert line == "if block < 4:"


def test_iterating_over_a_fragment():
    def kernel(A, B):
        for _ in sl.load(A[0:64, :]):
            pass

    assert "is used as a Python iterable" in failure(kernel)[0]


def test_a_number_of_the_kernel_is_no_python_number():
    def kernel(A, B):
        float(A[0, 0])

    assert "is used as a Python number" in failure(kernel)[0]


def test_mixed_extents():
    def kernel(A, B):
        a = sl.load(A[0:64, :])
        b = sl.load(A[0:64, 0:32])
        sl.store(a + b, B[0:64, :])

    message, line, _ = failure(kernel)
    assert message == (
        "a fragment 64x32 of f32 meets a fragment 64x64 of f32; expected fragments of the same shape"
    )
    assert line == "sl.store(a + b, B[0:64, :])"


def test_types_that_do_not_meet():
    def kernel(A, B):
        a = sl.load(A[0:64, :])
        b = a.to(sl.f16)
        sl.store(a + b, B[0:64, :])

    message, _, _ = failure(kernel)
    assert message == (
        "elements of f32 meet elements of f16; convert one, for example by x.to(sl.f32)"
    )


def test_a_value_that_escapes_its_loop():
    def kernel(A, B):
        for k in sl.range(4):
            row = k * 64
        sl.store(sl.load(A[0:64, :]), B[row : row + 64, :])

    message, line, _ = failure(kernel)
    assert "row is used here, but the loop in line" in message
    assert "defines it and has ended; give it a value before" in message
    assert line.startswith("sl.store")


def test_a_value_that_escapes_its_branch():
    def kernel(A, B):
        with sl.when(sl.block_id(0) < 4):
            row = sl.block_id(1) * 64
        sl.store(sl.load(A[0:64, :]), B[row : row + 64, :])

    assert "row is used here, but the branch in line" in failure(kernel)[0]


def test_what_a_partition_changed_is_undefined_after_it():
    def kernel(A, B):
        row = sl.block_id(0)
        with sl.warp_specialize(), sl.partition():
            row = row + 64
        sl.store(sl.load(A[0:64, :]), B[row : row + 64, :])

    assert "row is used here, but the partition in line" in failure(kernel)[0]


def test_a_fragment_of_another_kernel():
    kept = []

    def one(A, B):
        kept.append(sl.load(A[0:64, :]))

    def two(A, B):
        sl.store(kept[0], B[0:64, :])

    sl.kernel("(M,64), (M,64)", sync="manual")(one).trace(F, F)
    message, line, _ = failure(two)
    assert message == (
        "a fragment 64x64 of f32 is used here, but the kernel one defines it and has ended; give it a "
        "value before, so that it is carried out"
    )
    assert line == "sl.store(kept[0], B[0:64, :])"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (
            lambda t: t[0:64, 32:96],
            "32 : 96 of dimension 1 of a tile 64x64 of f32 is outside of its extent 64",
        ),
        (
            lambda t: t[64, :],
            "element 64 of dimension 0 of a tile 64x64 of f32 is outside of its extent 64",
        ),
        (lambda t: t[0, :], "an element of a tile 64x64 of f32 is taken"),
        (lambda t: t[0:64:2, :], "is sliced with a step"),
        (lambda t: t[0:0, :], "is sliced to 0 elements; expected 1 or more"),
        (lambda t: t[0:64, 0:64, 0:1], "has 2 dimensions, but 3 indices are given"),
        (lambda t: t["x", :], "is indexed by 'x'; expected an index, start : stop, or sl.ds"),
        (lambda t: t[sl.ds(sl.block_id(0), 65), :], "65 elements of dimension 0 of a tile"),
        (lambda t: t[1.5:64, :], "dimension 0 of a tile 64x64 of f32 is sliced at 1.5"),
    ],
)
def test_a_tile_sliced_outside_of_its_shape(at, expected):
    def kernel(A, B):
        at(sl.alloc((64, 64), sl.f32))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    assert expected in caught.value.message


def test_stages_are_taken_one_at_a_time():
    def kernel(A, B):
        sl.alloc((4, 64, 64), sl.f32)[0:2]

    assert "stages of a tile 4x64x64 of f32 are taken one at a time" in failure(kernel)[0]


def test_a_tile_with_stages_is_no_operand():
    def kernel(A, B):
        sl.copy(A[0:64, :], sl.alloc((4, 64, 64), sl.f32))

    assert "a tile 4x64x64 of f32 has 4 stages; take one, t[i]" in failure(kernel)[0]


def test_a_window_without_a_static_size():
    def kernel(A, B):
        row = sl.block_id(0)
        A[row : row * 2, :]

    message, _, _ = failure(kernel)
    assert (
        "is sliced from an index to an index, whose distance is known at run time only" in message
    )
    assert "expected start : start + number, or sl.ds(start, size)" in message


def test_a_window_to_the_end_of_an_unknown_extent():
    def kernel(A, B):
        A[64:, :]

    assert "has an extent that is known at run time; expected start : stop" in failure(kernel)[0]


def test_a_window_of_another_shape_is_copied():
    def kernel(A, B):
        sl.copy(A[0:64, 0:32], sl.alloc((64, 64), sl.f32))

    message = failure(kernel)[0]
    assert message.endswith("is copied to a tile 64x64 of f32; expected a window 64x64")
    assert message.startswith("a window 64x32 of the array A (M, 64) of f32")


def test_a_fragment_is_stored_to_a_window_of_another_shape():
    def kernel(A, B):
        sl.store(sl.load(A[0:64, :]), B[0:64, 0:32])

    assert (
        "is stored to a window 64x32 of the array B (M, 64) of f32; expected a window or tile 64x64"
        in (failure(kernel)[0])
    )


def test_an_accumulator_in_flight_is_read():
    def kernel(A, B):
        a = sl.alloc((64, 64), sl.bf16)
        acc = sl.mma(a, a)
        sl.store(acc, B[0:64, :])

    assert failure(kernel)[0] == (
        "a fragment 64x64 of f32 in flight is read, but its mma may still run; write acc = sl.wait(acc) "
        "before"
    )


def test_k_differs():
    def kernel(A, B):
        sl.mma(sl.alloc((64, 64), sl.bf16), sl.alloc((32, 64), sl.bf16))

    assert failure(kernel)[0] == "A of 64x64 is multiplied by B of 32x64: K differs, 64 and 32"


def test_an_accumulator_of_another_shape():
    def kernel(A, B):
        a = sl.alloc((64, 64), sl.bf16)
        sl.mma(a, a, sl.zeros((64, 128), sl.f32))

    assert failure(kernel)[0] == (
        "the product of 64x64 and 64x64 is added to a fragment 64x128 of f32; expected an accumulator "
        "64x64"
    )


def test_a_fragment_that_is_no_a():
    def kernel(A, B):
        sl.mma(sl.load(A[0:64, :]), sl.alloc((64, 64), sl.bf16))

    assert (
        (failure(kernel)[0])
        == "a fragment 64x64 of f32 is A of a product with bf16; convert it, by x.to(sl.bf16)"
    )


def test_a_product_is_added_to_a_number():
    def kernel(A, B):
        a = sl.alloc((64, 64), sl.bf16)
        sl.mma(a, a, 0)

    assert "0 is added to a product; expected an accumulator" in failure(kernel)[0]


def test_waiting_for_a_readable_accumulator():
    def kernel(A, B):
        sl.wait(sl.load(A[0:64, :]))

    assert (
        "is waited for; expected an accumulator in flight, the result of sl.mma"
        in failure(kernel)[0]
    )


def test_a_variable_changes_its_shape_in_a_loop():
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        for _ in sl.range(4):
            x = x[:, 0:32]

    assert failure(kernel)[0].startswith("x is a fragment 64x64 of f32 before the loop in line")
    assert (
        "and a fragment 64x32 of f32 after it; a variable keeps its shape and type"
        in (failure(kernel)[0])
    )


def test_an_accumulator_is_waited_for_in_the_loop_alone():
    def kernel(A, B):
        a = sl.alloc((64, 64), sl.bf16)
        acc = sl.mma(a, a)
        for _ in sl.range(4):
            acc = sl.wait(sl.mma(a, a, acc))

    assert failure(kernel)[0] == (
        "acc is in flight before the loop, and readable after its body; put sl.wait before the loop, or "
        "at the end of its body"
    )


def test_a_python_number_that_depends_on_the_iteration():
    def kernel(A, B):
        x = 1.0
        for _ in sl.range(4):
            x = x * 2.0

    message = failure(kernel)[0]
    assert message.startswith("x is the Python number 1.0 before the loop in line")
    assert "and 2.0 after its body, which is traced once" in message


def test_an_index_that_may_become_negative():
    def kernel(A, B):
        i = 10
        for _ in sl.range(4):
            i = i - 1

    message = failure(kernel)[0]
    assert message.startswith("i is 0 or more before the loop in line")
    assert "write sl.unsigned(...) around a difference that is not, or sl.signed(...)" in message


def test_a_break():
    def kernel(A, B):
        for k in sl.range(4):
            if k is not None:
                break
        sl.barrier()

    message, line, _ = failure(kernel)
    assert "the loop in line" in message and "was left before its end" in message
    assert line == "for k in sl.range(4):"


def test_a_return_from_a_loop():
    def kernel(A, B):
        for _ in sl.range(4):
            return

    assert (
        "was left before its end; a loop of the kernel has no break and no return"
        in failure(kernel)[0]
    )


def test_a_range_outside_of_a_for_statement():
    def kernel(A, B):
        list(sl.range(4))

    assert failure(kernel)[0] == "sl.range is not in a for statement; write for k in sl.range(n):"


def test_a_step_below_one():
    def kernel(A, B):
        for _ in sl.range(0, 4, 0):
            pass

    assert failure(kernel)[0] == "sl.range has the step 0; expected 1 or more"


def test_an_otherwise_without_a_when():
    def kernel(A, B):
        with sl.otherwise():
            pass

    assert failure(kernel)[0] == "sl.otherwise() does not follow the block of an sl.when"


def test_an_otherwise_after_something_else():
    def kernel(A, B):
        with sl.when(sl.block_id(0) < 1):
            pass
        sl.barrier()
        with sl.otherwise():
            pass

    assert failure(kernel)[0] == "sl.otherwise() does not follow the block of an sl.when"


def test_a_condition_that_is_none():
    def kernel(A, B):
        with sl.when(sl.block_id(0)):
            pass

    assert failure(kernel)[0] == "expected a condition, for example k < n, not an index"


def test_a_branch_changes_what_was_no_value():
    def kernel(A, B):
        x = 1.5
        with sl.when(sl.block_id(0) < 1):
            x = sl.load(A[0:64, :])
        sl.store(x, B[0:64, :])

    assert "x is 1.5 before the branch in line" in failure(kernel)[0]


def test_positions_have_no_shape():
    def kernel(A, B):
        sl.store(sl.iota(0).to(sl.f32), B[0:64, :])

    assert "an expression of positions and numbers alone has no shape" in failure(kernel)[0]


def test_an_element_type_that_no_accumulator_has():
    def kernel(A, B):
        x = sl.load(A[0:64, :]).to(sl.bf16)
        sl.store(x, B[0:64, :])

    assert (
        "a fragment 64x64 of bf16 is no accumulator; expected f32, f16 or i32" in failure(kernel)[0]
    )


def test_a_function_that_integers_do_not_have():
    def kernel(A, B):
        sl.exp(sl.load(A[0:64, :]).to(sl.i32))

    assert failure(kernel)[0] == "elements of i32 have no exp"


def test_a_function_of_a_tile():
    def kernel(A, B):
        sl.exp(sl.alloc((64, 64), sl.f32))

    assert (
        (failure(kernel)[0])
        == "sl.exp of a tile 64x64 of f32; expected a fragment or a number of the kernel"
    )


def test_a_fraction_meets_integers():
    def kernel(A, B):
        sl.store(sl.load(A[0:64, :]).to(sl.i32) + 0.5, B[0:64, :])

    assert "0.5 is used with i32; expected a whole number, or x.to(sl.f32)" in failure(kernel)[0]


def test_the_grid_is_declared_twice():
    def kernel(A, B):
        sl.grid(A.shape[0])
        sl.grid(A.shape[0])

    assert failure(kernel)[0] == "the grid is declared twice; call sl.grid once"


def test_a_grid_of_something_else():
    def kernel(A, B):
        sl.grid(A.shape[0] * 2)

    message = failure(kernel)[0]
    assert "the grid along x is an index; expected sl.cdiv(extent, number) of an extent" in message


def test_a_multiple_of_something_else():
    def kernel(A, B):
        sl.multiple_of(A.shape[0] * 2, 64)

    assert (
        "sl.multiple_of takes an extent of an array, such as M, K = A.shape; not an index"
        in (failure(kernel)[0])
    )


def test_a_fixed_extent_that_is_no_multiple():
    def kernel(A, B):
        sl.multiple_of(A.shape[1], 48)

    assert failure(kernel)[0] == "the extent 64 is not a multiple of 48"


def test_dividing_by_zero():
    def kernel(A, B):
        _ = sl.block_id(0) // 0

    assert failure(kernel)[0] == "an index is divided by 0"


def test_a_kernel_returns_a_value():
    def kernel(A, B):
        return A

    with pytest.raises(
        sl.TraceError, match="the kernel kernel returns a value; it writes its results"
    ):
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)


def test_a_rule_of_an_op_is_an_error_at_the_line():
    def kernel(A, B):
        a = sl.alloc((64, 8), sl.bf16)
        b = sl.alloc((8, 64), sl.bf16)
        sl.mma(a, b)

    message, line, text = failure(kernel)
    assert message.startswith("'smem.mma' op ")
    assert line == "sl.mma(a, b)"
    assert text.splitlines()[2].strip().startswith("^")


def test_a_mistake_in_a_function_that_the_kernel_calls():
    def helper(A):
        return A[0:64, 0:128]

    def kernel(A, B):
        helper(A)

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    assert "0 : 128 of dimension 1" in caught.value.message
    _, first = inspect.getsourcelines(helper)
    assert caught.value.position.line == first + 1


def test_the_traceback_has_no_frames_of_the_language():
    def kernel(A, B):
        A[0:64, 0:128]

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    files = [entry.path.name for entry in caught.traceback]
    assert files[0] == files[-1] == "test_language_errors.py"
    assert set(files[1:-1]) == {"kernel.py"}


def test_the_language_outside_of_a_kernel():
    with pytest.raises(sl.TraceError, match="no kernel is being traced"):
        sl.alloc((64, 64), sl.f32)


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("(M,K", "is malformed at '(M,K'"),
        ("(M,K),", "ends with a comma"),
        ("(M,-1)", "has '-1' as an extent"),
        ("(M,K):(?,1,1)", "has 2 extents, but 3 strides"),
        ("(M,K):(?,x)", "has 'x' as a stride"),
        ("(M,K):f3", "'f3' is no element type"),
        ("(M,K), (M,K)", "has 2 parameters, but kernel has 1: A"),
    ],
)
def test_signatures(signature, expected):
    def kernel(A):
        pass

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel(signature)(kernel)
    assert expected in str(caught.value)


def test_arguments_of_a_trace():
    @sl.kernel("(M,64), (M,64):f16", sync="manual")
    def kernel(A, B, *, rows=64, columns):
        pass

    with pytest.raises(sl.TraceError, match=r"kernel takes 2 arguments \(A, B\), not 1"):
        kernel.trace(F)
    with pytest.raises(sl.TraceError, match="B of kernel is of f32; expected f16"):
        kernel.trace(F, F, columns=1)
    with pytest.raises(sl.TraceError, match="kernel needs the constant columns"):
        kernel.trace(F, sl.f16)
    with pytest.raises(sl.TraceError, match="has no constant depth; it has rows, columns"):
        kernel.trace(F, sl.f16, depth=1)
    with pytest.raises(sl.TraceError, match="is no element type; expected an array, or one of"):
        kernel.trace("float", sl.f16, columns=1)


def test_parameters_of_a_kernel():
    def some(*arrays):
        pass

    def option(A, *, arch):
        pass

    with pytest.raises(sl.TraceError, match="a kernel has a fixed number of them"):
        sl.kernel("(M,K)")(some)
    with pytest.raises(sl.TraceError, match="has the constant arch, which is an option of a call"):
        sl.kernel("(M,K)")(option)
    with pytest.raises(sl.TraceError, match="sync is 'none'; expected 'auto' or 'manual'"):
        sl.kernel("(M,K)", sync="none")


def test_a_slice_of_another_extent():
    def kernel(A, B):
        x = sl.load(A[0:128, :])
        sl.store(sl.load(A[0:64, :]) - x.max(axis=1), B[0:64, :])

    assert failure(kernel)[0] == (
        "a slice of 128 rows of f32 meets a fragment 64x64 of f32; expected a slice with 64 rows"
    )


def test_rows_meet_columns_without_a_matrix():
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        x.max(axis=1) + x.max(axis=0)

    assert failure(kernel)[0] == (
        "a slice of 64 columns of f32 meets a slice of 64 rows of f32; expected two slices along the "
        "same axis, or a matrix to broadcast them to"
    )


def test_positions_that_a_slice_does_not_have():
    def kernel(A, B):
        x = sl.load(A[0:64, :]).max(axis=1)
        (x * sl.iota(1).to(sl.f32)).value

    assert "a slice of 64 rows of f32 has no positions along axis 1" in failure(kernel)[0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.max(axis=1)[0:3], "is indexed; expected m[:, None], or no index"),
        (lambda x: x.max(axis=0)[:, None], "is indexed; expected m[None, :], or no index"),
        (lambda x: x[0:3, :], "is indexed; expected columns, x[:, first:last]"),
        (lambda x: x[:, 8:8], "has no columns 8 : 8"),
        (lambda x: x[:, 4:20], "takes tensor<64x16xf32> from column 4"),
        (lambda x: x.max(axis=2), "is reduced along axis 2; expected 0 (columns) or 1 (rows)"),
        (
            lambda x: x.max(axis=1).max(axis=1),
            "a slice of 64 rows of f32 is reduced; expected a matrix",
        ),
        (lambda x: sl.iota(2), "positions are along axis 0 (rows) or 1 (columns), not 2"),
        (lambda x: sl.zeros((64,), sl.f32), "a slice of 64 elements needs its axis"),
        (lambda x: sl.where(1.0, 2.0, 3.0), "where has no fragment among its operands"),
        (lambda x: x + "1", None),
    ],
)
def test_fragments(function, expected):
    def kernel(A, B):
        function(sl.load(A[0:64, :]))

    with pytest.raises((sl.TraceError, TypeError)) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    if expected:
        assert expected in str(caught.value)
