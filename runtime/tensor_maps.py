"""Tensor maps: how TMA sees a matrix in global memory, checked and then encoded by the driver.

What can be encoded is said at `cuTensorMapEncodeTiled` in the reference of the CUDA driver API.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import MAX_BOX
from .arguments import Matrix
from .errors import LaunchError

#: The largest extent of a matrix, and what its strides in bytes stay below.
_MAX_EXTENT, _STRIDE_LIMIT = 2**32, 2**40

#: Bytes of an encoded map: the `CUtensorMap` that a kernel takes by value.
MAP_BYTES = 128

#: The `CUtensorMapDataType` of each element type. 8 bits are copied as they are.
_DATA_TYPES = {
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT32",
    "tf32": "TFLOAT32",
    "i32": "INT32",
    **dict.fromkeys(("f8E4M3FN", "f8E5M2", "i8", "si8", "ui8"), "UINT8"),
}

_SWIZZLES = {str(swizzle): swizzle for swizzle in Swizzle}


@dataclass(frozen=True)
class TensorMap:
    """What `cuTensorMapEncodeTiled` is given; the contiguous dimension first, then the others from
    the memref's last to its first.

    Attributes:
        data_type: the name of the `CUtensorMapDataType`, without its prefix.
        pointer: address of the first element.
        extents: elements along each dimension.
        strides: bytes, of each dimension but the first.
        box: elements along each dimension.
        swizzle: how a box lies in shared memory.
    """

    data_type: str
    pointer: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: Swizzle


def tensor_map(entry: Mapping[str, Any], matrix: Matrix) -> TensorMap:
    """The map of a matrix.

    Args:
        entry: what the manifest says of the map.
        matrix: the argument that it describes.

    Raises:
        LaunchError: if TMA cannot take the matrix, or the box.
    """
    name, contiguous = entry["argument"], entry["contiguous"]
    if entry["element"] not in _DATA_TYPES:
        raise LaunchError(
            f"TMA cannot copy {entry['element']}, as the kernel does of {name}; expected one of "
            f"{', '.join(_DATA_TYPES)}"
        )
    if matrix.pointer % UNIT_BYTES:
        raise LaunchError(
            f"{name} begins at {matrix.pointer:#x}; TMA takes multiples of {UNIT_BYTES} bytes"
        )
    if not all(1 <= extent <= _MAX_EXTENT for extent in matrix.shape):
        raise LaunchError(f"{name} is {list(matrix.shape)}; TMA takes extents of 1 to 2^32")
    step = matrix.strides[contiguous]
    if matrix.shape[contiguous] > 1 and step != 1:
        raise LaunchError(
            f"{name} has the stride {step} (elements) along dimension {contiguous}; TMA takes 1 there"
        )
    swizzle = _SWIZZLES[entry["swizzle"]]
    _check_box(name, entry["box"], contiguous, matrix.item_bytes, swizzle)
    others = [d for d in reversed(range(len(matrix.shape))) if d != contiguous]
    order = [contiguous, *others]
    return TensorMap(
        _DATA_TYPES[entry["element"]],
        matrix.pointer,
        tuple(matrix.shape[d] for d in order),
        tuple(_stride(name, matrix, d) for d in others),
        tuple(entry["box"][d] for d in order),
        swizzle,
    )


def _stride(name: str, matrix: Matrix, dim: int) -> int:
    """Bytes from one element to the next along a dimension."""
    if matrix.shape[dim] == 1:
        # It is never stepped along, so any stride does that can be encoded.
        return UNIT_BYTES
    size = matrix.strides[dim] * matrix.item_bytes
    if size % UNIT_BYTES or not 0 <= size < _STRIDE_LIMIT:
        raise LaunchError(
            f"{name} has the stride {size} bytes along dimension {dim}; TMA takes multiples of "
            f"{UNIT_BYTES} from 0 to below 2^40"
        )
    return size


def _check_box(
    name: str, box: list[int], contiguous: int, item_bytes: int, swizzle: Swizzle
) -> None:
    if not all(1 <= extent <= MAX_BOX for extent in box):
        raise LaunchError(f"the box of {name} is {box}; TMA takes extents of 1 to {MAX_BOX}")
    line = box[contiguous] * item_bytes
    if line % UNIT_BYTES:
        raise LaunchError(
            f"the box of {name} has lines of {line} bytes; TMA takes multiples of {UNIT_BYTES}"
        )
    if swizzle is not Swizzle.NONE and line > swizzle.width:
        raise LaunchError(
            f"the box of {name} has lines of {line} bytes; TMA takes at most {swizzle.width} with the "
            f"swizzle {swizzle}"
        )


def encode(made: TensorMap) -> bytes:
    """The map as a kernel takes it: 128 bytes.

    Raises:
        LaunchError: if the driver refuses it.
    """
    from cuda.bindings import driver

    rank = len(made.extents)
    error, encoded = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{made.data_type}"),
        rank,
        made.pointer,
        [driver.cuuint64_t(extent) for extent in made.extents],
        [driver.cuuint64_t(stride) for stride in made.strides],
        [driver.cuuint32_t(extent) for extent in made.box],
        [driver.cuuint32_t(1)] * rank,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, made.swizzle.tensor_map),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        # "None" is zeros.
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if error != driver.CUresult.CUDA_SUCCESS:
        raise LaunchError(f"the driver cannot encode {made}: {error.name}")
    return ctypes.string_at(encoded.getPtr(), MAP_BYTES)
