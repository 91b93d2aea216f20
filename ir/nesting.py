"""The limit on nested regions: passes recurse into them."""

from ..bindings.irtypes import Module
from .errors import OpError

#: More than kernels have, and few enough for Python's stack.
MAX_REGIONS = 64


def check_nesting(module: Module) -> None:
    """Check that the regions of a module do not nest too deep.

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
