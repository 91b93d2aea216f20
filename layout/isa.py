"""The interface of MMA instruction sets, which `wgmma` and `tcgen05` implement.

`MmaIsa` describes a set; `MmaInstruction` is one of its instructions with its qualifiers. A new set is
a folder with a subclass of each and a row of `Arch`; what most sets share has a default here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .accumulators import Accumulator
from .canonical import Forms, Major, Mismatch
from .descriptor import Descriptor
from .elements import Element
from .instruction import INSTRUCTION_K_BYTES, instruction_k, nearest
from .modes import LayoutError
from .operand import MmaTiles, Role
from .path import PathElement, follow
from .swizzle import Swizzle
from .tile import TileLayout
from .uses import LayoutEvaluation, Use, refusing


class MmaInstruction(Protocol):
    """An MMA instruction with its qualifiers, in all of its shapes.

    For example `wgmma.mma_async.sp`, or `tcgen05.mma.cta_group::2.kind::f16`. Tiles are those of one CTA.

    Example:
        >>> bf16 = element("bf16")
        >>> instruction = ARCHS["sm_90"].isa.instruction(bf16, bf16)
        >>> instruction.legal_n(bf16)[:3]
        (8, 16, 24)
    """

    #: The name of its set, for messages.
    name: ClassVar[str]

    @property
    def k_bytes(self) -> int:
        """Bytes along K that the instruction reads of each row of a dense operand."""
        return INSTRUCTION_K_BYTES

    @property
    @abstractmethod
    def legal_m(self) -> tuple[int, ...]:
        """Every M, ascending: rows of A of one CTA."""
        ...

    @abstractmethod
    def legal_n(self, b: Element, major: Major = Major.K) -> tuple[int, ...]:
        """Return every N, ascending: columns of B of one CTA, of that type and majorness."""
        ...

    @abstractmethod
    def mma_tiles(
        self, tile: TileLayout, role: Role, rows: int | None = None
    ) -> MmaTiles | Mismatch:
        """Return the MMA tiles of a tile, (M, K) for A and (K, N) for B, or why no instruction reads it.

        Args:
            tile: the tile's layout; for a sparse A that of the compressed A, (M, K / 2).
            role: A or B.
            rows: the extent along m/n of each instruction; None cuts the tile as an mma does.
        """
        ...

    def use(self, what: str, role: Role, path: tuple[PathElement, ...] = ()) -> Use:
        """Return the use of a tile as an operand, for the choice of its layout.

        Args:
            what: the use in words.
            role: A or B.
            path: the path to the subtile that is used.
        """
        return OperandUse(what, role, self, path)

    @abstractmethod
    def check_types(self, a: Element, b: Element) -> None:
        """Check that the instruction multiplies an A by a B of these types.

        Raises:
            LayoutError: if it does not; the message states what would fit.
        """
        ...

    @abstractmethod
    def check_mn(self, role: Role, element: Element, extent: int) -> None:
        """Check that a tile of that extent along M (of A) or N (of B) can be cut into instructions.

        Raises:
            LayoutError: if it cannot; the message names the operand and what would fit.
        """
        ...

    def check_k(self, role: Role, element: Element, k: int) -> None:
        """Check that a tile of that extent along K can be cut into instructions; see `check_mn`."""
        step = instruction_k(element, self.k_bytes)
        if k % step:
            raise LayoutError(
                f"{role.name}: K is {k}; {self.name} takes {step} elements of {element} at a time: "
                f"expected a multiple of {step}, {nearest(k, step)}"
            )

    def check_extents(self, role: Role, element: Element, shape: tuple[int, ...]) -> None:
        """Check that a tile, (M, K) of A or (K, N) of B, can be cut into instructions; see `check_mn`."""
        k_dim = 1 if role is Role.A else 0
        self.check_k(role, element, shape[k_dim])
        self.check_mn(role, element, shape[1 - k_dim])


class MmaIsa(Protocol):
    """The MMA instructions of an architecture whose operands are tiles in shared memory.

    Instances are equal if they have the same instructions, and can be hashed and pickled.

    Example:
        >>> isa = ARCHS["sm_90"].isa
        >>> [str(accumulator) for accumulator in isa.accumulators(element("f16"), element("f16"))]
        ['f32', 'f16']
    """

    #: The set's name in the ISA, without qualifiers.
    name: ClassVar[str]
    #: The descriptors of operands in shared memory.
    descriptor: ClassVar[type[Descriptor]]
    #: The swizzling modes, in order of preference.
    swizzles: ClassVar[tuple[Swizzle, ...]]
    #: The canonical layouts of dense operands.
    forms: ClassVar[Forms]
    #: Rows of A that one instruction reads from one CTA, the usual number first.
    instruction_m: ClassVar[tuple[int, ...]]
    #: How many CTAs can execute one instruction (`.cta_group`).
    ctas: ClassVar[tuple[int, ...]] = (1,)
    #: Whether MMAs with a sparse A are lowered.
    has_sparse: ClassVar[bool] = False
    #: Whether accumulators in flight are in tensor memory, which kernels allocate.
    has_tensor_memory: ClassVar[bool] = False

    @property
    def k_bytes(self) -> tuple[int, ...]:
        """Bytes along K that one dense instruction reads of each row, the usual number first."""
        return (INSTRUCTION_K_BYTES,)

    @property
    def has_absolute_lbo(self) -> bool:
        """Whether a descriptor's LBO may be an address, for a K of 48 bytes (PTX ISA 9.7.16.3.1.2)."""
        return False

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Each `.kind` of the instruction; empty if it has no such qualifier."""
        return ()

    @property
    @abstractmethod
    def elements(self) -> tuple[Element, ...]:
        """The element types of A and B."""
        ...

    @abstractmethod
    def accumulators(self, a: Element, b: Element, scaled: bool = False) -> tuple[Accumulator, ...]:
        """Return the accumulator types for A and B of these types, the usual one first; empty if the set
        does not multiply them.

        Args:
            a, b: the element types of A and B.
            scaled: whether scale blocks along K are scaled.
        """
        ...

    def partners(self, a: Element) -> tuple[Element, ...]:
        """Return the types that B can have with an A of that type, without block scaling."""
        return tuple(b for b in self.elements if self.accumulators(a, b))

    @abstractmethod
    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """Return the swizzling modes in which a type is read with that majorness; empty if it is not."""
        ...

    @abstractmethod
    def addresses(
        self, descriptor: int, element: Element, major: Major, rows: int, k_bytes: int
    ) -> np.ndarray:
        """Return the byte address that one dense instruction reads for each element of an operand.

        Args:
            descriptor: the 64-bit descriptor.
            element: the operand's element type, one of `elements`.
            major: its contiguous dimension.
            rows: its extent along m/n.
            k_bytes: one of `k_bytes`.

        Returns:
            int64[rows, k], absolute addresses in the shared window.

        Raises:
            ValueError: for a malformed descriptor, or an operand that the instruction does not read.
        """
        ...

    @abstractmethod
    def instruction(
        self, a: Element, b: Element, sparse: bool = False, ctas: int = 1
    ) -> MmaInstruction:
        """Return the instruction that multiplies an A by a B of these types.

        Args:
            a, b: the element types of A and B.
            sparse: whether A is sparse.
            ctas: CTAs that execute the instruction (`.cta_group`).

        Raises:
            LayoutError: if there is none.
        """
        ...

    def rows(self, m: int) -> int:
        """Return the rows of D of each instruction that computes M rows of one CTA."""
        return next(rows for rows in self.instruction_m if m % rows == 0)


@dataclass(frozen=True)
class OperandUse:
    """A tile of one CTA, or a subtile of it, as an operand of an mma.

    Attributes:
        what: the use in words.
        role: A or B.
        instruction: the instruction that reads it.
        path: the path to the subtile.

    Example:
        >>> use = ARCHS["sm_90"].use("A of an mma", Role.A, element("bf16"), ())
        >>> use.what
        'A of an mma'
        >>> choose(element("bf16"), (128, 64), [use]).picked.layout.cute
        'Swizzle<3,4,3> o (128,64):(64,1)'
    """

    what: str
    role: Role
    instruction: MmaInstruction
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        """Evaluate a layout of the tile."""
        subtile = follow(layout, self.path).layout
        return evaluate_operand(self.instruction.mma_tiles(subtile, self.role))


def evaluate_operand(mma_tiles: MmaTiles | Mismatch) -> LayoutEvaluation:
    """Evaluate the layout of an operand by its MMA tiles, or by the reason that it has none."""
    if isinstance(mma_tiles, Mismatch):
        return LayoutEvaluation(False, mma_tiles.reason)
    return LayoutEvaluation(True, str(mma_tiles), in_loop=len(mma_tiles.terms) > 1)
