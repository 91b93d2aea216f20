"""Names of a kernel's parameters and extents, and divisors of extents, from its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..bindings.irtypes import Attribute, Op
from ..bindings.mlir import ir
from .kernel import parameter_attributes
from .launch_attributes import MULTIPLES


def parameter_name(function: Op, number: int) -> str:
    """Return the name of a parameter, by its `smem.name`; else "argument 2", for example."""
    name = _attribute(_attributes(function, number), "smem.name")
    return name.value if isinstance(name, ir.StringAttr) else f"argument {number}"


def extent_name(function: Op, number: int, dim: int) -> str:
    """Return the name of an extent of a parameter, by its `smem.shape`; else "dimension 1 of A"."""
    name = _name_in_shape(function, number, dim)
    return name or f"dimension {dim} of {parameter_name(function, number)}"


def extent_multiple(function: Op, number: int, dim: int) -> int:
    """Return a divisor and lower bound of an extent of a parameter, from the kernel's `smem.multiples`; 1
    if it has none."""
    multiples = _attribute(function.attributes, MULTIPLES)
    name = _name_in_shape(function, number, dim)
    if not isinstance(multiples, ir.DictAttr) or name is None or name not in multiples:
        return 1
    multiple = multiples[name]
    return max(multiple.value, 1) if isinstance(multiple, ir.IntegerAttr) else 1


def equal_extents(function: Op, number: int, dim: int) -> list[tuple[int, int]]:
    """Return the extents, by parameter and dimension, that have the name of one of a parameter."""
    name = _name_in_shape(function, number, dim)
    return [(number, dim)] if name is None else _extents_named(function, name)


def covered_extents(function: Op) -> dict[str, tuple[tuple[int, int], int]]:
    """Return, for x, y and z, the extent that the blocks of a grid cover by its `smem.grid`, as a
    parameter and a dimension, and how many elements of it a block covers."""
    grid = _attribute(function.attributes, "smem.grid")
    entries = [*grid] if isinstance(grid, ir.ArrayAttr) else []
    covered = {}
    for axis, (name, elements) in zip("xyz", entries, strict=False):
        if extents := _extents_named(function, name.value):
            covered[axis] = extents[0], elements.value
    return covered


def _extents_named(function: Op, name: str) -> list[tuple[int, int]]:
    count = len(function.regions[0].blocks[0].arguments)
    return [
        (number, dim)
        for number in range(count)
        for dim, extent in enumerate(_shape(function, number))
        if isinstance(extent, ir.StringAttr) and extent.value == name
    ]


def _name_in_shape(function: Op, number: int, dim: int) -> str | None:
    names = _shape(function, number)
    if not 0 <= dim < len(names):
        return None
    return names[dim].value if isinstance(names[dim], ir.StringAttr) else None


def _shape(function: Op, number: int) -> Sequence[Attribute]:
    """Return the `smem.shape` of a parameter; empty without one."""
    shape = _attribute(_attributes(function, number), "smem.shape")
    return [*shape] if isinstance(shape, ir.ArrayAttr) else []


def _attributes(function: Op, number: int) -> Attribute:
    attributes = parameter_attributes(function, number + 1)
    # The arguments of other blocks than the first have none.
    return attributes[number] if number < len(attributes) else ir.DictAttr.get()


def _attribute(attributes: Any, name: str) -> Any:
    # `get` of a dictionary attribute makes one.
    if name not in attributes:
        return None
    return attributes[name]
