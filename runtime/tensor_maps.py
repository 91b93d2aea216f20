"""Tensor maps: TMA's description of a matrix in global memory, checked here and encoded by the driver.

The limits are those of `cuTensorMapEncodeTiled` in the reference of the CUDA driver API.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..layout.elements import NARROW, UNIT_BYTES, Element
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import MAX_BOX, PADDED_ALIGNMENT, PADDED_BOX
from .arguments import Matrix
from .errors import LaunchError

#: The largest extent of a matrix, and the exclusive limit of its strides in bytes.
_MAX_EXTENT, _STRIDE_LIMIT = 2**32, 2**40

#: Element types that are packed in global memory and padded in shared memory, by name.
_PADDED = {name: element for name, element in NARROW.items() if element.padding}

#: The `CUtensorMapDataType` of each element type. All 8-bit types are copied as bytes.
DATA_TYPES = {
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT32",
    "tf32": "TFLOAT32",
    "i32": "INT32",
    **dict.fromkeys(("f8E4M3FN", "f8E5M2", "i8", "si8", "ui8"), "UINT8"),
    **{name: f"16U{element.packed_bits}_ALIGN{UNIT_BYTES}B" for name, element in _PADDED.items()},
}

_L2_PROMOTIONS = {
    "none": "CU_TENSOR_MAP_L2_PROMOTION_NONE",
    **{size: f"CU_TENSOR_MAP_L2_PROMOTION_L2_{size}" for size in ("64B", "128B", "256B")},
}

#: "None" fills with zeros.
_FILLS = {
    "zero": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    "nan": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA",
}

_SWIZZLES = {str(swizzle): swizzle for swizzle in Swizzle}


@dataclass(frozen=True)
class TensorMapArguments:
    """The arguments of `cuTensorMapEncodeTiled`. The contiguous dimension is first, then the others
    from the memref's last to its first.

    Attributes:
        data_type: the name of the `CUtensorMapDataType`, without its prefix.
        pointer: address of the first element.
        extents: elements along each dimension.
        strides: in bytes, for each dimension except the first.
        box: elements along each dimension.
        swizzle: the swizzle of a box in shared memory.
        l2_promotion: "none", or the size of the pieces that L2 fetches: "64B", "128B" or "256B".
        oob: what fills elements outside of the matrix: "zero" or "nan".
    """

    data_type: str
    pointer: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: Swizzle
    l2_promotion: str = "128B"
    oob: str = "zero"

    def __str__(self) -> str:
        """Return the text in messages."""
        return repr(self).replace(type(self).__name__, "TensorMap", 1)


def tensor_map(entry: Mapping[str, Any], matrix: Matrix) -> TensorMapArguments:
    """Return the map of a matrix.

    Args:
        entry: the map's entry in the manifest.
        matrix: the argument that it describes.

    Raises:
        LaunchError: if TMA does not support the matrix or the box.
    """
    name, contiguous = entry["argument"], entry["contiguous"]
    if entry["element"] not in DATA_TYPES:
        raise LaunchError(
            f"TMA cannot copy {entry['element']}, the elements of {name}; expected one of "
            f"{', '.join(DATA_TYPES)}"
        )
    padded = _PADDED.get(entry["element"])
    alignment = PADDED_ALIGNMENT if padded else UNIT_BYTES
    if matrix.pointer % alignment:
        raise LaunchError(
            f"{name} begins at {matrix.pointer:#x}; TMA takes multiples of {alignment} bytes"
        )
    if not all(1 <= extent <= _MAX_EXTENT for extent in matrix.shape):
        raise LaunchError(f"{name} is {list(matrix.shape)}; TMA takes extents of 1 to 2^32")
    stride = matrix.strides[contiguous]
    if matrix.shape[contiguous] > 1 and stride != 1:
        raise LaunchError(
            f"{name} has the stride {stride} (elements) along dimension {contiguous}; TMA takes 1 there"
        )
    swizzle = _SWIZZLES[entry["swizzle"]]
    _check_box(name, entry["box"], contiguous, matrix.item_bytes, swizzle)
    line = matrix.shape[contiguous]
    if padded:
        line = _padded_line(name, line, entry["box"][contiguous], padded, swizzle)
    others = [d for d in reversed(range(len(matrix.shape))) if d != contiguous]
    order = [contiguous, *others]
    return TensorMapArguments(
        DATA_TYPES[entry["element"]],
        matrix.pointer,
        (line, *(matrix.shape[d] for d in others)),
        tuple(_stride(name, matrix, d, alignment) for d in others),
        tuple(entry["box"][d] for d in order),
        swizzle,
        **{key: entry[key] for key in ("l2_promotion", "oob") if key in entry},
    )


def _padded_line(name: str, size: int, box: int, element: Element, swizzle: Swizzle) -> int:
    """Return the elements of a line of `size` bytes, which the map pads."""
    if box != PADDED_BOX or swizzle not in (Swizzle.NONE, Swizzle.B128, Swizzle.B128_ATOM_32B):
        raise LaunchError(
            f"the box of {name} has lines of {box} elements of {element}, with the swizzle {swizzle}; "
            f"TMA pads {PADDED_BOX}, with the swizzle 128B or none"
        )
    elements = size * 8 // element.packed_bits
    if size * 8 % (PADDED_BOX * element.packed_bits):
        raise LaunchError(
            f"{name} has lines of {size} bytes; TMA pads multiples of "
            f"{PADDED_BOX * element.packed_bits // 8}, which are {PADDED_BOX} elements of {element}"
        )
    return elements


def _stride(name: str, matrix: Matrix, dim: int, alignment: int) -> int:
    """Return the bytes from one element to the next along a dimension."""
    if matrix.shape[dim] == 1:
        # The stride is not used, so any valid one fits.
        return alignment
    size = matrix.strides[dim] * matrix.item_bytes
    if size % alignment or not 0 <= size < _STRIDE_LIMIT:
        raise LaunchError(
            f"{name} has the stride {size} bytes along dimension {dim}; TMA takes multiples of "
            f"{alignment} from 0 to below 2^40"
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


def encode(arguments: TensorMapArguments) -> Any:
    """Return the map as the driver's `CUtensorMap`, which a kernel takes by value.

    Raises:
        LaunchError: if the driver refuses it.
    """
    import cuda.bindings.driver as driver

    rank = len(arguments.extents)
    error, encoded = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{arguments.data_type}"),
        rank,
        arguments.pointer,
        [driver.cuuint64_t(extent) for extent in arguments.extents],
        [driver.cuuint64_t(stride) for stride in arguments.strides],
        [driver.cuuint32_t(extent) for extent in arguments.box],
        [driver.cuuint32_t(1)] * rank,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, arguments.swizzle.tensor_map),
        getattr(driver.CUtensorMapL2promotion, _L2_PROMOTIONS[arguments.l2_promotion]),
        getattr(driver.CUtensorMapFloatOOBfill, _FILLS[arguments.oob]),
    )
    if error != driver.CUresult.CUDA_SUCCESS:
        raise LaunchError(f"the driver cannot encode {arguments}: {error.name}")
    return encoded
