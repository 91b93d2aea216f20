"""Check that an architecture has an mma."""

from functools import lru_cache

from ..bindings.irtypes import Op
from ..layout import Arch, Element
from .errors import OpError


def check_mma_support(mma: Op, a: Element, b: Element, arch: Arch) -> None:
    """Check that an architecture has an mma op (on tiles or descriptors) for element types of A and B.

    Raises:
        OpError: if it has not.
    """
    sparse, scaled = mma.metadata is not None, mma.scales is not None
    if not _multiplies(arch, a, b, sparse, scaled, mma.ctas):
        raise OpError(mma, arch.refusal(a, b, sparse, scaled, mma.ctas) or "")


@lru_cache(maxsize=64)
def _multiplies(arch: Arch, a: Element, b: Element, sparse: bool, scaled: bool, ctas: int) -> bool:
    """Whether the architecture has the mma.

    Only this is cached: a refusal lists other architectures, which can be registered later.
    """
    return arch.refusal(a, b, sparse, scaled, ctas) is None
