"""What a call of an exported program reads, writes and returns. It needs no PyTorch.

A program is a function of tensors, and writes none of them. What a module of PyTorch writes, it returns,
and the call writes it back: in place, or by binding an attribute of the module anew. Where eager PyTorch
returns an argument, a buffer, or a view of one, so does the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..runtime import LaunchError


@dataclass(frozen=True)
class Place:
    """Where a tensor of a call is.

    Attributes:
        kind: "argument", "state" (of the module), "constant" (that the function captures), or "result"
            (of the program).
        key: the number of an argument or a result; the name of state or of a constant.
    """

    kind: str
    key: int | str

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


@dataclass(frozen=True)
class TensorType:
    """The element type of a tensor, by NumPy's name, and its extents; a dynamic one has a name."""

    dtype: str
    shape: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.dtype} of shape ({', '.join(map(str, self.shape))})"


@dataclass(frozen=True)
class View:
    """An op that makes a view of a tensor.

    Attributes:
        op: its name in PyTorch, for example "aten.slice.Tensor".
        arguments: those after the tensor.
        item: which of several views it is; None if the op makes one.
    """

    op: str
    arguments: tuple[Any, ...] = ()
    item: int | None = None


@dataclass(frozen=True)
class Part:
    """A part of memory that several results share: its own extents, strides and offset, in elements.

    Attributes:
        memory: which memory; results with the same number share it.
        size: the elements of that memory.
    """

    memory: int
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Output:
    """What the function returns in one place.

    Attributes:
        place: the tensor; None for a value that is none.
        views: its view that is returned; none if it is returned itself.
        part: the memory that it shares with other results.
        value: the value, if it is no tensor.
        same: the number of an earlier output, if it is the same tensor.
    """

    place: Place | None = None
    views: tuple[View, ...] = ()
    part: Part | None = None
    value: Any = None
    same: int | None = None


@dataclass(frozen=True)
class Signature:
    """What a program takes and gives, and what a call makes of it.

    Attributes:
        types: the types of the tensors among arguments, state and constants.
        values: the arguments that are no tensors, by number; they are part of the program.
        inputs: what the program takes.
        writes: what a call writes in place, and the number of the result with its new value.
        outputs: what the function returns, flattened, and then what attributes of the module become.
        rebinds: the names of these attributes.
        extents: the least and the largest value of each dynamic extent; None without a limit.
    """

    types: Mapping[Place, TensorType]
    values: Mapping[int, Any]
    inputs: tuple[Place, ...]
    writes: tuple[tuple[Place, int], ...] = ()
    outputs: tuple[Output, ...] = ()
    rebinds: tuple[str, ...] = ()
    extents: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """The number of results of the program."""
        places = [output.place for output in self.outputs if output.place is not None]
        numbers = [int(place.key) for place in places if place.kind == "result"]
        return 1 + max([-1, *numbers, *(number for _, number in self.writes)])


class Arrays(Protocol):
    """What a call does with arrays of a library."""

    def type_of(self, array: Any) -> TensorType | None:
        """Return the type of an array; None for what is none."""
        ...

    def shares_memory(self, one: Any, other: Any) -> bool: ...

    def assign(self, target: Any, value: Any) -> None:
        """Write elements in place."""
        ...

    def view(self, array: Any, view: View) -> Any: ...

    def part(self, memory: Any, part: Part) -> Any:
        """Return a part of what `empty` has returned."""
        ...

    def empty(self, size: int, like: Any) -> Any:
        """Return memory of `size` elements of an array's type."""
        ...


class Call:
    """One call of a program.

    Args:
        signature: what the program takes and gives.
        arrays: the library of the arrays.
        arguments: those of the function, flattened.
        state: the module's tensors and captured ones, by place.

    Raises:
        LaunchError: for arguments of other types than the program is compiled for, and if something that
            the call writes shares memory with something else that it reads or writes.
    """

    def __init__(
        self,
        signature: Signature,
        arrays: Arrays,
        arguments: Sequence[Any],
        state: Callable[[Place], Any],
    ) -> None:
        self._signature, self._arrays, self._arguments = signature, arrays, arguments
        self._tensors = {
            place: arguments[int(place.key)] if place.kind == "argument" else state(place)
            for place in signature.types
        }
        self._check_values()
        self._check_types()
        check_writes(signature, arrays, self._tensors)

    @property
    def inputs(self) -> list[Any]:
        """What the program takes."""
        return [self._tensors[place] for place in self._signature.inputs]

    def finish(self, results: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Write back what the program returned.

        Args:
            results: of the program.

        Returns:
            What the function returns, flattened, and what the attributes of the module are that the call
            binds anew, by name.
        """
        for target, number in self._signature.writes:
            self._arrays.assign(self._tensors[target], results[number])
        memories: dict[int, Any] = {}
        outputs: list[Any] = []
        for output in self._signature.outputs:
            same = output.same
            outputs.append(
                self._output(output, results, memories) if same is None else outputs[same]
            )
        count = len(outputs) - len(self._signature.rebinds)
        return outputs[:count], dict(zip(self._signature.rebinds, outputs[count:], strict=True))

    def _output(self, output: Output, results: Sequence[Any], memories: dict[int, Any]) -> Any:
        if output.place is None:
            return output.value
        if output.place.kind == "result":
            value = results[int(output.place.key)]
            return value if output.part is None else self._share(output.part, value, memories)
        value = self._tensors[output.place]
        for view in output.views:
            value = self._arrays.view(value, view)
        return value

    def _share(self, part: Part, value: Any, memories: dict[int, Any]) -> Any:
        if part.memory not in memories:
            memories[part.memory] = self._arrays.empty(part.size, value)
        shared = self._arrays.part(memories[part.memory], part)
        # An extent with the stride 0 is one element in memory.
        once = tuple(slice(1 if stride == 0 else None) for stride in part.strides)
        self._arrays.assign(shared[once], value[once])
        return shared

    def _check_values(self) -> None:
        for number, value in self._signature.values.items():
            argument = self._arguments[number]
            if type(argument) is not type(value) or argument != value:
                raise LaunchError(
                    f"argument {number} is {argument!r}, but the program is compiled for {value!r}: "
                    "what is no tensor is part of the program"
                )

    def _check_types(self) -> None:
        extents: dict[str, tuple[int | str, str]] = {}
        for place, expected in self._signature.types.items():
            found = self._arrays.type_of(self._tensors[place])
            if found is None:
                what = type(self._tensors[place]).__name__
                raise LaunchError(f"{place} is of type {what}; expected a tensor of {expected}")
            if found.dtype != expected.dtype or not _fits(found.shape, expected.shape):
                raise LaunchError(f"{place} is {found}; expected {expected}")
            for dim, (extent, name) in enumerate(zip(found.shape, expected.shape, strict=True)):
                if not isinstance(name, str) or name not in self._signature.extents:
                    continue
                where = f"{place} has the extent {extent} along dimension {dim}"
                least, largest = self._signature.extents[name]
                if int(extent) < (least or 0) or (largest is not None and int(extent) > largest):
                    most = "" if largest is None else f" and at most {largest}"
                    raise LaunchError(f"{where}; expected at least {least or 0}{most}")
                other, there = extents.setdefault(name, (extent, str(place)))
                if other != extent:
                    raise LaunchError(f"{where}; expected {other}, as {there} has it")


def check_writes(signature: Signature, arrays: Arrays, tensors: Mapping[Place, Any]) -> None:
    """Check that what a call writes shares no memory with what else it takes.

    The program takes them for different tensors, so one would not see what is written to the other.

    Args:
        signature: what the program takes and writes.
        arrays: the library of the arrays.
        tensors: some or all of what a call takes, by place.

    Raises:
        LaunchError: for tensors that share memory.
    """
    targets = [target for target, _ in signature.writes if target in tensors]
    read = {*signature.inputs, *targets}
    for target in targets:
        for place, tensor in tensors.items():
            if place == target or place not in read:
                continue
            if arrays.shares_memory(tensors[target], tensor):
                raise LaunchError(
                    f"{target} is written, and shares memory with {place}; give a copy of one of them"
                )


def _fits(shape: Sequence[int | str], expected: Sequence[int | str]) -> bool:
    return len(shape) == len(expected) and all(
        isinstance(name, str) or extent == name
        for extent, name in zip(shape, expected, strict=True)
    )
