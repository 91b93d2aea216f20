"""Passes that make pipelines of plain loops, which load tiles and multiply them."""

from .pipeline import Pipeline
from .warp_specialize import WarpSpecialize

__all__ = ["Pipeline", "WarpSpecialize"]
