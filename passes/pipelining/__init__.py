"""Passes that make pipelines of plain loops, which load tiles and multiply them."""

from .pipeline import PipelineLoops
from .warp_specialize import WarpSpecialize

__all__ = ["PipelineLoops", "WarpSpecialize"]
