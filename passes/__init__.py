"""The passes, their registry and pipelines."""

from .base import OpError, OptionError, Pass, option
from .manager import add_pass, add_passes, add_pipeline
from .registry import pass_named, passes

__all__ = [
    "OpError",
    "OptionError",
    "Pass",
    "add_pass",
    "add_passes",
    "add_pipeline",
    "option",
    "pass_named",
    "passes",
]
