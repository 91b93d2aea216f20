"""The figures of docs/layouts.md: each is what its command draws, and right about every cell."""

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

#: Those of tiles; what those of D in tensor memory hold is tested with them.
tiles = pytest.mark.parametrize(
    "name", [name for name in FIGURES if "--accumulator" not in FIGURES[name][1]]
)


def pictures(name):
    """What the command of a figure draws."""
    made = parser("plot", "")
    plot.add_arguments(made)
    return plot.pictures(made.parse_args(shlex.split(FIGURES[name][1])))


@names
def test_a_figure_is_what_its_command_draws(name, tmp_path):
    draw(name, tmp_path)
    kept = (DOCS / "figures" / f"{name}.svg").read_text()
    assert (tmp_path / f"{name}.svg").read_text() == kept, "run `make docs`"


@tiles
def test_every_cell_of_a_figure_lies_where_the_layout_says(name):
    panels = read((DOCS / "figures" / f"{name}.svg").read_text())
    shown = pictures(name)
    assert len(panels) == len(shown)
    for cells, picture in zip(panels, shown, strict=True):
        assert isinstance(picture, Picture)
        assert check_positions(cells, picture) == len(picture.grid.drawn) > 0
        over = picture.touched
        for cell in cells:
            lane = over.lane[cell.row, cell.column] if over and over.word else -1
            assert cell.lane == (None if lane < 0 else lane)


def test_every_figure_is_on_the_page_and_no_other_is_kept():
    page = (DOCS / "layouts.md").read_text()
    assert [name for name in FIGURES if f"(figures/{name}.svg)" not in page] == []
    assert {path.stem for path in (DOCS / "figures").glob("*.svg")} == set(FIGURES)
