"""The figures of docs/layouts.md: each is what its command draws, with every cell at the right place."""

import shlex
import sys
from pathlib import Path

import pytest
from drawn import check_positions, read

from mlir_smem.advisor.pictures import Picture
from mlir_smem.tools.command import parser
from mlir_smem.tools.smem_layout.commands import plot

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from layouts import FIGURES, draw

DOCS = Path(__file__).parents[2] / "docs"

names = pytest.mark.parametrize("name", FIGURES)

#: Figures of tiles; those of D in tensor memory are tested in tests/advisor.
tiles = pytest.mark.parametrize(
    "name", [name for name in FIGURES if "--accumulator" not in FIGURES[name][1]]
)


def pictures(name):
    """Return the pictures that the command of a figure draws."""
    arguments = parser("plot", "")
    plot.add_arguments(arguments)
    return plot.pictures(arguments.parse_args(shlex.split(FIGURES[name][1])))


@names
def test_a_figure_is_what_its_command_draws(name, tmp_path):
    draw(name, tmp_path)
    stored = (DOCS / "figures" / f"{name}.svg").read_text()
    assert (tmp_path / f"{name}.svg").read_text() == stored, "run `make docs`"


@tiles
def test_every_cell_of_a_figure_is_where_the_layout_maps_it(name):
    panels = read((DOCS / "figures" / f"{name}.svg").read_text())
    shown = pictures(name)
    assert len(panels) == len(shown)
    for cells, picture in zip(panels, shown, strict=True):
        assert isinstance(picture, Picture)
        assert check_positions(cells, picture) == len(picture.grid.drawn_cells) > 0
        touched = picture.touched
        for cell in cells:
            lane = touched.lane[cell.row, cell.column] if touched and touched.lane_name else -1
            assert cell.lane == (None if lane < 0 else lane)


def test_every_figure_is_on_the_page_and_no_other_is_stored():
    page = (DOCS / "layouts.md").read_text()
    assert [name for name in FIGURES if f"(figures/{name}.svg)" not in page] == []
    assert {path.stem for path in (DOCS / "figures").glob("*.svg")} == set(FIGURES)
