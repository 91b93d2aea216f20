"""Tensor maps: the box of an array that a bulk tensor copy moves, and its layout in shared memory (PTX
ISA, tensor copies and swizzling modes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..bindings.mlir import ir
from .errors import EmulationError
from .memory import GlobalAddressSpace
from .rules.global_order import Box
from .types import bits_of
from .values import MemRef

#: Bytes of a tensor map.
MAP_BYTES = 128

#: Bytes that stay contiguous in shared memory under any swizzle.
UNIT = 16

#: For each swizzle, the width of its pattern, and the bytes that stay contiguous (its atomicity).
_SWIZZLES = {
    "none": (0, UNIT),
    "32B": (32, UNIT),
    "64B": (64, UNIT),
    "128B": (128, UNIT),
    "128B_ATOM_32B": (128, 32),
}

#: Alignment in shared memory without a swizzle, in bytes.
_ALIGNMENT = 128

#: Rows of a swizzle's pattern.
_PATTERN_ROWS = 8

#: For types that a map pads, bytes of global memory that become 16 bytes of shared memory (PTX ISA
#: 9.7.9.27.1.1: `.b4x16_p64` and `.b6x16_p32`).
_SOURCE_BYTES = {"e2m1_p64": 8, "e2m3_p32": 12, "e3m2_p32": 12}

#: For maps of padded types: the multiple of the first extent and coordinate, which is also the box's
#: first extent, in elements; and the alignment of the array's address and strides, in bytes.
_PADDED_LINE, _PADDED_ALIGNMENT = 128, 32

#: Written to the padding, which must not be read: bits that give no finite product.
_PADDING = 0xFF

_MAX_RANK = 5

#: Elements that a box can have along a dimension.
_MAX_EXTENT = 256


@dataclass(frozen=True)
class TensorMap:
    """A tensor map; dimensions are in the order of coordinates, the contiguous one first.

    Attributes:
        name: of the argument that it describes, for messages.
        base: the address of the array.
        dtype: the unsigned integer of the width of an element in shared memory.
        element: the element type in MLIR's spelling, or "tf32".
        extents: of the array, in elements.
        strides: of the array, in bytes.
        box: extents of the box, in elements.
        width: width of the swizzle in bytes; 0 without a swizzle.
        unit: bytes that the swizzle keeps contiguous.
        source_bytes: bytes of the array that become 16 bytes of shared memory; less than 16 if elements
            are padded to a byte each.
    """

    name: str
    base: int
    dtype: np.dtype
    element: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    width: int
    unit: int
    source_bytes: int = UNIT

    @property
    def is_padded(self) -> bool:
        """Whether a copy pads packed elements."""
        return self.source_bytes < UNIT

    @property
    def step(self) -> int:
        """The multiple of the first coordinate, in elements: 16 bytes (measured on an H200, except for
        padded types)."""
        return _PADDED_LINE if self.is_padded else UNIT // self.dtype.itemsize

    @property
    def bytes(self) -> int:
        """Bytes of the box in shared memory."""
        return int(np.prod(self.box)) * self.dtype.itemsize

    @property
    def alignment(self) -> int:
        """Alignment of the address in shared memory, in bytes: the swizzle's pattern, if any."""
        return self.width * _PATTERN_ROWS or _ALIGNMENT

    def read(self, memory: GlobalAddressSpace, coordinates: Sequence[int]) -> np.ndarray:
        """Read the box whose first element has these coordinates, uint8[bytes]. Elements outside of the
        array are zero."""
        if self.is_padded:
            packed = self._without_padding().read(
                memory, (self._in_bytes(coordinates[0]), *coordinates[1:])
            )
            lines = packed.reshape(-1, self.source_bytes)
            return np.pad(
                lines, ((0, 0), (0, UNIT - self.source_bytes)), constant_values=_PADDING
            ).reshape(-1)
        elements = np.zeros(self.box[::-1], self.dtype)
        inside, outside = self._overlap(coordinates)
        elements[inside] = self._array(memory)[outside]
        return _round_as_load(self.element, elements).reshape(-1).view(np.uint8)

    def write(
        self, memory: GlobalAddressSpace, coordinates: Sequence[int], data: np.ndarray
    ) -> None:
        """Write uint8[bytes] to the box; elements outside of the array are skipped."""
        inside, outside = self._overlap(coordinates)
        self._array(memory)[outside] = data.view(self.dtype).reshape(self.box[::-1])[inside]

    def box_at(self, coordinates: Sequence[int]) -> Box:
        """Return the bytes in the array of the box whose first element has these coordinates, less the
        elements outside of the array."""
        if self.is_padded:
            return self._without_padding().box_at(
                (self._in_bytes(coordinates[0]), *coordinates[1:])
            )
        _, outside = self._overlap(coordinates)
        strides = self.strides[::-1]
        start = sum(part.start * stride for part, stride in zip(outside, strides, strict=True))
        extents = tuple(part.stop - part.start for part in outside)
        return Box(start, (*extents, self.dtype.itemsize), (*strides, 1))

    def addresses(self, start: int) -> np.ndarray:
        """Return int64[bytes / 16]: the address of each 16 bytes of a box that begins at `start`."""
        plain = start + np.arange(0, self.bytes, UNIT, dtype=np.int64)
        rows = plain >> 7 & max(self.width // self.unit - 1, 0)
        return plain ^ rows * self.unit

    def _without_padding(self) -> TensorMap:
        """Return the map that copies the same bytes without padding."""
        box, extents = (
            (self._in_bytes(lengths[0]), *lengths[1:]) for lengths in (self.box, self.extents)
        )
        return replace(self, box=box, extents=extents, source_bytes=UNIT)

    def _in_bytes(self, elements: int) -> int:
        """Return the bytes in the array of whole groups of 16 elements."""
        return elements * self.source_bytes // UNIT

    def _array(self, memory: GlobalAddressSpace) -> np.ndarray:
        """Return the array in global memory, with the contiguous dimension last."""
        flat = memory.bytes_at(self.base).view(self.dtype)
        return np.lib.stride_tricks.as_strided(flat, self.extents[::-1], self.strides[::-1])

    def _overlap(self, coordinates: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return the overlap of a box and the array: slices of the box, and of the array."""
        inside, outside = [], []
        for first, box, extent in reversed(
            list(zip(coordinates, self.box, self.extents, strict=True))
        ):
            low, high = (min(max(end, 0), extent) for end in (first, first + box))
            inside.append(slice(low - first, high - first))
            outside.append(slice(low, high))
        return tuple(inside), tuple(outside)


def _round_as_load(element: str, values: np.ndarray) -> np.ndarray:
    """Return elements as a load writes them: a map of tf32 rounds f32 to nearest even (measured on an
    H200)."""
    if element != "tf32":
        return values
    bits = values.view(np.uint32)
    rounded = bits + 0xFFF + (bits >> 13 & 1) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded, bits).view(values.dtype)


def decode_tensor_map(
    name: str, attribute: Any, types: Sequence[Any], values: Sequence[Any]
) -> TensorMap:
    """Return the tensor map of an attribute.

    Args:
        name: of the parameter, for messages.
        attribute: the attribute `smem.tensor_map`.
        types, values: of the kernel's arguments without tensor maps.

    Raises:
        EmulationError: if the tensor map is invalid.
    """
    argument = ir.IntegerAttr(attribute["argument"]).value
    if argument >= len(types) or not isinstance(values[argument], MemRef):
        raise EmulationError(f"{name} describes argument {argument}, which is not an array")
    type_, array = types[argument], values[argument]
    subject = f"{name}, the tensor map of argument {argument},"
    element = ir.StringAttr(attribute["element"]).value
    source_bytes = _SOURCE_BYTES.get(element, UNIT)
    bits = {"tf32": 32, **dict.fromkeys(_SOURCE_BYTES, 8)}.get(element) or bits_of(
        ir.Type.parse(element)
    )
    if bits != bits_of(type_.element_type):
        raise EmulationError(f"{subject} has elements of {element}; the array is {type_}")
    box = list(ir.DenseI64ArrayAttr(attribute["box"]))
    if len(box) != type_.rank or not 1 <= len(box) <= _MAX_RANK:
        raise EmulationError(
            f"{subject} has a box of {len(box)} dimensions; expected those of {type_}, {_MAX_RANK} "
            "at most"
        )
    contiguous = ir.IntegerAttr(attribute["contiguous"]).value
    order = [contiguous, *(dim for dim in reversed(range(type_.rank)) if dim != contiguous)]
    size = bits // 8
    tensor_map = TensorMap(
        f"argument {argument}",
        int(array.base[0]),
        np.dtype(f"u{size}"),
        element,
        (
            int(array.sizes[contiguous][0]) * UNIT // source_bytes,
            *(int(array.sizes[d][0]) for d in order[1:]),
        ),
        tuple(int(array.strides[dim][0]) * size for dim in order),
        tuple(box[dim] for dim in order),
        *_swizzle(subject, ir.StringAttr(attribute["swizzle"]).value),
        source_bytes,
    )
    if "oob" in attribute and ir.StringAttr(attribute["oob"]).value != "zero":
        raise EmulationError(
            f"{subject} fills elements outside of the array with {attribute['oob']}; the emulator "
            "fills with "
            "zeros"
        )
    _check_array(subject, tensor_map)
    _check_box(subject, tensor_map)
    return tensor_map


def _swizzle(subject: str, name: str) -> tuple[int, int]:
    if name not in _SWIZZLES:
        raise EmulationError(
            f"{subject} has the swizzle {name}; expected one of {', '.join(_SWIZZLES)}"
        )
    return _SWIZZLES[name]


def _check_array(subject: str, tensor_map: TensorMap) -> None:
    if not all(tensor_map.extents):
        raise EmulationError(
            f"{subject} describes {list(tensor_map.extents)} elements; expected at least one "
            "along each dimension"
        )
    if tensor_map.strides[0] != tensor_map.dtype.itemsize:
        raise EmulationError(
            f"{subject} has a contiguous dimension of stride {tensor_map.strides[0]} bytes; expected "
            f"{tensor_map.dtype.itemsize}"
        )
    if any(stride % UNIT for stride in tensor_map.strides[1:]):
        raise EmulationError(
            f"{subject} describes an array of strides {list(tensor_map.strides)} bytes; expected "
            "multiples of "
            f"{UNIT} except for the first"
        )

    if tensor_map.is_padded and (
        tensor_map.base % _PADDED_ALIGNMENT
        or any(stride % _PADDED_ALIGNMENT for stride in tensor_map.strides[1:])
        or tensor_map.extents[0] % _PADDED_LINE
    ):
        raise EmulationError(
            f"{subject} pads {tensor_map.extents[0]} elements of {tensor_map.element} in a line "
            f"at {tensor_map.base:#x} with "
            f"strides {list(tensor_map.strides)} bytes; expected a multiple of {_PADDED_LINE}, and of "
            f"{_PADDED_ALIGNMENT} bytes except for the first stride"
        )


def _check_box(subject: str, tensor_map: TensorMap) -> None:
    if tensor_map.is_padded and (
        tensor_map.box[0] != _PADDED_LINE or tensor_map.width not in (0, 128)
    ):
        raise EmulationError(
            f"{subject} pads boxes of {tensor_map.box[0]} elements of {tensor_map.element} with a "
            "swizzle of "
            f"{tensor_map.width} bytes; expected {_PADDED_LINE} elements, with one of 128 bytes or none"
        )
    if not all(1 <= extent <= _MAX_EXTENT for extent in tensor_map.box):
        raise EmulationError(
            f"{subject} has a box of {list(tensor_map.box)} elements; expected 1 to {_MAX_EXTENT} "
            "along each "
            "dimension"
        )
    inner = tensor_map.box[0] * tensor_map.dtype.itemsize
    if inner % UNIT:
        raise EmulationError(
            f"{subject} has a box of {inner} bytes along its first dimension; expected a multiple "
            f"of {UNIT}"
        )
    if tensor_map.width and inner > tensor_map.width:
        raise EmulationError(
            f"{subject} has a box of {inner} bytes along its first dimension; expected at most the "
            f"{tensor_map.width} of its swizzle"
        )
