"""Passes that make pipelines of plain loops, which load tiles and multiply them."""

from .overlap import OverlapProducts
from .pipeline import PipelineLoops
from .warp_specialize import WarpSpecialize

__all__ = ["OverlapProducts", "PipelineLoops", "WarpSpecialize"]
