"""The shapes of fragments that the registers of a warpgroup can hold."""

from math import prod

from ..bindings.diagnostics import Invalid
from ..layout.fragments import FRAGMENT_M, REGISTERS
from ..layout.register_order import SLICE_STEPS

#: By the dimension of a slice: what the slice has one element for.
SLICE_OF = ("column", "row")


def check_registers(shape: tuple[int, ...], bits: int) -> None:
    """Check that the registers can hold a fragment whose elements have `bits` bits.

    Raises:
        Invalid: if they cannot.
    """
    needed = -(-prod(shape) * bits // 32)
    if needed > REGISTERS:
        raise Invalid(
            f"has a fragment of {list(shape)}, which takes {needed} registers; a multiprocessor has "
            f"{REGISTERS}"
        )


def has_whole_rows(shape: tuple[int, ...]) -> bool:
    """Whether the rows of a fragment are a multiple of an instruction's."""
    return len(shape) == 2 and shape[0] > 0 and shape[0] % FRAGMENT_M == 0


def check_slice(shape: tuple[int, ...], dim: int) -> None:
    """Check that a slice along `dim` can have a shape: (rows) along dimension 1, (columns) along 0.

    Raises:
        Invalid: if it cannot.
    """
    if dim not in (0, 1):
        raise Invalid(
            f"has #smem.slice<{dim}>; expected 1 (an element for each row) or 0 (for each column)"
        )
    step = SLICE_STEPS[dim]
    if len(shape) != 1 or shape[0] < 1 or shape[0] % step:
        raise Invalid(
            f"has a slice of {list(shape)} along dimension {dim}; expected one extent, a multiple of "
            f"{step}: the number of {SLICE_OF[dim]}s"
        )
