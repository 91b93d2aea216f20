"""Tensor maps: the arguments of the driver's encoder, and what TMA does not support."""

import ctypes
from dataclasses import replace

import pytest
from stand_in import CONTEXTS, Result

from mlir_smem.layout.swizzle import Swizzle
from mlir_smem.runtime import LaunchError, Matrix
from mlir_smem.runtime.tensor_maps import TensorMapArguments, encode, tensor_map

X = Matrix(0x1000, (256, 512), (520, 1), 2)
X_MAP = TensorMapArguments("BFLOAT16", 0x1000, (512, 256), (1040,), (64, 128), Swizzle.B128)


def entry(box=(128, 64), contiguous=1, element="bf16", swizzle="128B"):
    return {
        "argument": "X",
        "box": list(box),
        "contiguous": contiguous,
        "element": element,
        "swizzle": swizzle,
    }


def tensor_map_error(entry, matrix):
    """Return the error of a matrix that TMA does not support."""
    with pytest.raises(LaunchError) as error:
        tensor_map(entry, matrix)
    return str(error.value)


def test_the_contiguous_dimension_comes_first():
    assert tensor_map(entry(), X) == X_MAP


def test_a_column_major_matrix():
    matrix = Matrix(0x1000, (256, 512), (1, 264), 2)
    arguments = tensor_map(entry((64, 8), contiguous=0), matrix)
    assert (arguments.extents, arguments.strides, arguments.box) == ((256, 512), (528,), (64, 8))


@pytest.mark.parametrize(
    "contiguous, strides, box, extents, bytes_, boxed",
    [
        (2, (4096, 64, 1), (1, 32, 16), (16, 48, 8), (128, 8192), (16, 32, 1)),
        (1, (4096, 1, 64), (1, 32, 16), (48, 16, 8), (128, 8192), (32, 16, 1)),
        (0, (1, 4096, 64), (8, 32, 16), (8, 16, 48), (128, 8192), (8, 16, 32)),
    ],
)
def test_more_dimensions_follow_from_last_to_first(
    contiguous, strides, box, extents, bytes_, boxed
):
    matrix = Matrix(0x1000, (8, 48, 16), strides, 2)
    arguments = tensor_map(entry(box, contiguous, swizzle="none"), matrix)
    assert (arguments.extents, arguments.strides, arguments.box) == (extents, bytes_, boxed)


def test_five_dimensions():
    matrix = Matrix(0x1000, (2, 3, 4, 5, 64), (3840, 1280, 320, 64, 1), 2)
    arguments = tensor_map(entry((1, 1, 1, 5, 64), 4), matrix)
    assert (arguments.extents, arguments.strides) == ((64, 5, 4, 3, 2), (128, 640, 2560, 7680))


@pytest.mark.parametrize("strides", [(7, 1), (64, 7), (-1, 1)])
def test_a_dimension_of_one_element_may_have_any_stride(strides):
    arguments = tensor_map(entry((1, 64)), Matrix(0x1000, (1, 1), strides, 2))
    assert (arguments.extents, arguments.strides) == ((1, 1), (16,))


@pytest.mark.parametrize(
    "element, item_bytes, data_type",
    [
        ("bf16", 2, "BFLOAT16"),
        ("f16", 2, "FLOAT16"),
        ("f32", 4, "FLOAT32"),
        ("tf32", 4, "TFLOAT32"),
        ("i32", 4, "INT32"),
        *((e, 1, "UINT8") for e in ("f8E4M3FN", "f8E5M2", "i8", "si8", "ui8")),
    ],
)
def test_data_types(element, item_bytes, data_type):
    matrix = Matrix(0x1000, (64, 64), (64, 1), item_bytes)
    arguments = tensor_map(entry((64, 32), element=element), matrix)
    assert (arguments.data_type, arguments.strides) == (data_type, (64 * item_bytes,))


@pytest.mark.parametrize("swizzle", Swizzle)
def test_swizzles_by_name(swizzle):
    assert tensor_map(entry((8, 8), swizzle=str(swizzle)), X).swizzle is swizzle


@pytest.mark.parametrize(
    "entry, matrix",
    [
        (entry((256, 64)), X),
        (entry((8, 256), swizzle="none"), X),
        (entry(), replace(X, shape=(2**32, 2**32))),
        (entry(), replace(X, strides=(2**39 - 8, 1))),
        (entry(), replace(X, strides=(0, 1))),
    ],
)
def test_the_limits_of_tma(entry, matrix):
    tensor_map(entry, matrix)


@pytest.mark.parametrize(
    "entry, matrix, message",
    [
        (
            entry(),
            replace(X, pointer=0x1008),
            "X begins at 0x1008; TMA takes multiples of 16 bytes",
        ),
        (
            entry(),
            replace(X, strides=(516, 1)),
            "X has the stride 1032 bytes along dimension 0; TMA takes multiples of 16 from 0 to below "
            "2^40",
        ),
        (
            entry(),
            replace(X, strides=(2**39, 1)),
            "X has the stride 1099511627776 bytes along dimension 0; TMA takes multiples of 16 from 0 "
            "to below 2^40",
        ),
        (
            entry(),
            replace(X, strides=(-520, 1)),
            "X has the stride -1040 bytes along dimension 0; TMA takes multiples of 16 from 0 to below "
            "2^40",
        ),
        (entry(), replace(X, shape=(0, 512)), "X is [0, 512]; TMA takes extents of 1 to 2^32"),
        (
            entry(),
            replace(X, shape=(256, 2**32 + 1)),
            "X is [256, 4294967297]; TMA takes extents of 1 to 2^32",
        ),
        (
            entry(),
            replace(X, strides=(1, 256)),
            "X has the stride 256 (elements) along dimension 1; TMA takes 1 there",
        ),
        (
            entry((257, 64)),
            X,
            "the box of X is [257, 64]; TMA takes extents of 1 to 256",
        ),
        (entry((0, 64)), X, "the box of X is [0, 64]; TMA takes extents of 1 to 256"),
        (
            entry((64, 60)),
            X,
            "the box of X has lines of 120 bytes; TMA takes multiples of 16",
        ),
        (
            entry((64, 72)),
            X,
            "the box of X has lines of 144 bytes; TMA takes at most 128 with the swizzle 128B",
        ),
        (
            entry((64, 24), swizzle="32B"),
            X,
            "the box of X has lines of 48 bytes; TMA takes at most 32 with the swizzle 32B",
        ),
        (
            entry(element="f64"),
            X,
            "TMA cannot copy f64, the elements of X; expected one of f16, bf16, f32, tf32, i32, "
            "f8E4M3FN, f8E5M2, i8, si8, ui8, e2m1_p64, e2m3_p32, e3m2_p32",
        ),
    ],
)
def test_beyond_the_limits_of_tma(entry, matrix, message):
    assert tensor_map_error(entry, matrix) == message


#: 64 lines of 256 elements of 6 bits.
SIX = Matrix(0x1000, (64, 192), (192, 1), 1)


@pytest.mark.parametrize(
    "element, line, data_type",
    [
        ("e2m1_p64", 128, "16U4_ALIGN16B"),
        ("e2m3_p32", 192, "16U6_ALIGN16B"),
        ("e3m2_p32", 192, "16U6_ALIGN16B"),
    ],
)
@pytest.mark.parametrize("swizzle", ["none", "128B", "128B_ATOM_32B"])
def test_padded_elements(element, line, data_type, swizzle):
    matrix = Matrix(0x1000, (64, line), (line, 1), 1)
    arguments = tensor_map(entry((32, 128), element=element, swizzle=swizzle), matrix)
    assert (arguments.data_type, arguments.extents, arguments.strides, arguments.box) == (
        data_type,
        (256, 64),
        (line,),
        (128, 32),
    )


@pytest.mark.parametrize(
    "entry, matrix, message",
    [
        (
            entry((32, 128), element="e2m3_p32"),
            replace(SIX, pointer=0x1010),
            "X begins at 0x1010; TMA takes multiples of 32 bytes",
        ),
        (
            entry((32, 128), element="e2m3_p32"),
            replace(SIX, strides=(208, 1)),
            "X has the stride 208 bytes along dimension 0; TMA takes multiples of 32 from 0 to below "
            "2^40",
        ),
        (
            entry((32, 128), element="e2m3_p32"),
            replace(SIX, shape=(64, 144)),
            "X has lines of 144 bytes; TMA pads multiples of 96, which are 128 elements of e2m3_p32",
        ),
        (
            entry((32, 64), element="e2m1_p64"),
            SIX,
            "the box of X has lines of 64 elements of e2m1_p64, with the swizzle 128B; TMA pads 128, "
            "with the swizzle 128B or none",
        ),
        (
            entry((32, 32), element="e2m1_p64", swizzle="32B"),
            SIX,
            "the box of X has lines of 32 elements of e2m1_p64, with the swizzle 32B; TMA pads 128, with "
            "the swizzle 128B or none",
        ),
    ],
)
def test_lines_that_tma_cannot_pad(entry, matrix, message):
    assert tensor_map_error(entry, matrix) == message


@pytest.fixture
def current_gpu(gpu):
    gpu.current.append(CONTEXTS[0])
    return gpu


def test_arguments_of_the_encoder(current_gpu):
    encoded_map = encode(X_MAP)
    assert ctypes.string_at(encoded_map.getPtr(), 128) == bytes([1]) * 128
    assert current_gpu.maps == [
        (
            "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
            2,
            0x1000,
            [512, 256],
            [1040],
            [64, 128],
            [1, 1],
            "CU_TENSOR_MAP_INTERLEAVE_NONE",
            "CU_TENSOR_MAP_SWIZZLE_128B",
            "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
            "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
        )
    ]


@pytest.mark.parametrize(
    "given, encoded",
    [
        ({"l2_promotion": "none"}, ("NONE", "NONE")),
        ({"l2_promotion": "64B", "oob": "zero"}, ("L2_64B", "NONE")),
        ({"oob": "nan"}, ("L2_128B", "NAN_REQUEST_ZERO_FMA")),
    ],
)
def test_promotion_and_fill_of_upstreams_maps(current_gpu, given, encoded):
    encode(tensor_map({**entry(), **given}, X))
    promotion, fill = encoded
    assert current_gpu.maps[0][-2:] == (
        f"CU_TENSOR_MAP_L2_PROMOTION_{promotion}",
        f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}",
    )


def test_an_error_of_the_driver(current_gpu):
    current_gpu.refusals["encode"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError) as error:
        encode(X_MAP)
    assert str(error.value) == f"the driver cannot encode {X_MAP}: CUDA_ERROR_INVALID_VALUE"
