"""What an MMA instruction set is: the interface that `wgmma` and `tcgen05` implement.

`MmaIsa` says what a set has; `MmaInstruction` is one of its instructions with its qualifiers, which
multiplies tiles. Both are to be subclassed: what most sets have alike has a default. A new set is a
folder with the two, and a row of `Arch`.
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
from .path import Step, follow
from .swizzle import Swizzle
from .tile import TileLayout
from .uses import Evaluation, Use, refusing


class MmaInstruction(Protocol):
    """An MMA instruction with its qualifiers, in every shape that it has.

    For example `wgmma.mma_async.sp`, or `tcgen05.mma.cta_group::2.kind::f16`. Tiles are those of one CTA.
    """

    #: The name of its set, for messages.
    name: ClassVar[str]

    @property
    def k_bytes(self) -> int:
        """Bytes along K that it reads of each row of a dense operand."""
        return INSTRUCTION_K_BYTES

    @property
    @abstractmethod
    def legal_m(self) -> tuple[int, ...]:
        """Every M, ascending: rows of A of one CTA."""
        ...

    @abstractmethod
    def legal_n(self, b: Element, major: Major = Major.K) -> tuple[int, ...]:
        """Every N, ascending: columns of B of one CTA, of that type and major."""
        ...

    @abstractmethod
    def mma_tiles(
        self, tile: TileLayout, role: Role, rows: int | None = None
    ) -> MmaTiles | Mismatch:
        """What each instruction reads of a tile, (M, K) for A and (K, N) for B, or why none can.

        Args:
            tile: the tile's layout; of a sparse A the compressed one, (M, K / 2).
            role: which operand it is.
            rows: the extent along m/n of each instruction; None cuts the tile as an mma does.
        """
        ...

    def use(self, what: str, role: Role, path: tuple[Step, ...] = ()) -> Use:
        """The use of a tile as an operand, for the choice of its layout.

        Args:
            what: the use in words.
            role: which operand it is.
            path: the steps to the part of the tile that is used.
        """
        return OperandUse(what, role, self, path)

    @abstractmethod
    def check_types(self, a: Element, b: Element) -> None:
        """Checks that it multiplies an A by a B of these types.

        Raises:
            LayoutError: if it does not, with what would fit.
        """
        ...

    @abstractmethod
    def check_mn(self, role: Role, element: Element, extent: int) -> None:
        """Checks that a tile of that extent along M (of A) or N (of B) can be cut into instructions.

        Raises:
            LayoutError: if it cannot; the message names the operand and what would fit.
        """
        ...

    def check_k(self, role: Role, element: Element, k: int) -> None:
        """Checks that a tile of that extent along K can be cut into instructions; see `check_mn`."""
        step = instruction_k(element, self.k_bytes)
        if k % step:
            raise LayoutError(
                f"{role.name}: K is {k}; {self.name} takes {step} elements of {element} at a time: "
                f"expected a multiple of {step}, {nearest(k, step)}"
            )

    def check_extents(self, role: Role, element: Element, shape: tuple[int, ...]) -> None:
        """Checks that a tile, (M, K) of A or (K, N) of B, can be cut; see `check_mn`."""
        k_dim = 1 if role is Role.A else 0
        self.check_k(role, element, shape[k_dim])
        self.check_mn(role, element, shape[1 - k_dim])


class MmaIsa(Protocol):
    """The instructions that multiply tiles in shared memory, on architectures that have them alike.

    Instances are equal if they have the same instructions, and can be hashed and pickled.
    """

    #: The set's name in the ISA, without qualifiers.
    name: ClassVar[str]
    #: The descriptors of operands in shared memory.
    descriptor: ClassVar[type[Descriptor]]
    #: The swizzling modes, the preferred first.
    swizzles: ClassVar[tuple[Swizzle, ...]]
    #: The canonical layouts of dense operands.
    forms: ClassVar[Forms]
    #: Rows of A that one instruction reads of one CTA, the usual number first.
    instruction_m: ClassVar[tuple[int, ...]]
    #: How many CTAs can multiply together (`.cta_group`).
    ctas: ClassVar[tuple[int, ...]] = (1,)
    #: Whether products with a sparse A are lowered.
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
        """The `.kind`s of the instruction; none of one that has no such qualifier."""
        return ()

    @property
    @abstractmethod
    def elements(self) -> tuple[Element, ...]:
        """The types that are multiplied."""
        ...

    @abstractmethod
    def accumulators(self, a: Element, b: Element, scaled: bool = False) -> tuple[Accumulator, ...]:
        """The types in which products of A and B are added, the usual one first; none if the two are not
        multiplied.

        Args:
            a, b: the types of A and B.
            scaled: whether blocks along K are scaled.
        """
        ...

    def partners(self, a: Element) -> tuple[Element, ...]:
        """The types that B can have beside an A of that type, where no blocks are scaled."""
        return tuple(b for b in self.elements if self.accumulators(a, b))

    @abstractmethod
    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """The swizzling modes in which a multiplicand is read with that major; none if it is not."""
        ...

    @abstractmethod
    def addresses(
        self, descriptor: int, element: Element, major: Major, rows: int, k_bytes: int
    ) -> np.ndarray:
        """The byte address that one dense instruction reads for each element of an operand.

        Args:
            descriptor: the 64-bit descriptor.
            element: the operand's type, a multiplicand.
            major: its contiguous dimension.
            rows: its extent along m/n.
            k_bytes: one of `k_bytes`.

        Returns:
            int64[rows, k], absolute addresses in the shared window.

        Raises:
            ValueError: for a malformed descriptor, or what the instruction does not read.
        """
        ...

    @abstractmethod
    def instruction(
        self, a: Element, b: Element, sparse: bool = False, ctas: int = 1
    ) -> MmaInstruction:
        """The instruction that multiplies an A by a B of these types.

        Args:
            a, b: the types of A and B.
            sparse: whether A is sparse.
            ctas: CTAs that multiply together.

        Raises:
            LayoutError: if there is none.
        """
        ...

    def rows(self, m: int) -> int:
        """Rows of D of each instruction of a product of M rows of one CTA."""
        return next(rows for rows in self.instruction_m if m % rows == 0)


@dataclass(frozen=True)
class OperandUse:
    """A tile of one CTA, or a part of it, as an operand of an mma.

    Attributes:
        what: the use in words.
        role: which operand it is.
        instruction: what multiplies it.
        path: the steps to the part.
    """

    what: str
    role: Role
    instruction: MmaInstruction
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        """Whether the tile, having that layout, can be used so."""
        subtile = follow(layout, self.path).layout
        return read_by(self.instruction.mma_tiles(subtile, self.role))


def read_by(found: MmaTiles | Mismatch) -> Evaluation:
    """What is said of a tile whose parts instructions read so, or cannot read."""
    if isinstance(found, Mismatch):
        return Evaluation(False, found.reason)
    return Evaluation(True, str(found), in_loop=len(found.terms) > 1)
