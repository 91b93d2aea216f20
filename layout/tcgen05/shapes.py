"""Shapes of `tcgen05.mma` (PTX ISA 9.7.16.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..elements import Element
from ..instruction import INSTRUCTION_K_BYTES, MAX_N, instruction_k
from .kinds import Kind

#: M of one instruction of one CTA, if the matrix is that large: an M of 64 uses half of the tensor core.
TCGEN05_M = 128

#: Bytes along K of the instructions of sm_103a that read three 16-byte units (K = 96 of 4-bit types).
#: The ISA's table of shapes lists them only with M = 256 of two CTAs. CUTLASS also has M = 128 of one CTA
#: (include/cute/arch/mma_sm100_umma.hpp, `SM103_MXF4_ULTRA_SS_VS`: "MMA M-mode size should be 128 for
#: 1 CTA"), and tests it (test/unit/gemm/device/sm103_gemm_f4_f4_f32_tensor_op_f32_1sm_128x128.cu). This
#: project has both. Both of CUTLASS's instructions assert an N of 16 to 256 in steps of 16.
LONG_K_BYTES = 48


class MmaShapeError(ValueError):
    """A shape that no instruction has; the message states what would fit."""


@dataclass(frozen=True)
class MmaShape:
    """The shape of one instruction.

    Attributes:
        m, n: rows and columns of D, of all CTAs that execute the instruction.
        ctas: the number of those CTAs, 1 or 2 (`.cta_group`); each holds M / ctas rows of A and N / ctas
            columns of B.
        k_bytes: bytes along K of each row of A and column of B: 32, or 48 on sm_103a.
    """

    m: int
    n: int
    ctas: int = 1
    k_bytes: int = INSTRUCTION_K_BYTES

    def k(self, element: Element) -> int:
        """Return K in elements of A or B."""
        return instruction_k(element, self.k_bytes)

    def __str__(self) -> str:
        return f"{self.m}x{self.n}, cta_group::{self.ctas}"


def legal_m(kind: Kind, ctas: int) -> tuple[int, ...]:
    """Return every M of a kind, ascending. For a CTA pair, block-scaled kinds have only M = 256, as in
    CuTe: the ISA also allows 128, but describes no layout of B's factors for it."""
    if ctas == 2:
        return (256,) if kind.scales else (128, 256)
    return (128,) if kind.scales else (64, 128)


def n_step(kind: Kind, b: Element, ctas: int, b_mn_major: bool = False, k_bytes: int = 32) -> int:
    """Return the step between the legal N, except for the small N of integers.

    Args:
        kind: the kind.
        b: the type of B.
        ctas: CTAs that execute the instruction.
        b_mn_major: whether B is N-major, which doubles the step for 8-bit types.
        k_bytes: 32 or 48; for 48 the step is 16, as in CUTLASS.
    """
    wide = kind.name == "i8" or (b_mn_major and b.bits == 8) or k_bytes == LONG_K_BYTES
    return 8 * ctas * (2 if wide else 1)


def legal_n(
    kind: Kind, b: Element, ctas: int, b_mn_major: bool = False, k_bytes: int = 32
) -> tuple[int, ...]:
    """Return every N, ascending."""
    step = n_step(kind, b, ctas, b_mn_major, k_bytes)
    small = (8, 16, 24, 32) if kind.name == "i8" and ctas == 1 and not b_mn_major else ()
    return tuple(sorted({*small, *range(step, MAX_N + 1, step)}))


def check_shape(kind: Kind, shape: MmaShape, b: Element, b_mn_major: bool = False) -> None:
    """Check that a kind has instructions of that shape.

    Raises:
        MmaShapeError: if it does not.
    """
    if shape.ctas not in (1, 2):
        raise MmaShapeError(f"cta_group is {shape.ctas}; expected 1 or 2")
    if shape.m not in legal_m(kind, shape.ctas):
        raise MmaShapeError(
            f"M is {shape.m}; kind::{kind} with cta_group::{shape.ctas} has "
            f"{' or '.join(map(str, legal_m(kind, shape.ctas)))}"
        )
    columns = legal_n(kind, b, shape.ctas, b_mn_major, shape.k_bytes)
    if shape.n not in columns:
        step = n_step(kind, b, shape.ctas, b_mn_major, shape.k_bytes)
        examples = [n for n in columns if abs(n - shape.n) <= step] or [columns[-1]]
        b_text = f"{b} N-major, " if b_mn_major and b.bits == 8 else ""
        raise MmaShapeError(
            f"N is {shape.n}; kind::{kind} with {b_text}cta_group::{shape.ctas} has multiples of {step} "
            f"up to {MAX_N}, for example {' or '.join(map(str, examples))}"
        )
    if shape.k_bytes not in (INSTRUCTION_K_BYTES, LONG_K_BYTES):
        raise MmaShapeError(f"K is {shape.k_bytes} bytes; expected {INSTRUCTION_K_BYTES}")
    if shape.k_bytes == LONG_K_BYTES and not kind.name.startswith("mxf4"):
        raise MmaShapeError(
            f"K is {LONG_K_BYTES} bytes, which kind::{kind} does not have; kind::mxf4 and kind::mxf4nvf4 "
            "have it, on sm_103a"
        )
