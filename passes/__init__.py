"""The passes, one file each, and the driver that runs them (`driver/`)."""

from ..ir.errors import OpError
from .allocate import Allocate
from .assign_layouts import AssignLayouts
from .check_async import CheckAsync
from .driver.base import OptionError, Pass, option
from .driver.manager import add_pass, add_passes, parse_pipeline
from .driver.registry import add_own, pass_named, passes
from .lower_copies import LowerCopies
from .lower_mma import LowerMma
from .lower_warp_specialize import LowerWarpSpecialize
from .materialize_descriptors import MaterializeDescriptors
from .place_accumulators import PlaceAccumulators
from .smem_to_nvvm import SmemToNvvm

__all__ = [
    "OpError",
    "OptionError",
    "Pass",
    "add_pass",
    "add_passes",
    "option",
    "parse_pipeline",
    "pass_named",
    "passes",
]

add_own(
    AssignLayouts,
    PlaceAccumulators,
    Allocate,
    CheckAsync,
    MaterializeDescriptors,
    LowerMma,
    LowerCopies,
    LowerWarpSpecialize,
    SmemToNvvm,
)
