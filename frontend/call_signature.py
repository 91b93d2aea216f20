"""The tensors that a call of an exported program reads, writes and returns. It needs no PyTorch.

A program is a function of tensors, and writes none of them. It returns the tensors that a module of
PyTorch writes, and the call writes them back: in place, or by binding an attribute of the module anew.
Where eager PyTorch returns an argument, a buffer, or a view of one, so does the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..runtime import LaunchError


@dataclass(frozen=True)
class TensorRef:
    """A reference to a tensor of a call.

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
class ViewOp:
    """An op that returns a view of a tensor.

    Attributes:
        op: its name in PyTorch, for example "aten.slice.Tensor".
        arguments: the arguments after the tensor.
        item: the number of the view among several; None if the op returns one.
    """

    op: str
    arguments: tuple[Any, ...] = ()
    item: int | None = None


@dataclass(frozen=True)
class Part:
    """A part of memory that several results share.

    Attributes:
        memory: the number of the memory; results with the same number share it.
        size: the size of the memory, in elements.
        shape, strides, offset: of the part, in elements.
    """

    memory: int
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class OutputSpec:
    """One leaf of the function's result.

    Attributes:
        place: the tensor; None for a value that is no tensor.
        views: the view ops from the tensor to the returned view; empty for the tensor itself.
        part: the memory that it shares with other results.
        value: the value, if it is no tensor.
        same: the number of an earlier output, if it is the same tensor.
    """

    place: TensorRef | None = None
    views: tuple[ViewOp, ...] = ()
    part: Part | None = None
    value: Any = None
    same: int | None = None


@dataclass(frozen=True)
class Signature:
    """The inputs and results of a program, and the writes and outputs of a call.

    Attributes:
        types: the types of the tensors among arguments, state and constants.
        values: the arguments that are no tensors, by number; they are part of the program.
        inputs: the inputs of the program.
        writes: the tensors that a call writes in place, each with the number of the result to write.
        outputs: the leaves of the function's result, then the new values of rebound attributes.
        rebinds: the names of the attributes of the module that a call rebinds.
        extents: the smallest and the largest value of each dynamic extent; None without a limit.
    """

    types: Mapping[TensorRef, TensorType]
    values: Mapping[int, Any]
    inputs: tuple[TensorRef, ...]
    writes: tuple[tuple[TensorRef, int], ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    rebinds: tuple[str, ...] = ()
    extents: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """The number of results of the program."""
        places = [output.place for output in self.outputs if output.place is not None]
        numbers = [int(place.key) for place in places if place.kind == "result"]
        return 1 + max([-1, *numbers, *(number for _, number in self.writes)])


class ArrayLibrary(Protocol):
    """Operations of a call on arrays of a library."""

    def type_of(self, array: Any) -> TensorType | None:
        """Return the type of an array; None for any other value."""
        ...

    def shares_memory(self, first: Any, second: Any) -> bool: ...

    def assign(self, target: Any, value: Any) -> None:
        """Write elements in place."""
        ...

    def view(self, array: Any, view: ViewOp) -> Any: ...

    def part(self, memory: Any, part: Part) -> Any:
        """Return a part of memory that `empty` returned."""
        ...

    def empty(self, size: int, like: Any) -> Any:
        """Return memory of `size` elements of an array's type."""
        ...


class ProgramCall:
    """One call of a program.

    Args:
        signature: the program's signature.
        arrays: the library of the arrays.
        arguments: the leaves of the function's arguments.
        state: returns the tensors of the module, and captured ones.

    Raises:
        LaunchError: for arguments of other types than the program is compiled for, and if a tensor that
            the call writes shares memory with another that it reads or writes.
    """

    def __init__(
        self,
        signature: Signature,
        arrays: ArrayLibrary,
        arguments: Sequence[Any],
        state: Callable[[TensorRef], Any],
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
        """The inputs of the program."""
        return [self._tensors[place] for place in self._signature.inputs]

    def finish(self, results: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Write back the results of the program.

        Args:
            results: the results of the program.

        Returns:
            The leaves of the function's result, and the new values of rebound attributes of the module,
            by name.
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

    def _output(self, output: OutputSpec, results: Sequence[Any], memories: dict[int, Any]) -> Any:
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
            type_ = self._arrays.type_of(self._tensors[place])
            if type_ is None:
                type_name = type(self._tensors[place]).__name__
                raise LaunchError(
                    f"{place} is of type {type_name}; expected a tensor of {expected}"
                )
            if type_.dtype != expected.dtype or not _fits(type_.shape, expected.shape):
                raise LaunchError(f"{place} is {type_}; expected {expected}")
            for dim, (extent, name) in enumerate(zip(type_.shape, expected.shape, strict=True)):
                if not isinstance(name, str) or name not in self._signature.extents:
                    continue
                where = f"{place} has the extent {extent} along dimension {dim}"
                least, largest = self._signature.extents[name]
                if int(extent) < (least or 0) or (largest is not None and int(extent) > largest):
                    most = "" if largest is None else f" and at most {largest}"
                    raise LaunchError(f"{where}; expected at least {least or 0}{most}")
                earlier_extent, owner = extents.setdefault(name, (extent, str(place)))
                if earlier_extent != extent:
                    raise LaunchError(f"{where}; expected {earlier_extent}, as {owner} has it")


def check_writes(
    signature: Signature, arrays: ArrayLibrary, tensors: Mapping[TensorRef, Any]
) -> None:
    """Check that tensors that a call writes share no memory with its other tensors.

    For the program, they are different tensors, so that a write to one would not change the other.

    Args:
        signature: the program's signature.
        arrays: the library of the arrays.
        tensors: some or all tensors of a call.

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
