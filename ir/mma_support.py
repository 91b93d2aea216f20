"""Whether an architecture multiplies what an mma does."""

from functools import lru_cache
from typing import Any

from ..layout import Arch, Element
from .errors import OpError


def check_mma_support(mma: Any, a: Element, b: Element, arch: Arch) -> None:
    """Checks that an architecture computes an mma, also one of descriptors, on elements of those types.

    Raises:
        OpError: if it does not.
    """
    sparse, scaled = mma.metadata is not None, mma.scales is not None
    if not _multiplies(arch, a, b, sparse, scaled, mma.ctas):
        raise OpError(mma, arch.refusal(a, b, sparse, scaled, mma.ctas) or "")


@lru_cache(maxsize=64)
def _multiplies(arch: Arch, a: Element, b: Element, sparse: bool, scaled: bool, ctas: int) -> bool:
    """Whether it does. A refusal names other architectures, of which there may be more later."""
    return arch.refusal(a, b, sparse, scaled, ctas) is None
