"""How deep regions may nest: passes that follow a program recurse into them."""

from typing import Any

from .errors import OpError

#: More than any kernel has, and few enough for Python's stack.
MAX_REGIONS = 64


def check_nesting(module: Any) -> None:
    """Checks that the regions of a module do not nest too deep.

    Raises:
        OpError: at the first op that is too deep.
    """
    level = [module.operation]
    for _ in range(MAX_REGIONS + 1):
        level = [
            inner
            for op in level
            for region in op.regions
            for block in region.blocks
            for inner in block.operations
        ]
        if not level:
            return
    raise OpError(
        level[0], f"is in {MAX_REGIONS + 1} regions, one within the other; expected {MAX_REGIONS}"
    )
