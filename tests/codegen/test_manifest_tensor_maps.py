"""Tensor maps in the manifest: the parameters that the lowering of TMA appends."""

import pytest
from manifests import arguments, at_the_kernel, kernels
from programs import kernel

from mlir_smem.codegen import CompileError

MAP = {
    "argument": "0 : i64",
    "box": "array<i64: 128, 64>",
    "contiguous": "1 : i64",
    "element": '"bf16"',
    "swizzle": '"128B"',
}


def with_maps(*texts, matrix='%A: memref<?x?xbf16> {smem.name = "A"}'):
    """Return a kernel's parameters: a matrix, a number, and tensor maps."""
    maps = [f"%m{i}: !llvm.ptr {{smem.tensor_map = {text}}}" for i, text in enumerate(texts)]
    return ", ".join([matrix, "%n: index", *maps])


def map_text(**changed):
    return "{" + ", ".join(f"{k} = {v}" for k, v in {**MAP, **changed}.items() if v) + "}"


def test_tensor_maps_are_not_arguments():
    text = with_maps(map_text(), map_text(box="array<i64: 32, 8>", contiguous="0 : i64"))
    (entry,) = kernels(kernel("", arguments=text))
    assert [a["name"] for a in entry["arguments"]] == ["A", "arg1"]
    first = {"argument": "A", "box": [128, 64], "contiguous": 1, "element": "bf16"}
    assert entry["tensor_maps"] == [
        {**first, "swizzle": "128B"},
        {**first, "box": [32, 8], "contiguous": 0, "swizzle": "128B"},
    ]


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_swizzles_of_tensor_maps(swizzle):
    text = with_maps(map_text(swizzle=f'"{swizzle}"'))
    assert kernels(kernel("", arguments=text))[0]["tensor_maps"][0]["swizzle"] == swizzle


def test_promotion_and_fill_of_upstreams_maps():
    text = with_maps(map_text(l2_promotion='"64B"', oob='"nan"'))
    (tensor_map,) = kernels(kernel("", arguments=text))[0]["tensor_maps"]
    assert (tensor_map["l2_promotion"], tensor_map["oob"]) == ("64B", "nan")


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "{}",
        "array<i64: 128, 64>",
        map_text(argument=""),
        map_text(more="1 : i64"),
        map_text(argument='"A"'),
        map_text(box="128 : i64"),
        map_text(contiguous='"row"'),
        map_text(element="5 : i64"),
        map_text(swizzle='"128"'),
        map_text(swizzle="128 : i64"),
        map_text(l2_promotion='"512B"'),
        map_text(oob='"one"'),
    ],
)
def test_malformed_tensor_maps(text):
    with pytest.raises(CompileError) as error:
        arguments(with_maps(text))
    assert at_the_kernel(error).startswith(
        "smem.tensor_map is a dictionary such as {argument = 0 : i64, box = array<i64: 128, 64>, "
        'contiguous = 1 : i64, element = "bf16", swizzle = "128B"}, not '
    )


def test_boxes_of_other_integers():
    with pytest.raises(CompileError, match="expected strings, integers and arrays of them"):
        arguments(with_maps(map_text(box="array<i32: 128, 64>")))


@pytest.mark.parametrize(
    "matrix, text, message",
    [
        *(
            (
                "memref<?x?xbf16>",
                map_text(argument=f"{index} : i64"),
                f"describes argument {index}, which is not a matrix; there are A, arg1",
            )
            for index in (-1, 1, 2)
        ),
        (
            "memref<?x?xbf16>",
            map_text(box="array<i64: 1, 128, 64>"),
            "has the box [1, 128, 64] for A of rank 2; expected one extent a dimension, 2 to 5",
        ),
        (
            "memref<?xbf16>",
            map_text(box="array<i64: 128>", contiguous="0 : i64"),
            "has the box [128] for A of rank 1; expected one extent a dimension, 2 to 5",
        ),
        (
            "memref<?x?xbf16>",
            map_text(contiguous="2 : i64"),
            "has the contiguous dimension 2, but A has 2 dimensions",
        ),
    ],
)
def test_tensor_maps_that_do_not_fit_their_matrix(matrix, text, message):
    with pytest.raises(CompileError) as error:
        arguments(with_maps(text, matrix=f'%A: {matrix} {{smem.name = "A"}}'))
    assert at_the_kernel(error) == f"smem.tensor_map {message}"


def test_a_tensor_map_of_another_type():
    with pytest.raises(CompileError) as error:
        arguments(f"%A: memref<?x?xbf16>, %m: i64 {{smem.tensor_map = {map_text()}}}")
    assert at_the_kernel(error) == (
        "a parameter with smem.tensor_map is of type !llvm.ptr, not i64"
    )


def test_a_tensor_map_before_an_argument():
    with pytest.raises(CompileError) as error:
        arguments(f"%m: !llvm.ptr {{smem.tensor_map = {map_text()}}}, %A: memref<?x?xbf16>")
    assert at_the_kernel(error) == (
        "parameters with smem.tensor_map must follow the kernel's own arguments"
    )
