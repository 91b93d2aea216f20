"""CuTe's answers for sm_100, and how their rows are said in our words.

`tests/data/cute_sm100.json.gz` holds them, with their source and licence in `meta`.
"""

import gzip
import json
from pathlib import Path

from each import for_each

from mlir_smem.layout import Order, Swizzle, element, tile_of_atoms

DATA = json.loads(
    gzip.decompress(Path(__file__).with_name("data").joinpath("cute_sm100.json.gz").read_bytes())
)
ROWS = DATA["rows"]
SWIZZLES = {
    "INTER": Swizzle.NONE,
    "SW32": Swizzle.B32,
    "SW64": Swizzle.B64,
    "SW128": Swizzle.B128,
    "SW128_32B": Swizzle.B128_ATOM_32B,
}


def tile_of(row):
    """A row's tile in our words, (m/n, k), stages in front."""
    k_major = row["major"] == "K"
    order = Order.ACROSS if (row["tile_order"] == "mn_first") == k_major else Order.ALONG
    shape = (row["stages"], row["mn"], row["k"])
    return tile_of_atoms(
        element(row["dtype"]), shape, int(k_major), SWIZZLES[row["swizzle"]], order
    )


def name_of(row):
    return f"{row['dtype']}-{row['major']}-{row['swizzle']}-{row['mn']}x{row['k']}-{row['id']}"


every_row = for_each("row", ROWS, name_of)
