"""Launches whose checks are done once for arrays of equal signatures.

A plan has all of a launch but the addresses of its arrays, its numbers and its stream. Starting one packs
these, gives tensor maps the addresses that changed, and calls the driver.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from .arguments import Matrix
from .errors import LaunchError
from .parameters import ParameterFrame, slots
from .prepared import Starter
from .readers import reader
from .scalars import check_scalar, scalar_type
from .tensor_maps import TensorMapArguments, encode

T = TypeVar("T")


class UnreadableArgument(Exception):
    """An argument whose address and signature cannot be read."""


class CallArguments:
    """The addresses, numbers and signatures of the arguments of a call.

    Attributes:
        addresses: of the arrays, in order.
        numbers: the scalar arguments, in order.
        key: the signatures of the arrays and the classes of the numbers, in the kernel's order.
    """

    __slots__ = ("addresses", "key", "numbers")

    def __init__(self, is_array: Sequence[bool], arguments: Sequence[Any]) -> None:
        addresses: list[int] = []
        numbers: list[Any] = []
        key: list[Hashable] = []
        for array, argument in zip(is_array, arguments, strict=True):
            if array:
                try:
                    address, signature = reader(type(argument))(argument)
                except Exception as error:
                    # The code of another package, which may raise anything.
                    raise UnreadableArgument(str(error)) from error
                addresses.append(address)
                key.append(signature)
            else:
                numbers.append(argument)
                key.append(type(argument))
        self.addresses, self.numbers, self.key = addresses, numbers, tuple(key)


class LaunchPlan:
    """A launch of a kernel with arrays of given signatures.

    Args:
        manifest: the kernel's entry in the manifest.
        matrices: the arrays that were checked, by argument.
        maps: the tensor maps of these arrays, in the kernel's order.
        starter: starts the kernel with its grid.
    """

    def __init__(
        self,
        manifest: Mapping[str, Any],
        matrices: Mapping[str, Matrix],
        maps: Sequence[TensorMapArguments],
        starter: Starter,
    ) -> None:
        import cuda.bindings.driver as driver

        arguments = manifest["arguments"]
        self.starter = starter
        self._arrays = [a for a in arguments if a["kind"] == "memref"]
        self._scalars = [a for a in arguments if a["kind"] == "scalar"]
        self._alignments = [a["alignment"] for a in self._arrays]
        converted = [scalar_type(a).bits for a in self._scalars]
        self._converted = converted if any(converted) else None
        names = [a["name"] for a in self._arrays]
        self._maps = [
            (names.index(entry["argument"]), map_)
            for entry, map_ in zip(manifest["tensor_maps"], maps, strict=True)
        ]
        self._slots = slots(arguments, matrices)
        self._replace = driver.cuTensorMapReplaceAddress
        self._success = driver.CUresult.CUDA_SUCCESS
        self._no_context = driver.CUresult.CUDA_ERROR_INVALID_CONTEXT
        self._free: list[ParameterFrame] = []

    def start(self, addresses: Sequence[int], numbers: Sequence[Any], stream: int) -> None:
        """Start the kernel with arrays of the plan's signatures at these addresses, and these numbers.

        Args:
            addresses: of the arrays, in order.
            numbers: of the scalar arguments, in order.
            stream: the stream's handle.

        Raises:
            LaunchError: for an address that is not aligned, a number out of its type's range, or a launch
                that the driver refuses.
        """
        try:
            frame = self._free.pop()
        except IndexError:
            frame = self._new_frame(addresses)
        try:
            self._fill(frame, addresses, numbers)
            self.starter.start(frame.address, stream)
        finally:
            self._free.append(frame)

    def frame(self, addresses: Sequence[int], numbers: Sequence[Any]) -> ParameterFrame:
        """Return a new frame with these arguments; see `start`."""
        frame = self._new_frame(addresses)
        self._fill(frame, addresses, numbers)
        return frame

    def _fill(
        self, frame: ParameterFrame, addresses: Sequence[int], numbers: Sequence[Any]
    ) -> None:
        for address, alignment in zip(addresses, self._alignments, strict=True):
            if not address or address % alignment:
                self._refuse_address(addresses)
        try:
            if self._converted:
                packed = [
                    to_bits(number) if to_bits else number
                    for to_bits, number in zip(self._converted, numbers, strict=True)
                ]
                self._slots.changing.pack_into(frame.memory, 0, *addresses, *packed)
            else:
                self._slots.changing.pack_into(frame.memory, 0, *addresses, *numbers)
        except (struct.error, OverflowError):
            for argument, number in zip(self._scalars, numbers, strict=True):
                check_scalar(argument, number)
            raise
        for i, (position, map_) in enumerate(self._maps):
            if frame.mapped[i] == (address := addresses[position]):
                continue
            frame.mapped[i] = 0  # unknown, if the driver refuses the address
            (error,) = self._replace(frame.maps[i], address)
            if error == self._no_context:  # a thread in which no GPU is current
                with self.starter.make_current():
                    (error,) = self._replace(frame.maps[i], address)
            if error != self._success:
                changed = replace(map_, pointer=address)
                raise LaunchError(f"the driver cannot encode {changed}: {error.name}")
            frame.mapped[i] = address

    def _new_frame(self, addresses: Sequence[int]) -> ParameterFrame:
        if not self._maps:
            return ParameterFrame(self._slots, [], [])
        maps = [replace(map_, pointer=addresses[position]) for position, map_ in self._maps]
        with self.starter.make_current():
            encoded = [encode(map_) for map_ in maps]
        return ParameterFrame(self._slots, encoded, [map_.pointer for map_ in maps])

    def _refuse_address(self, addresses: Sequence[int]) -> None:
        for argument, address in zip(self._arrays, addresses, strict=True):
            if not address:
                raise LaunchError(f"{argument['name']} has no memory: its address is 0")
            if address % argument["alignment"]:
                raise LaunchError(
                    f"{argument['name']} begins at {address:#x}, not a multiple of "
                    f"{argument['alignment']}"
                )


class BoundedCache(Generic[T]):
    """Values by key; the older half is dropped when there are `limit` of them."""

    def __init__(self, limit: int = 1024) -> None:
        self._values: dict[Hashable, T] = {}
        self._limit = limit
        self.get = self._values.get

    def keep(self, key: Hashable, value: T) -> None:
        """Keep a value for later calls."""
        if len(self._values) >= self._limit:
            # Another thread may have changed the dictionary; any value can be made again.
            for old_key in list(self._values)[: self._limit // 2]:
                self._values.pop(old_key, None)
        self._values[key] = value

    def clear(self) -> None:
        """Drop all values."""
        self._values.clear()
