"""CuTe's results in `tests/data/cute_sm90.json.gz`, and its tiles as this project's layouts."""

import gzip
import json
from pathlib import Path

from each import for_each

from mlir_smem.layout import Swizzle, TileOrder, element, tile_of_atoms


def read(file):
    """The contents of a file of `tests/data`."""
    return json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / file).read_bytes()))


DATA = read("cute_sm90.json.gz")
ROWS = DATA["rows"]
SWIZZLES = {
    "INTER": Swizzle.NONE,
    "SW32": Swizzle.B32,
    "SW64": Swizzle.B64,
    "SW128": Swizzle.B128,
    "SW128_32B": Swizzle.B128_ATOM_32B,  # sm_100 only
}


def contiguous_of(row):
    """The contiguous dimension of an operand of shape (m/n, k)."""
    return 1 if row["major"] == "K" else 0


def tile_of(row):
    """A row's tile, (stages, m/n, k).

    The order in the data names a dimension; a `TileOrder` is relative to the contiguous one.
    """
    mn_is_across = row["major"] == "K"
    order = (
        TileOrder.ACROSS if (row["tile_order"] == "mn_first") == mn_is_across else TileOrder.ALONG
    )
    return tile_of_atoms(
        element(row["dtype"]),
        (row["stages"], row["mn"], row["k"]),
        contiguous_of(row),
        SWIZZLES[row["swizzle"]],
        order,
    )


def name_of(row):
    shape = "x".join(str(row[n]) for n in ("stages", "mn", "k"))
    return f"{row['dtype']}-{row['major']}-{row['swizzle']}-{shape}-{row['id']}"


every_row = for_each("row", ROWS, name_of)
