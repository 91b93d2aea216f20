"""The grid of a launch: computed from extents, or given; and grids that are refused."""

import pytest
from test_arguments import kernel, message_of

from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.arguments import launch_grid

GRID = [["N", 256], ["M", 128]]


@pytest.mark.parametrize(
    "extents, grid",
    [
        ({"M": 128, "N": 256}, (1, 1, 1)),
        ({"M": 1024, "N": 512}, (2, 8, 1)),
        ({"M": 129, "N": 257}, (2, 2, 1)),
        ({"M": 1, "N": 1}, (1, 1, 1)),
    ],
)
def test_the_grid_covers_the_extents(extents, grid):
    assert launch_grid(kernel(grid=GRID), extents, None) == grid


@pytest.mark.parametrize(
    "given, grid", [((7,), (7, 1, 1)), ((7, 5), (7, 5, 1)), ([7, 5, 3], (7, 5, 3))]
)
def test_a_given_grid_is_completed(given, grid):
    assert launch_grid(kernel(grid=GRID), {}, given) == grid


@pytest.mark.parametrize(
    "grid, extents, given, message",
    [
        (None, {}, None, "matmul has no smem.grid; pass a grid"),
        (GRID, {"M": 128}, None, "the grid of matmul needs N, which no input has"),
        (None, {}, [], "a grid has one to three positive extents, not []"),
        (None, {}, [1, 2, 3, 4], "a grid has one to three positive extents, not [1, 2, 3, 4]"),
        (None, {}, [4, 0], "a grid has one to three positive extents, not [4, 0]"),
        (None, {}, [-1], "a grid has one to three positive extents, not [-1]"),
        (GRID, {"M": 0, "N": 1}, None, "a grid has one to three positive extents, not [1, 0]"),
        (
            None,
            {},
            [1, 65536],
            "a grid of [1, 65536, 1] is not possible; at most [2147483647, 65535, 65535]",
        ),
    ],
)
def test_grids_that_are_refused(grid, extents, given, message):
    with pytest.raises(LaunchError) as error:
        launch_grid(kernel(grid=grid), extents, given)
    assert message_of(error) == message


@pytest.mark.parametrize("grid", [(2, 4), (6, 8, 3)])
def test_grids_of_whole_clusters(grid):
    assert launch_grid(kernel(cluster=[2, 4, 1]), {}, grid) == (*grid, 1)[:3]


@pytest.mark.parametrize("grid", [[3, 4, 1], [2, 6, 1]])
def test_grids_of_partial_clusters(grid):
    with pytest.raises(LaunchError) as error:
        launch_grid(kernel(cluster=[2, 4, 1]), {}, grid)
    assert message_of(error) == (
        f"a grid of {grid} blocks is not possible; matmul has clusters; expected multiples of "
        "[2, 4, 1]"
    )
