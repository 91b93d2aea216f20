"""CuTe's results for sm_100, and its tiles as this project's layouts.

`tests/data/cute_sm100.json.gz` holds them, with their source and licence in `meta`.
"""

from each import for_each
from oracle import SWIZZLES, name_of, read, tile_of

__all__ = ["DATA", "ROWS", "SWIZZLES", "every_row", "name_of", "tile_of"]

DATA = read("cute_sm100.json.gz")
ROWS = DATA["rows"]

every_row = for_each("row", ROWS, name_of)
