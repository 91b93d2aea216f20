"""The parameters of a kernel in memory, as the driver reads them."""

import ctypes
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arguments import Matrix, pack
from .scalars import scalar_type


@dataclass(frozen=True)
class Slots:
    """Where the parameters of a launch lie in its memory, in bytes.

    The addresses of the arrays and the numbers change from launch to launch. They are in front, so that
    one call packs them. The tail of the memory is zeros, extents and strides.

    Attributes:
        changing: the format of the front: the addresses in order, then the numbers in order.
        tail: the content after the front.
        offsets: the offset of each parameter, in the kernel's order, without tensor maps.
    """

    changing: struct.Struct
    tail: bytes
    offsets: tuple[int, ...]


def slots(arguments: Sequence[Mapping[str, Any]], matrices: Mapping[str, Matrix]) -> Slots:
    """Return the slots of a kernel's arguments.

    A memref is passed as its address twice, the offset 0, the extents and the strides; both addresses are
    read from one slot.

    Args:
        arguments: the arguments' entries in the manifest.
        matrices: extents and strides of the arrays, by argument.

    Raises:
        LaunchError: for a type that cannot be passed.
    """
    numbers = [scalar_type(a).format for a in arguments if a["kind"] == "scalar"]
    changing, starts = _align(["Q"] * len(matrices) + numbers)
    addresses, values = iter(starts[: len(matrices)]), iter(starts[len(matrices) :])
    begin = _front(changing)
    tail: list[int] = []
    offsets: list[int] = []
    for argument in arguments:
        if argument["kind"] == "scalar":
            offsets.append(next(values))
            continue
        matrix, address = matrices[argument["name"]], next(addresses)
        words = pack(matrix)[2:]
        offsets += [address, address]
        offsets += [begin + 8 * (len(tail) + i) for i in range(len(words))]
        tail += words
    return Slots(changing, struct.pack(f"{len(tail)}q", *tail), tuple(offsets))


def _align(formats: Sequence[str]) -> tuple[struct.Struct, list[int]]:
    """Return one format of values, each aligned to its size, and the offsets of the values.

    Python's native formats align, too, but pack a number that f32 cannot hold as infinity."""
    text, starts, end = "<", [], 0
    for format_ in formats:
        size = struct.calcsize(f"<{format_}")
        padding = -end % size
        text += "x" * padding + format_
        starts.append(end + padding)
        end += padding + size
    return struct.Struct(text), starts


def _front(changing: struct.Struct) -> int:
    """Return where the tail begins, in bytes; it consists of words of 8 bytes."""
    return -(-changing.size // 8) * 8


class ParameterFrame:
    """The memory of the parameters of one launch.

    The driver copies the parameters while it starts a kernel, so a frame may then be filled for the next
    launch, but not by two threads at a time.

    Args:
        slots: where the parameters lie.
        maps: encoded tensor maps (`CUtensorMap`), which the kernel takes after its arguments.

    Attributes:
        memory: the parameters' memory, for `slots.changing`.
        maps: the tensor maps; `cuTensorMapReplaceAddress` changes them in place.
        mapped: the addresses of the arrays for which the maps were encoded.
        address: the address of the array of pointers that `cuLaunchKernelEx` takes.
    """

    def __init__(self, slots: Slots, maps: Sequence[Any], mapped: Sequence[int]) -> None:
        front = _front(slots.changing)
        self.memory = ctypes.create_string_buffer(front + len(slots.tail) + 1)
        begin = ctypes.addressof(self.memory)
        ctypes.memmove(begin + front, slots.tail, len(slots.tail))
        self.maps, self.mapped = tuple(maps), list(mapped)
        pointers = [
            *(begin + offset for offset in slots.offsets),
            *(int(m.getPtr()) for m in self.maps),
        ]
        self._pointers = (ctypes.c_void_p * len(pointers))(*pointers)
        self.address = ctypes.addressof(self._pointers)
