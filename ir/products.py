"""Whether an architecture multiplies what an mma does."""

from typing import Any

from ..dialect.ops.mma import ctas_of, extras_of
from ..layout import Arch, Element
from .errors import OpError


def check_multiplied(mma: Any, a: Element, b: Element, arch: Arch) -> None:
    """Checks that an architecture computes an mma, also one of descriptors, on elements of those types.

    Raises:
        OpError: if it does not.
    """
    extras = extras_of(mma)
    problem = arch.objection(
        a, b, extras.metadata is not None, extras.scales is not None, ctas_of(mma)
    )
    if problem:
        raise OpError(mma, problem)
