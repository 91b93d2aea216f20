"""The rows of the table of architectures, oldest first."""

from .arch import ARCHS, Arch
from .tcgen05 import Tcgen05
from .wgmma import Wgmma

__all__ = ["ARCHS", "Arch"]

Arch.SM_90 = Arch.register(Arch("sm_90", Wgmma()))
Arch.SM_100 = Arch.register(Arch("sm_100", Tcgen05(), tma_pads=True))
Arch.SM_103 = Arch.register(
    Arch("sm_103", Tcgen05(has_integers=False, has_long_k=True), tma_pads=True)
)
