"""The choice of layout, swizzle and descriptor for the operands of `wgmma` or `tcgen05.mma`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..layout import LayoutError, Major, Multiple, PathElement, Role, Swizzle, choose
from ..layout.arch import Arch
from ..layout.banks import MAX_BYTES
from ..layout.fragment_access import a_fragment_access
from ..layout.fragments import MAX_THREADS
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.transposition import Relayout
from ..layout.uses import BulkUse, FragmentUse, TransferUse, Use
from .answer import Answer
from .chosen_operand import ChosenOperand, contiguous_of
from .load import Load
from .mma_op import MmaOp, Tcgen05Op
from .select_mma_op import select_mma_op
from .spec import TileSpec
from .tcgen05_mma import Tcgen05Mma, tcgen05_mma_of
from .wgmma_mma import WgmmaMma, wgmma_mma_of

#: Start address of the examples: the dynamic shared memory of a kernel without static shared memory
#: begins here on sm_90 (measured).
FIRST_ADDRESS = 0x400


@dataclass(frozen=True)
class ChosenOperands(Answer):
    """The layouts of the tiles of A and B; one of them may be left out.

    Attributes:
        a, b: the operands.
        op: the MMA operation.
    """

    a: ChosenOperand | None
    b: ChosenOperand | None
    op: MmaOp

    @property
    def each(self) -> list[ChosenOperand]:
        """The operands that are given."""
        return [operand for operand in (self.a, self.b) if operand]

    @cached_property
    def mma(self) -> WgmmaMma | Tcgen05Mma | None:
        """The MMA instructions, if both operands are given.

        Raises:
            LayoutError: if D does not fit tensor memory.
        """
        if self.a is None or self.b is None:
            return None
        if isinstance(self.op, Tcgen05Op):
            return tcgen05_mma_of(self.a, self.b, self.op)
        return wgmma_mma_of(self.a, self.b)


def choose_operands(
    a: TileSpec | str | None = None,
    b: TileSpec | str | None = None,
    *,
    load_a: str = "tma",
    load_b: str = "tma",
    a_major: str | None = None,
    b_major: str | None = None,
    max_swizzle: int = 128,
    threads: int = 128,
    stages: int | None = None,
    arch: Arch | str = Arch.SM_90,
    ctas: int = 1,
    scale: str | None = None,
    k_bytes: int = INSTRUCTION_K_BYTES,
    block: int | None = None,
) -> ChosenOperands:
    """Choose the layouts of the tiles of D = A * B in shared memory.

    Args:
        a: A's tile in one CTA, (M, K), for example "128x64xbf16"; pipeline stages may be the first
            extent.
        b: B's tile in one CTA, (K, N), likewise.
        load_a, load_b: how the tile is filled: "tma" or "16-byte" (vector stores of all threads). A may
            also be loaded into registers: "ldmatrix", or "tma,ldmatrix".
        a_major: the contiguous dimension of A in global memory, "k" or "m"; None for K.
        b_major: the contiguous dimension of B, "k" or "n"; None for N (a row-major matrix) where the
            architecture reads the type N-major, and K otherwise.
        max_swizzle: the widest swizzle to consider, in bytes: 0, 32, 64 or 128.
        threads: threads that fill a tile with vector stores.
        stages: pipeline stages of each tile.
        arch: the architecture: "sm_90" (`wgmma`), "sm_100" or "sm_103" (`tcgen05`).
        ctas: CTAs of an MMA, the N of `.cta_group::N`: 1 or 2 (`tcgen05`).
        scale: the type of the scale factors, "ue8m0" or "ue4m3" (`tcgen05`); None without block scaling.
        k_bytes: bytes along K of one instruction: 32, or 48 for 4-bit types on sm_103.
        block: elements along K per scale factor; None for 16 with ue4m3, and 32 otherwise.

    Returns:
        The layouts, descriptors, TMA boxes and bank conflicts of both tiles.

    Raises:
        LayoutError: if no layout fits; the message names the operand and what would fit.
        TextError: if a tile, a load or an architecture is malformed.

    Example:
        >>> chosen = choose_operands("128x64xbf16", "64x256xbf16")
        >>> chosen.a.layout.cute, chosen.b.layout.cute
        ('Swizzle<3,4,3> o (128,64):(64,1)', 'Swizzle<3,4,3> o (64,(64,4)):(64,(1,4096))')
    """
    if a is None and b is None:
        raise LayoutError("no operand is given; expected A, B or both, for example 128x64xbf16")
    if not 1 <= threads <= MAX_THREADS:
        raise LayoutError(f"{threads} threads; expected 1 to {MAX_THREADS}")
    try:
        widest = Swizzle.of_width(max_swizzle)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    requests = {
        role: (_parse_tile(role, spec, stages), load, major)
        for role, spec, load, major in (
            (Role.A, a, load_a, a_major),
            (Role.B, b, load_b, b_major),
        )
        if spec is not None
    }
    op = select_mma_op(
        Arch.parse(arch) if isinstance(arch, str) else arch,
        {role: spec.element for role, (spec, _, _) in requests.items()},
        ctas,
        scale,
        k_bytes,
        block,
    )
    for role, (spec, _, _) in requests.items():
        op.instruction.check_extents(role, spec.element, spec.shape[-2:])
    if len(requests) == 2:
        _check_mma(op, requests[Role.A][0], requests[Role.B][0])
    operands: dict[Role, ChosenOperand] = {}
    address = FIRST_ADDRESS
    for role, (spec, load, major) in requests.items():
        loads = _parse_loads(role, load, op)
        global_major = _global_major(role, spec, major, op.arch)
        operand = _choose_operand(role, spec, loads, global_major, widest, threads, address, op)
        operands[role] = operand
        address = operand.address + operand.layout.size_bytes
    _check_size(list(operands.values()))
    chosen = ChosenOperands(operands.get(Role.A), operands.get(Role.B), op)
    _ = chosen.mma  # it refuses more columns than a CTA has
    return chosen


def _check_mma(op: MmaOp, a: TileSpec, b: TileSpec) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise LayoutError(
            f"A is M x K and B is K x N, but A has {a.shape[-1]} columns and B has {b.shape[-2]} rows; "
            "expected the same K"
        )
    op.check_types(a.element, b.element)


def _parse_tile(role: Role, spec: TileSpec | str, stages: int | None) -> TileSpec:
    """Parse a tile and add its pipeline stages."""
    tile = TileSpec.parse(spec) if isinstance(spec, str) else spec
    if stages is None:
        return tile
    if len(tile.shape) == 3:
        raise LayoutError(f"{role.name}: {tile} has stages already; give them once")
    if stages < 1:
        raise LayoutError(f"{stages} stages; expected 1 or more")
    return TileSpec((stages, *tile.shape), tile.element)


def _parse_loads(role: Role, text: str, op: MmaOp) -> tuple[Load, ...]:
    loads = Load.parse(text)
    if Load.LDMATRIX in loads and isinstance(op, Tcgen05Op):
        raise LayoutError(
            f"{role.name}: ldmatrix loads into registers, but tcgen05 reads shared memory; expected "
            "tma or 16-byte"
        )
    if role is Role.B and Load.LDMATRIX in loads:
        raise LayoutError(
            "B: wgmma reads B from shared memory only; expected tma or 16-byte, and ldmatrix for A"
        )
    return loads


def _global_major(role: Role, spec: TileSpec, major: str | None, arch: Arch) -> Major:
    """Return the dimension that is contiguous in global memory."""
    row_major = Major.K if role is Role.A else Major.MN
    if major is None:
        return row_major if row_major in arch.majors_of(spec.element) else Major.K
    letters = {"k": Major.K, role.extent_name.lower(): Major.MN}
    if major not in letters:
        raise LayoutError(f"{role.name}: major '{major}'; expected {' or '.join(letters)}")
    return letters[major]


def _choose_operand(
    role: Role,
    spec: TileSpec,
    loads: tuple[Load, ...],
    global_major: Major,
    widest: Swizzle,
    threads: int,
    address: int,
    op: MmaOp,
) -> ChosenOperand:
    element, letter = spec.element, role.extent_name
    readable = global_major in op.arch.majors_of(element)
    if Load.TMA in loads and Load.LDMATRIX not in loads and not readable:
        raise LayoutError(
            f"{role.name}: {element} is {letter}-major in global memory, TMA does not transpose, and "
            f"{op.name} reads {element} K-major only; expected K-major data (--{role.value}-major k), "
            f"or threads that transpose it (--load-{role.value} 16-byte)"
        )
    contiguous = contiguous_of(role, global_major)
    filled = Load.TMA in loads or Load.VECTORS in loads
    choice = choose(
        element,
        spec.shape,
        _uses(role, spec, loads, contiguous, threads, op),
        widest,
        # A copy that fills the tile restricts its majorness itself.
        None if filled else contiguous,
        swizzles=op.arch.swizzles,
    )
    if choice.picked is None:
        why = "\n  ".join(choice.explain().splitlines())
        raise LayoutError(f"{role.name}: no layout of {spec} fits every use of the tile\n  {why}")
    operand = ChosenOperand(
        role, spec, global_major, loads, threads, choice, choice.picked, address, op
    )
    return replace(operand, address=-(-address // operand.alignment) * operand.alignment)


def _uses(
    role: Role,
    spec: TileSpec,
    loads: tuple[Load, ...],
    contiguous: int,
    threads: int,
    op: MmaOp,
) -> list[Use]:
    """Return the uses of a tile; every stage is used in the same way."""
    path = (PathElement((Multiple(1), 0, 0), None),) if len(spec.shape) == 3 else ()
    uses: list[Use] = []
    if Load.LDMATRIX in loads:
        uses.append(FragmentUse("ldmatrix", a_fragment_access, path))
    else:
        uses.append(op.use(role, path))
    if Load.TMA in loads:
        uses.append(BulkUse("TMA", contiguous, path=path))
    if Load.VECTORS in loads:
        copy = Relayout(spec.element, spec.shape[-2:], contiguous, threads)
        uses.append(TransferUse("16-byte stores", copy, path))
    return uses


def _check_size(operands: list[ChosenOperand]) -> None:
    size = sum(operand.layout.size_bytes for operand in operands)
    if size > MAX_BYTES:
        sizes = " and ".join(f"{o.role.name} takes {o.layout.size_bytes}" for o in operands)
        raise LayoutError(
            f"{sizes} bytes; a CTA has {MAX_BYTES} bytes of shared memory: expected smaller tiles or "
            "fewer stages"
        )
