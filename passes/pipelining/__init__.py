"""Passes that make pipelines of plain loops, which load tiles and multiply them."""

from .overlap import OverlapProducts
from .pipeline import PipelineLoops
from .steady_state import PrintSteadyState
from .warp_specialize import WarpSpecialize

__all__ = ["OverlapProducts", "PipelineLoops", "PrintSteadyState", "WarpSpecialize"]
