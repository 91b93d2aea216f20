"""Select the MMA operation for given element types on an architecture."""

from __future__ import annotations

from ..layout import Element, LayoutError, Role
from ..layout.arch import Arch
from ..layout.elements import E2M1_P64
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.tcgen05 import KINDS, Kind
from ..layout.tcgen05.shapes import LONG_K_BYTES
from .mma_op import MmaOp, Tcgen05Op, WgmmaOp


def select_mma_op(
    arch: Arch,
    elements: dict[Role, Element],
    ctas: int = 1,
    scale: str | None = None,
    k_bytes: int = INSTRUCTION_K_BYTES,
    block: int | None = None,
) -> MmaOp:
    """Return the MMA operation for A and B; an operand that is left out has the type of the other.

    Args:
        arch: the architecture.
        elements: the types of the operands that are given.
        ctas: CTAs of the MMA, the N of `.cta_group::N`.
        scale: the type of the scale factors; None without block scaling.
        k_bytes: bytes along K of one instruction.
        block: elements along K per scale factor; None for the default.

    Raises:
        LayoutError: if the architecture has no such instruction; the message says what would fit.
    """
    if block is not None and scale is None:
        raise LayoutError(f"{block} elements per scale factor, but no scale factors (--scaled)")
    for role, element in elements.items():
        if not arch.multiplies(element):
            capable_archs = [str(candidate) for candidate in Arch if candidate.multiplies(element)]
            hint = f"; {' and '.join(capable_archs)} do{'es' * (len(capable_archs) == 1)} (--arch)"
            raise LayoutError(
                f"{role.name}: {arch.instructions} does not multiply {element}"
                + hint * bool(capable_archs)
            )
    if not arch.kinds:
        _check_wgmma(ctas, scale, k_bytes)
        return WgmmaOp()
    if ctas not in (1, 2):
        raise LayoutError(f"{ctas} CTAs; tcgen05 has cta_group::1 and cta_group::2")
    a, b = (elements.get(role) or next(iter(elements.values())) for role in Role)
    kind = _kind_of(a, b, scale, block)
    if k_bytes != INSTRUCTION_K_BYTES:
        _check_long_k(arch, kind, k_bytes)
    if scale is not None and block is None:
        block = next(size for name, size in kind.scales if name == scale)
    return Tcgen05Op(arch, kind, ctas, scale, k_bytes, block)


def _check_wgmma(ctas: int, scale: str | None, k_bytes: int) -> None:
    """Reject options that `wgmma` does not have."""
    for is_requested, option in (
        (ctas != 1, f"cta_group::{ctas}"),
        (scale is not None, f"block scaling by {scale}"),
        (k_bytes != INSTRUCTION_K_BYTES, f"K of {k_bytes} bytes"),
    ):
        if is_requested:
            raise LayoutError(
                f"wgmma (sm_90) has no {option}; tcgen05 has (--arch sm_100 or sm_103)"
            )


def _kind_of(a: Element, b: Element, scale: str | None, block: int | None) -> Kind:
    kinds = [kind for kind in KINDS.values() if kind.multiplies(a, b)]
    if not kinds:
        partners = {e: None for kind in KINDS.values() for e in kind.codes if kind.multiplies(a, e)}
        raise LayoutError(
            f"tcgen05 does not multiply {a} by {b}; with an A of {a}, B is "
            + " or ".join(map(str, partners))
        )
    scales = list(dict.fromkeys(name for kind in kinds for name, _ in kind.scales))
    scaled = f"scaled by {' or '.join(scales)}" if scales else "without scale factors"
    for kind in kinds:
        if not kind.scales and scale is None:
            return kind
        if any(name == scale and block in (None, size) for name, size in kind.scales):
            return kind
    sizes = sorted({size for kind in kinds for name, size in kind.scales if name == scale})
    if sizes:
        raise LayoutError(
            f"tcgen05 does not multiply {a} by {b} with one {scale} scale factor per {block} elements "
            f"along K; expected one per {' or '.join(map(str, sizes))}"
        )
    if scale is not None:
        raise LayoutError(
            f"tcgen05 does not multiply {a} by {b} scaled by {scale}; expected {scaled}"
        )
    raise LayoutError(
        f"tcgen05 does not multiply {a} by {b} without scale factors; expected {scaled} (--scaled), or "
        f"{E2M1_P64}, which is padded"
    )


def _check_long_k(arch: Arch, kind: Kind, k_bytes: int) -> None:
    if k_bytes != LONG_K_BYTES:
        raise LayoutError(
            f"a K of {k_bytes} bytes; expected {INSTRUCTION_K_BYTES}, or {LONG_K_BYTES} of e2m1 on sm_103"
        )
    if k_bytes not in arch.k_bytes:
        raise LayoutError(f"{arch} has no K of {k_bytes} bytes; sm_103 has (--arch sm_103)")
    if not kind.name.startswith("mxf4"):
        raise LayoutError(
            f"kind::{kind} has no K of {k_bytes} bytes; kind::mxf4 and kind::mxf4nvf4 have, of e2m1"
        )
