"""Plot records of GEMMs or of attention: TFLOP/s of each family's fastest contender, by shape.

    python benchmarks/gemm_plot.py RECORD ... -o docs/gemm.svg [--least 100]

One panel for each type and mode. Needs matplotlib (`pip install 'mlir-smem[bench]'`) and no GPU.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from gemm_rows import FAMILIES, Row, fastest, merge_rows
from matplotlib import pyplot
from matplotlib.patches import Patch

_PALETTE = (
    *("#1b6ca8", "#6aa84f", "#e69138", "#999999", "#8e63b0"),
    *("#6aa84f", "#e69138", "#8e63b0"),
)
#: The extents of a problem of attention: batch, heads of queries and of keys, both lengths, dimension.
_OF_ATTENTION = 6

_COLOURS = dict(zip(FAMILIES, _PALETTE, strict=True))


def draw(rows: list[Row], file: Path) -> None:
    """Write the plot; the file's suffix is its format."""
    panels: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        panels.setdefault((row["type"], row["mode"]), []).append(row)
    modes = list(dict.fromkeys(mode for _, mode in panels))
    types = list(dict.fromkeys(kind for kind, _ in panels))
    # Reproducible: the same record gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "gemm"
    figure, axes = pyplot.subplots(
        len(types),
        len(modes),
        figsize=(7 * len(modes), 2.6 * len(types)),
        squeeze=False,
        sharey="row",
        layout="constrained",
    )
    most_rows = max(map(len, panels.values()))
    for across, kind in zip(axes, types, strict=True):
        for axis, mode in zip(across, modes, strict=True):
            _panel(axis, panels.get((kind, mode), []))
            axis.set_xlim(-0.6, most_rows - 0.4)
            axis.set_title(f"{kind}, {mode}", fontsize=10)
        across[0].set_ylabel("TFLOP/s")
    families_of_rows = {family for row in rows for family in fastest(row)}
    families = [family for family in FAMILIES if family in families_of_rows]
    handles = [Patch(color=_COLOURS[family], label=family) for family in families]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None, dpi=150)
    pyplot.close(figure)


def _panel(axis: pyplot.Axes, rows: list[Row]) -> None:
    """Bars for each shape, side by side."""
    best = [fastest(row) for row in rows]
    families = [
        family for family in FAMILIES if any(family in fastest_of_row for fastest_of_row in best)
    ]
    width = 0.8 / max(len(families), 1)
    for number, family in enumerate(families):
        shift = (number - (len(families) - 1) / 2) * width
        bars = [(position + shift, b[family][1]) for position, b in enumerate(best) if family in b]
        axis.bar(*zip(*bars, strict=True), width, color=_COLOURS[family])
    names = [_label(row["shape"]) for row in rows]
    axis.set_xticks(range(len(rows)), names, fontsize=7)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(axis="y", linewidth=0.4)


def _label(shape: list[int]) -> str:
    """The extents in two lines; the dimension, the length and the heads that share keys of attention."""
    if len(shape) == _OF_ATTENTION:
        _, heads, groups, _, keys, dim = shape
        return f"{dim}\n{keys}" + (f"\n{heads}:{groups}" if heads > groups else "")
    first = (len(shape) + 1) // 2
    return (
        "\u00d7".join(map(str, shape[:first])) + "\n\u00d7" + "\u00d7".join(map(str, shape[first:]))
    )


def _most(row: Row) -> float:
    """The TFLOP/s of the fastest contender."""
    return max(rate for _, rate in fastest(row).values())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("records", nargs="+", type=Path, help="what benchmarks/gemm.py recorded")
    arguments.add_argument("-o", "--output", type=Path, required=True, help="an .svg or .png file")
    arguments.add_argument(
        "--least", type=float, default=0, help="leave out shapes where nobody has these TFLOP/s"
    )
    options = arguments.parse_args()
    rows: list[Row] = []
    for file in options.records:
        rows = merge_rows(rows, json.loads(file.read_text())["rows"])
    draw([row for row in rows if _most(row) >= options.least], options.output)


if __name__ == "__main__":
    main()
