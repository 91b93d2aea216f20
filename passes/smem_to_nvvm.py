"""`smem-to-nvvm`: all passes, in their order."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..layout import Swizzle
from ..layout.arch import Arch
from ..layout.banks import MAX_BYTES
from .allocate import Allocate
from .assert_bounds import AssertBounds
from .assign_layouts import AssignLayouts
from .check_async import CheckAsync
from .driver.base import Pass, option
from .insert_sync import InsertSync
from .lower_copies import LowerCopies
from .lower_mma import LowerMma
from .lower_warp_specialize import LowerWarpSpecialize
from .mask_accesses import MaskAccesses
from .materialize_descriptors import MaterializeDescriptors
from .pipelining import OverlapProducts, PipelineLoops, PrintSteadyState, WarpSpecialize
from .place_accumulators import PlaceAccumulators
from .uplift_to_fma import UpliftToFma


@dataclass(frozen=True)
class SmemToNvvm(Pass):
    """Lowers tiles to NVVM; ops of other dialects are not changed."""

    name = "smem-to-nvvm"
    description = "the whole lowering: layouts, addresses, descriptors, copies, mma"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")
    max_swizzle: Swizzle = option(Swizzle.B128, "the widest swizzle to choose, in bytes")
    explain: bool = option(False, "print layouts, evaluations and descriptors as remarks")
    max_bytes: int = option(MAX_BYTES, "shared memory of a CTA, in bytes")
    reserved_bytes: int = option(0, "bytes to reserve at the start of dynamic shared memory")

    assert_bounds: bool = option(False, "assert, for the emulator, that positions are within tiles")
    mask_accesses: bool = option(False, "mask accesses of arrays that may be outside of them")
    insert_sync: bool = option(False, "first insert the synchronization that program order needs")
    pipeline: str = option(
        "none",
        "before, divide kernels with smem.specialize into partitions, and give stages to the tiles that "
        "loops load: no loop's, those with smem.stages, or all",
        choices=("none", "marked", "all"),
    )

    def passes(self) -> Iterator[Pass]:
        if self.pipeline != "none":
            only_marked = self.pipeline == "marked"
            yield WarpSpecialize(only_marked=True, max_bytes=self.max_bytes, explain=self.explain)
            yield PipelineLoops(
                only_marked=only_marked, max_bytes=self.max_bytes, explain=self.explain
            )
            yield OverlapProducts(only_marked=True, explain=self.explain)
        if self.insert_sync:
            yield InsertSync(explain=self.explain)
        if self.explain and self.pipeline != "none":
            yield PrintSteadyState()
        yield UpliftToFma()
        yield AssignLayouts(arch=self.arch, max_swizzle=self.max_swizzle, explain=self.explain)
        if self.arch.isa.has_tensor_memory:
            yield PlaceAccumulators()
        yield Allocate(max_bytes=self.max_bytes, reserved_bytes=self.reserved_bytes)
        yield CheckAsync()
        if self.assert_bounds:
            yield AssertBounds()
        # What is proven before is not changed: masks leave accesses out.
        if self.mask_accesses:
            yield MaskAccesses(explain=self.explain)
        yield MaterializeDescriptors(arch=self.arch, explain=self.explain)
        yield LowerMma(arch=self.arch)
        yield LowerCopies()
        yield LowerWarpSpecialize()
