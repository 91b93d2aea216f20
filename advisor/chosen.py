"""Which layout, which swizzle, which descriptor: the answer for what `wgmma` or `tcgen05` multiplies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..layout import LayoutError, Major, Multiple, Role, Step, Swizzle, choose
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
from .mma import Mma, mma_of
from .multiplied import multiplier_of
from .multiplier import Multiplier, Tcgen05, check_extents
from .spec import TileSpec
from .tcgen05_mma import Tcgen05Mma, tcgen05_mma_of

#: Where the examples begin: the dynamic shared memory of a kernel without static one on sm_90
#: (measured).
FIRST_ADDRESS = 0x400


@dataclass(frozen=True)
class ChosenOperands(Answer):
    """The layouts of the tiles that are multiplied; either may be left out.

    Attributes:
        a, b: the operands.
        by: what multiplies them.
    """

    a: ChosenOperand | None
    b: ChosenOperand | None
    by: Multiplier

    @property
    def each(self) -> list[ChosenOperand]:
        """Those there are."""
        return [operand for operand in (self.a, self.b) if operand]

    @cached_property
    def mma(self) -> Mma | Tcgen05Mma | None:
        """The instructions that multiply them, if both are given.

        Raises:
            LayoutError: if there is no room for the product.
        """
        if self.a is None or self.b is None:
            return None
        if isinstance(self.by, Tcgen05):
            return tcgen05_mma_of(self.a, self.b, self.by)
        return mma_of(self.a, self.b)


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
    """Chooses the layouts of the tiles of D = A * B in shared memory.

    Args:
        a: A's tile, (M, K), for example "128x64xbf16"; pipeline stages may stand in front. Tiles are
            those of one block.
        b: B's tile, (K, N), as A's.
        load_a, load_b: how each is filled: "tma" or "16-byte" (accesses of all threads); A may be
            loaded into registers, too: "ldmatrix", or "tma,ldmatrix".
        a_major: which dimension of A is contiguous in global memory, "k" or "m"; left out, K.
        b_major: that of B, "k" or "n"; left out, N (a row-major matrix) for the types that the
            architecture reads so, and K for the others.
        max_swizzle: the widest swizzle to consider, in bytes: 0, 32, 64 or 128.
        threads: threads that fill tiles, where threads do.
        stages: pipeline stages of each tile.
        arch: the architecture: "sm_90" (`wgmma`), "sm_100" or "sm_103" (`tcgen05`).
        ctas: blocks that multiply together, 1 or 2 (`tcgen05`).
        scale: the type of the scale factors of blocks, "ue8m0" or "ue4m3" (`tcgen05`); None for none.
        k_bytes: bytes along K of one instruction: 32, or 48 of 4-bit types on sm_103.
        block: elements along K that share a scale factor; None for 16 of ue4m3, and else 32.

    Raises:
        LayoutError: if no layout fits; the message names the operand and what would fit. A tile, load
            or architecture that is malformed is a `TextError`.
    """
    if a is None and b is None:
        raise LayoutError("no operand is given; expected A, B or both, for example 128x64xbf16")
    if not 1 <= threads <= MAX_THREADS:
        raise LayoutError(f"{threads} threads; expected 1 to {MAX_THREADS}")
    try:
        widest = Swizzle.of_width(max_swizzle)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    given = {
        role: (_staged(role, spec, stages), load, major)
        for role, spec, load, major in (
            (Role.A, a, load_a, a_major),
            (Role.B, b, load_b, b_major),
        )
        if spec is not None
    }
    by = multiplier_of(
        Arch.parse(arch) if isinstance(arch, str) else arch,
        {role: spec.element for role, (spec, _, _) in given.items()},
        ctas,
        scale,
        k_bytes,
        block,
    )
    for role, (spec, _, _) in given.items():
        check_extents(by, role, spec.element, spec.shape[-2:])
    if len(given) == 2:
        _check_mma(by, given[Role.A][0], given[Role.B][0])
    found: dict[Role, ChosenOperand] = {}
    address = FIRST_ADDRESS
    for role, (spec, load, major) in given.items():
        lies = _lies(role, spec, major, by.arch)
        made = _chosen(role, spec, _loads(role, load, by), lies, widest, threads, address, by)
        found[role] = made
        address = made.address + made.layout.size_bytes
    _check_room(list(found.values()))
    chosen = ChosenOperands(found.get(Role.A), found.get(Role.B), by)
    assert chosen.mma or len(found) == 1
    return chosen


def _check_mma(by: Multiplier, a: TileSpec, b: TileSpec) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise LayoutError(
            f"A is M x K and B is K x N, but A has {a.shape[-1]} columns and B has {b.shape[-2]} rows; "
            "expected the same K"
        )
    by.check_types(a.element, b.element)


def _staged(role: Role, spec: TileSpec | str, stages: int | None) -> TileSpec:
    """The tile with the stages that are asked for."""
    tile = TileSpec.parse(spec) if isinstance(spec, str) else spec
    if stages is None:
        return tile
    if len(tile.shape) == 3:
        raise LayoutError(f"{role.name}: {tile} has stages already; give them once")
    if stages < 1:
        raise LayoutError(f"{stages} stages; expected 1 or more")
    return TileSpec((stages, *tile.shape), tile.element)


def _loads(role: Role, text: str, by: Multiplier) -> tuple[Load, ...]:
    loads = Load.parse(text)
    if Load.LDMATRIX in loads and isinstance(by, Tcgen05):
        raise LayoutError(
            f"{role.name}: tcgen05 multiplies no registers, which ldmatrix loads; expected tma or 16-byte"
        )
    if role is Role.B and Load.LDMATRIX in loads:
        raise LayoutError(
            "B: wgmma reads B from shared memory only; expected tma or 16-byte, and ldmatrix for A"
        )
    return loads


def _lies(role: Role, spec: TileSpec, major: str | None, arch: Arch) -> Major:
    """Which dimension is contiguous in global memory."""
    row_major = Major.K if role is Role.A else Major.MN
    if major is None:
        return row_major if row_major in arch.majors_of(spec.element) else Major.K
    letters = {"k": Major.K, role.extent_name.lower(): Major.MN}
    if major not in letters:
        raise LayoutError(f"{role.name}: major '{major}'; expected {' or '.join(letters)}")
    return letters[major]


def _chosen(
    role: Role,
    spec: TileSpec,
    loads: tuple[Load, ...],
    lies: Major,
    widest: Swizzle,
    threads: int,
    address: int,
    by: Multiplier,
) -> ChosenOperand:
    element, letter = spec.element, role.extent_name
    if Load.TMA in loads and Load.LDMATRIX not in loads and lies not in by.arch.majors_of(element):
        raise LayoutError(
            f"{role.name}: {element} lies {letter}-major in global memory, TMA moves lines as they are, "
            f"and {by.name} reads {element} K-major only; expected K-major data (--{role.value}-major "
            f"k), or threads that transpose it on its way (--load-{role.value} 16-byte)"
        )
    contiguous = contiguous_of(role, lies)
    filled = Load.TMA in loads or Load.VECTORS in loads
    choice = choose(
        element,
        spec.shape,
        _uses(role, spec, loads, contiguous, threads, by),
        widest,
        # What fills a tile says itself which order it can have.
        None if filled else contiguous,
        swizzles=by.arch.swizzles,
    )
    if choice.picked is None:
        why = "\n  ".join(choice.explain().splitlines())
        raise LayoutError(
            f"{role.name}: no layout of {spec} suits all that is done with it\n  {why}"
        )
    made = ChosenOperand(role, spec, lies, loads, threads, choice, choice.picked, address, by)
    return replace(made, address=-(-address // made.alignment) * made.alignment)


def _uses(
    role: Role,
    spec: TileSpec,
    loads: tuple[Load, ...],
    contiguous: int,
    threads: int,
    by: Multiplier,
) -> list[Use]:
    """What is done with a tile, of which each stage is used alike."""
    path = (Step((Multiple(1), 0, 0), None),) if len(spec.shape) == 3 else ()
    uses: list[Use] = []
    if Load.LDMATRIX in loads:
        uses.append(FragmentUse("ldmatrix", a_fragment_access, path))
    else:
        uses.append(by.use(role, path))
    if Load.TMA in loads:
        uses.append(BulkUse("TMA", contiguous, path=path))
    if Load.VECTORS in loads:
        copy = Relayout(spec.element, spec.shape[-2:], contiguous, threads)
        uses.append(TransferUse("16-byte stores", copy, path))
    return uses


def _check_room(operands: list[ChosenOperand]) -> None:
    size = sum(operand.layout.size_bytes for operand in operands)
    if size > MAX_BYTES:
        each = " and ".join(f"{o.role.name} takes {o.layout.size_bytes}" for o in operands)
        raise LayoutError(
            f"{each} bytes; a block has {MAX_BYTES} bytes of shared memory: expected smaller "
            "tiles or fewer stages"
        )
