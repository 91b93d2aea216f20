"""Whether an architecture multiplies what an mma does."""

from functools import lru_cache
from typing import Any

from ..layout import Arch, Element
from .errors import OpError


def check_multiplied(mma: Any, a: Element, b: Element, arch: Arch) -> None:
    """Checks that an architecture computes an mma, also one of descriptors, on elements of those types.

    Raises:
        OpError: if it does not.
    """
    sparse, scaled = mma.metadata is not None, mma.scales is not None
    problem = _problem(arch, a, b, sparse, scaled, mma.ctas)
    if problem:
        raise OpError(mma, problem)


@lru_cache(maxsize=64)
def _problem(
    arch: Arch, a: Element, b: Element, sparse: bool, scaled: bool, ctas: int
) -> str | None:
    return arch.objection(a, b, sparse, scaled, ctas)
