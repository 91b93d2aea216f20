"""Arrays against a kernel's manifest: what fits, and the errors of what does not."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.runtime import LaunchError, Matrix
from mlir_smem.runtime.arguments import (
    DTYPES,
    check_matrix,
    host_arrays,
    kernel_named,
    pack,
    shape_from,
    solve_extents,
)

BF16 = ml_dtypes.bfloat16


def argument(name, shape, element="bf16", strides=(None, 1), alignment=16):
    return {
        "name": name,
        "kind": "memref",
        "element": element,
        "shape": list(shape),
        "strides": list(strides),
        "alignment": alignment,
    }


A, B, C = argument("A", "MK"), argument("B", "KN"), argument("C", "MN")
SCALAR = {"name": "n", "kind": "scalar", "type": "index"}


def kernel(*arguments, grid=None, cluster=None, multiples=None, entry="matmul"):
    return {
        "entry": entry,
        "arguments": list(arguments or (A, B, C)),
        "cluster": cluster,
        "grid": grid,
        "multiples": multiples or {},
    }


def message_of(error):
    return str(error.value)


# Choice of the kernel.

TWO = {"kernels": [kernel(entry="first"), kernel(entry="second")]}


def test_the_only_kernel_needs_no_name():
    assert kernel_named({"kernels": [kernel()]}, None)["entry"] == "matmul"


def test_a_kernel_by_its_name():
    assert kernel_named(TWO, "second")["entry"] == "second"


@pytest.mark.parametrize(
    "entry, message",
    [
        (None, "name a kernel; the module has first, second"),
        ("third", "no kernel is named 'third'; the module has first, second"),
    ],
)
def test_an_unknown_kernel(entry, message):
    with pytest.raises(LaunchError) as error:
        kernel_named(TWO, entry)
    assert message_of(error) == message


def test_the_only_kernel_by_a_wrong_name():
    with pytest.raises(LaunchError, match="no kernel is named 'x'; the module has matmul"):
        kernel_named({"kernels": [kernel()]}, "x")


# Extents.


def test_extents_follow_from_shapes():
    shapes = {"A": (128, 64), "B": (64, 256), "C": (128, 256)}
    assert solve_extents(kernel(), shapes) == {"M": 128, "K": 64, "N": 256}


def test_extents_of_the_given_arrays():
    assert solve_extents(kernel(), {"A": (128, 64)}) == {"M": 128, "K": 64}


def test_static_and_unnamed_extents_have_no_name():
    assert solve_extents(kernel(argument("A", [64, None])), {"A": (64, 5)}) == {}


def test_scalars_have_no_extents():
    assert solve_extents(kernel(A, SCALAR), {"A": (128, 64)}) == {"M": 128, "K": 64}


@pytest.mark.parametrize(
    "made, shapes, message",
    [
        (kernel(), {"A": (128,)}, "A has 1 dimensions; expected 2"),
        (kernel(), {"A": (128, 64), "B": (32, 256)}, "K is 64 in A but 32 in B"),
        (kernel(argument("A", "MM")), {"A": (4, 5)}, "M is 4 in A but 5 in A"),
        (kernel(argument("A", [64, "K"])), {"A": (65, 8)}, "A is [65, 8]; expected [64, 'K']"),
        (
            kernel(multiples={"K": 64}),
            {"A": (128, 100)},
            "K is 100; expected a positive multiple of 64",
        ),
        (
            kernel(multiples={"K": 64}),
            {"A": (128, 0)},
            "K is 0; expected a positive multiple of 64",
        ),
    ],
)
def test_shapes_that_do_not_fit(made, shapes, message):
    with pytest.raises(LaunchError) as error:
        solve_extents(made, shapes)
    assert message_of(error) == message


def test_a_multiple_of_an_unknown_extent_is_not_checked():
    assert solve_extents(kernel(multiples={"N": 256}), {"A": (1, 2)}) == {"M": 1, "K": 2}


def test_a_shape_follows_from_extents():
    assert shape_from(argument("C", ["M", 8, "N"]), {"M": 128, "N": 256}) == (128, 8, 256)


@pytest.mark.parametrize("shape", [["M", "N"], ["M", None]])
def test_a_shape_that_does_not_follow(shape):
    with pytest.raises(LaunchError) as error:
        shape_from(argument("C", shape), {"M": 128})
    assert message_of(error) == (
        f"the shape {shape} of C does not follow from the inputs; give its arguments smem.shape, "
        "or a static type"
    )


# Arrays in host memory.


def ones(*shape, dtype=BF16):
    return np.ones(shape, dtype)


def test_inputs_are_passed_unchanged_and_outputs_start_as_zeros():
    inputs = {"A": ones(128, 64), "B": np.asfortranarray(ones(64, 256))}
    arrays = host_arrays(kernel(), inputs, ["C"])
    assert list(arrays) == ["A", "B", "C"]
    assert arrays["A"] is inputs["A"]
    assert arrays["B"] is inputs["B"]
    assert (arrays["C"].shape, arrays["C"].dtype, arrays["C"].any()) == ((128, 256), BF16, False)


def test_an_input_that_is_also_an_output_keeps_its_values():
    inputs = {"A": ones(8, 8), "B": ones(8, 8), "C": ones(8, 8)}
    assert host_arrays(kernel(), inputs, ["C"])["C"] is inputs["C"]


@pytest.mark.parametrize("element", DTYPES)
def test_every_element_type(element):
    kernel_entry = kernel(argument("X", [4], element, [1]), argument("Y", [4], element, [1]))
    arrays = host_arrays(kernel_entry, {"X": ones(4, dtype=DTYPES[element])}, ["Y"])
    assert arrays["Y"].dtype == DTYPES[element]


@pytest.mark.parametrize(
    "made, inputs, outputs, message",
    [
        (kernel(), {"X": ones(1)}, ["Y"], "matmul has no argument X, Y; it has A, B, C"),
        (kernel(), {"A": ones(1, 1)}, ["C"], "nothing is given for B"),
        (kernel(), {}, ["C"], "nothing is given for A, B"),
        (
            kernel(),
            {"A": ones(8, 8), "B": ones(8, 8, dtype=np.float32)},
            ["C"],
            "B has elements of float32; expected bf16",
        ),
        (
            kernel(argument("A", "M", "tf32"), C),
            {"A": ones(8, dtype=np.float32)},
            ["C"],
            "A has elements of tf32, a type that NumPy lacks",
        ),
        (
            kernel(argument("A", "M", "f32"), C),
            {"A": ones(8, dtype=np.float64)},
            ["C"],
            "A has elements of float64; expected f32",
        ),
        (
            kernel(argument("A", "M", "f64"), C),
            {"A": ones(8, dtype=np.float32)},
            ["C"],
            "A has elements of float32; expected f64",
        ),
        (
            kernel(A, SCALAR),
            {"A": ones(8, 8)},
            ["n"],
            "n is a index; only arrays can be read back",
        ),
        (kernel(), {"A": ones(8, 8), "B": ones(4, 8)}, ["C"], "K is 8 in A but 4 in B"),
        (
            kernel(A, argument("C", ["M", None])),
            {"A": ones(8, 8)},
            ["C"],
            "the shape ['M', None] of C does not follow from the inputs; give its arguments "
            "smem.shape, or a static type",
        ),
    ],
)
def test_arrays_that_do_not_fit(made, inputs, outputs, message):
    with pytest.raises(LaunchError) as error:
        host_arrays(made, inputs, outputs)
    assert message_of(error) == message


def test_a_column_major_output():
    kernel_entry = kernel(A, argument("C", ["M", "K"], strides=[1, None]))
    array = host_arrays(kernel_entry, {"A": ones(16, 64)}, ["C"])["C"]
    check_matrix(kernel_entry["arguments"][1], view(array))


@pytest.mark.parametrize(
    "strides, made_with",
    [
        # Batches of column-major matrices, with static and dynamic strides.
        ([512, 1, 8], (512, 1, 8)),
        ([None, 1, None], (512, 1, 8)),
        # Padded rows.
        ([1024, 96, 1], (1024, 96, 1)),
        ([None, None, 1], (512, 64, 1)),
        ([1, None, None], (1, 3, 24)),
        ([None, None, None], (512, 64, 1)),
    ],
)
def test_an_output_has_the_kernels_strides(strides, made_with):
    kernel_entry = kernel(argument("C", [3, 8, 64], strides=strides))
    array = host_arrays(kernel_entry, {}, ["C"])["C"]
    assert (tuple(step // 2 for step in array.strides), array.any()) == (made_with, False)


@pytest.mark.parametrize("strides", [(None, 1), (1 << 50, 1)])
def test_an_output_that_does_not_fit_the_memory(strides):
    kernel_entry = kernel(argument("C", [1 << 30, 1 << 30], strides=strides))
    with pytest.raises(
        LaunchError, match=r"^C of \[1073741824, 1073741824\] does not fit this mach"
    ):
        host_arrays(kernel_entry, {}, ["C"])


def test_an_output_of_rank_0():
    array = host_arrays(kernel(A, argument("C", [], strides=[])), {"A": ones(16, 64)}, ["C"])["C"]
    assert array.shape == ()


# Strides and alignment.


def view(array, pointer=0):
    strides = tuple(s // array.itemsize for s in array.strides)
    return Matrix(pointer, array.shape, strides, array.itemsize)


@pytest.mark.parametrize(
    "of, matrix",
    [
        (A, Matrix(0x400, (128, 64), (64, 1), 2)),
        (A, Matrix(0x400, (128, 64), (72, 1), 2)),
        (argument("A", "MK", strides=(1, None)), Matrix(0x400, (128, 64), (1, 128), 2)),
        (argument("A", [4, 8], strides=(8, 1)), Matrix(0x400, (4, 8), (8, 1), 2)),
        (
            argument("S", [2, 3, 32, 4, 4], "f8E8M0FNU", (1536, 512, 16, 4, 1)),
            Matrix(0x400, (2, 3, 32, 4, 4), (1536, 512, 16, 4, 1), 1),
        ),
        (argument("X", ["N"], "f32", (1,)), Matrix(0x400, (5,), (1,), 4)),
        (argument("X", [], "f32", ()), Matrix(0x400, (), (), 4)),
    ],
)
def test_matrices_that_fit(of, matrix):
    check_matrix(of, matrix)


@pytest.mark.parametrize("shape, strides", [((1, 64), (3, 1)), ((64, 1), (8, 7))])
def test_a_dimension_of_one_element_may_have_any_stride(shape, strides):
    check_matrix(A, Matrix(0x400, shape, strides, 2))


def test_strides_are_aligned_to_16_bytes_at_most():
    # Only the first address is a multiple of 128: an access of a thread is at most 16 bytes.
    check_matrix(argument("A", [128, 72], alignment=128), Matrix(0x400, (128, 72), (72, 1), 2))


@pytest.mark.parametrize(
    "of, matrix, message",
    [
        (
            A,
            Matrix(0x400, (128, 64), (64, 2), 2),
            "A has the strides [64, 2]; the kernel takes ['?', 1] (elements)",
        ),
        (
            argument("A", [4, 8], strides=(8, 1)),
            Matrix(0x400, (4, 8), (16, 1), 2),
            "A has the strides [16, 1]; the kernel takes [8, 1] (elements)",
        ),
        (
            A,
            Matrix(0x400, (128, 60), (60, 1), 2),
            "A has the stride 120 bytes along dimension 0; the kernel accesses 16 bytes at a time and "
            "takes multiples of 16",
        ),
        (A, Matrix(0x408, (128, 64), (64, 1), 2), "A begins at 0x408, not a multiple of 16"),
        (A, Matrix(0, (0, 64), (64, 1), 2), "A is [0, 64]; expected at least one element"),
        (A, Matrix(0, (64, 0), (64, 1), 2), "A is [64, 0]; expected at least one element"),
    ],
)
def test_matrices_that_do_not_fit(of, matrix, message):
    with pytest.raises(LaunchError) as error:
        check_matrix(of, matrix)
    assert message_of(error) == message


def test_a_transposed_matrix_has_wrong_strides():
    with pytest.raises(LaunchError, match=r"^A has the strides \[1, 128\]; the kernel takes "):
        check_matrix(A, Matrix(0x400, (128, 64), (1, 128), 2))


def test_a_matrix_of_another_rank():
    with pytest.raises(LaunchError, match="A has 1 dimensions; expected 2"):
        check_matrix(A, Matrix(0x400, (128,), (64,), 2))


# Parameters.


def test_a_matrix_is_two_pointers_an_offset_sizes_and_strides():
    assert pack(Matrix(0x400, (128, 64), (72, 1), 2)) == [0x400, 0x400, 0, 128, 64, 72, 1]


def test_parameters_match_the_ptx():
    # MLIR's memref descriptor, as `convert-gpu-to-nvvm` expands it.
    import mlir_smem

    text = """gpu.module @k {
      gpu.func @f(%x: memref<?x?xf32>, %n: index) kernel { gpu.return } }"""
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    assert ptx.count(".param .") == len(pack(Matrix(0, (1, 1), (1, 1), 4))) + 1
