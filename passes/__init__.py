"""The passes, their registry and pipelines."""

from ..ir.errors import OpError
from .driver.base import OptionError, Pass, option
from .driver.manager import add_pass, add_passes, add_pipeline
from .driver.registry import pass_named, passes

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
