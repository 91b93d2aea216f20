"""The passes, one file or folder each, and the driver that runs them (`driver/`)."""

from ..bindings.irtypes import Context
from ..ir.errors import OpError
from .allocate import Allocate
from .assert_bounds import AssertBounds
from .assign_layouts import AssignLayouts
from .check_async import CheckAsync
from .driver.base import OptionError, Pass, option, pass_named, passes, register_passes
from .driver.manager import add_pass, add_passes, parse_pipeline
from .insert_sync import InsertSync
from .lower_copies import LowerCopies
from .lower_mma import LowerMma
from .lower_warp_specialize import LowerWarpSpecialize
from .mask_accesses import MaskAccesses
from .materialize_descriptors import MaterializeDescriptors
from .pipelining import OverlapProducts, PipelineLoops, PrintSteadyState, WarpSpecialize
from .place_accumulators import PlaceAccumulators
from .smem_to_nvvm import SmemToNvvm
from .uplift_to_fma import UpliftToFma

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
    "register_transform",
]


def register_transform(context: Context) -> Context:
    """Load `smem` and `smem_transform`, whose ops are for transform scripts; a second call has no effect.

    Args:
        context: a context of the bindings.

    Returns:
        The context.

    Raises:
        NotImplementedError: if the bindings cannot define transform ops in Python.

    Example:
        >>> from mlir_smem.bindings import ir
        >>> context = register_transform(ir.Context())
        >>> context.is_registered_operation("smem_transform.apply_registered_pass")
        True
    """
    # Few need it, and it imports the transform dialect.
    from .driver.apply_registered_pass import APPLY_REGISTERED_PASS
    from .driver.transform import load

    load(context, (APPLY_REGISTERED_PASS,))
    return context


def __dir__() -> list[str]:
    return __all__


# In the order of the pipeline `smem-to-nvvm`, which comes last.
register_passes(
    WarpSpecialize,
    PipelineLoops,
    OverlapProducts,
    InsertSync,
    PrintSteadyState,
    UpliftToFma,
    AssignLayouts,
    PlaceAccumulators,
    Allocate,
    CheckAsync,
    AssertBounds,
    MaskAccesses,
    MaterializeDescriptors,
    LowerMma,
    LowerCopies,
    LowerWarpSpecialize,
    SmemToNvvm,
)
