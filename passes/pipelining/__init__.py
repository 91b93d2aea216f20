"""`smem-pipeline`: makes pipelines of plain loops, which load tiles and multiply them."""

from .pipeline import Pipeline

__all__ = ["Pipeline"]
