"""Mistakes in a kernel: one sentence, at its line, with what would fit."""

import pytest
from kernel_failures import F, failure

import mlir_smem.language as sl


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


def test_python_list_of_an_extent():
    def kernel(A, B):
        _ = [0] * A.shape[0]

    message, line, _ = failure(kernel)
    assert "is used as a Python integer" in message
    assert "use sl.range" in message
    assert line == "_ = [0] * A.shape[0]"


def test_a_while_in_code_without_source():
    namespace = {"sl": sl}
    exec("def kernel(A, B):\n    while sl.block_id(0) < 4:\n        pass", namespace)
    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)")(namespace["kernel"]).trace(sl.f32, sl.f32)
    assert caught.value.message == (
        "a condition of the running kernel is used as a Python truth value, but is known at run time "
        "only; use with sl.when(condition): or sl.where, and & | ~ to combine"
    )


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
    fragments = []

    def one(A, B):
        fragments.append(sl.load(A[0:64, :]))

    def two(A, B):
        sl.store(fragments[0], B[0:64, :])

    sl.kernel("(M,64), (M,64)", sync="manual")(one).trace(F, F)
    message, line, _ = failure(two)
    assert message == (
        "a fragment 64x64 of f32 is used here, but the kernel one defines it and has ended; give it a "
        "value before, so that it is carried out"
    )
    assert line == "sl.store(fragments[0], B[0:64, :])"


@pytest.mark.parametrize(
    ("subscript", "expected"),
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
def test_a_tile_sliced_outside_of_its_shape(subscript, expected):
    def kernel(A, B):
        subscript(sl.alloc((64, 64), sl.f32))

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


@pytest.mark.parametrize("copy", [sl.copy, sl.copy_async])
@pytest.mark.parametrize("extent", [(slice(0, 32),), (0,)])
def test_a_window_of_another_shape_is_copied(copy, extent):
    def kernel(A, B):
        copy(A[(slice(0, 64), *extent)], sl.alloc((64, 64), sl.f32))

    message = failure(kernel)[0]
    assert message.endswith("is copied to a tile 64x64 of f32; expected a window 64x64")
    shape = "64x32" if extent != (0,) else "64"
    assert message.startswith(f"a window {shape} of the array A (M, 64) of f32")


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
