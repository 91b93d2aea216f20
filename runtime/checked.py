"""The checks of a launch, which are the same on a GPU and on the emulator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arguments import Matrix, check_count, check_matrix, launch_grid, solve_extents
from .scalars import check_scalar
from .tensor_maps import TensorMapArguments, tensor_map


@dataclass(frozen=True)
class CheckedLaunch:
    """The arguments of a launch that fit the kernel.

    Attributes:
        matrices: the arrays as the kernel addresses them, by argument.
        grid: thread blocks along x, y, z.
        maps: the tensor maps of the arrays, in the kernel's order.
    """

    matrices: dict[str, Matrix]
    grid: tuple[int, int, int]
    maps: list[TensorMapArguments]


def check_launch(
    kernel: Mapping[str, Any],
    arguments: Sequence[Any],
    matrix_of: Callable[[Mapping[str, Any], Any], Matrix],
    grid: Sequence[int] | None,
) -> CheckedLaunch:
    """Check the arguments of a launch.

    Args:
        kernel: the kernel's entry in the manifest.
        arguments: for each argument of the kernel, an array or a number.
        matrix_of: returns an array as the kernel addresses it, from the argument's entry in the manifest
            and the array.
        grid: thread blocks along x, y, z; None for the grid that the manifest computes.

    Raises:
        LaunchError: if a number, a type, a shape, a stride, an address or the grid does not fit.
    """
    check_count(kernel, arguments)
    matrices: dict[str, Matrix] = {}
    for argument, value in zip(kernel["arguments"], arguments, strict=True):
        if argument["kind"] == "scalar":
            check_scalar(argument, value)
            continue
        matrix = matrix_of(argument, value)
        check_matrix(argument, matrix)
        matrices[argument["name"]] = matrix
    shapes = {name: matrix.shape for name, matrix in matrices.items()}
    extents = launch_grid(kernel, solve_extents(kernel, shapes), grid)
    maps = [tensor_map(entry, matrices[entry["argument"]]) for entry in kernel["tensor_maps"]]
    return CheckedLaunch(matrices, extents, maps)
