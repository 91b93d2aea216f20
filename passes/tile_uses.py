"""What a program does with a tile, as the choice of its layout sees it."""

from typing import Any

from ..dialect.diagnostics import Invalid, format_location
from ..dialect.ops import starts_of
from ..dialect.ops.copy import permutation_of, reads_blocks, reads_tile, tile_copy_of, transfer_of
from ..dialect.ops.mma import PRODUCTS, ctas_of, extras_of
from ..dialect.ops.mma_scaled import scaling_of
from ..dialect.ops.tma import matrix_contiguous, multicast_of
from ..dialect.types import is_multiplicand, layout_of, shape_of, tile_element
from ..layout import (
    Relayout,
    Role,
    Step,
    Swizzle,
    TileCopyUse,
    Transfer,
    TransferUse,
    choose,
)
from ..layout.arch import Arch
from ..layout.fragment_access import accumulator_access, multiplicand_access
from ..layout.tcgen05 import ScaledUse, ScaleUse
from ..layout.uses import BulkUse, FragmentUse, Use
from .base import OpError
from .cluster import blocks_along
from .kernel import function_of, threads_of
from .parts import PARTS, chain_of, part_from

#: Threads that a copy's bank conflicts are predicted for where the block's size is not known.
_USUAL_THREADS = 128


def uses_of(root: Any, max_swizzle: Swizzle, arch: Arch) -> list[Use]:
    """What is done with the tile of an alloc or view, and with its parts.

    Args:
        root: the alloc or view.
        max_swizzle: the widest swizzle that other tiles, which it is copied from or to, can get.
        arch: the architecture, which multiplies the types of every mma.

    Raises:
        OpError: if something is done with it of which no layout follows.
    """
    return list(_Uses(root, max_swizzle, arch).of(root.results[0], ()).values())


class _Uses:
    """The uses of a root's tile; those that ask the same of a layout are one.

    Copies from and to tiles whose layouts are open ask for what the other uses of these allow: `deep` is
    false where just these others are wanted.
    """

    def __init__(self, root: Any, max_swizzle: Swizzle, arch: Arch, deep: bool = True) -> None:
        self._root, self._max_swizzle, self._arch, self._deep = root, max_swizzle, arch, deep

    def of(self, value: Any, path: tuple[Step, ...]) -> dict[Any, Use]:
        """The uses of the part that is at the end of a path."""
        found: dict[Any, Use] = {}
        for use in value.uses:
            op = use.owner
            name = op.operation.name
            where = format_location(op.location)
            if name in PARTS:
                starts = starts_of(op)
                sizes = None if name == "smem.stage" else shape_of(op.results[0].type)
                inner = self.of(op.results[0], (*path, Step(starts, sizes)))
                found = {**inner, **found}
            elif name in PRODUCTS:
                self._operand(op, use.operand_number, path, found)
            elif name in ("smem.load", "smem.store"):
                to_a = name == "smem.load" and is_multiplicand(op.results[0].type)
                access = multiplicand_access if to_a else accumulator_access
                what = f"the {name.removeprefix('smem.')} at {where}"
                found[access, path] = FragmentUse(what, access, path)
            elif name in ("smem.copy", "smem.copy_async"):
                if reads_tile(op):
                    self._copy(op, use.operand_number, path, found)
                    continue
                if reads_blocks(op):
                    found[ScaleUse, path] = ScaleUse(f"the copy at {where}", path)
                    continue
                transfer = _transfer(op)
                found[transfer, path] = TransferUse(f"the copy at {where}", transfer, path)
            elif name in ("smem.tma_load", "smem.tma_store"):
                load = name == "smem.tma_load"
                if load and reads_blocks(op):
                    found[ScaleUse, path] = ScaleUse(f"the tma_load at {where}", path)
                    continue
                element = tile_element(value.type)
                if element.padding and not self._arch.is_tcgen05:
                    raise OpError(
                        op,
                        f"loads {element}, which TMA of {self._arch} does not pad; sm_100 and sm_103 do",
                    )
                memref = op.operands[0 if load else 1].type
                blocks = blocks_along(op, multicast_of(op)) if load else 1
                contiguous = matrix_contiguous(memref) - (memref.rank - 2)
                what = f"the {name.removeprefix('smem.')} at {where}"
                found[name, contiguous, blocks, path] = BulkUse(what, contiguous, blocks, path)
            else:
                raise OpError(
                    self._root,
                    f"is used by '{name}' at {where}, of which no layout follows; take its stages and "
                    "subtiles where they are copied or multiplied",
                )
        return found

    def _operand(
        self, op: Any, operand: int, path: tuple[Step, ...], found: dict[Any, Use]
    ) -> None:
        """Adds an operand of an mma."""
        role, types = tuple(Role)[operand % 2], [value.type for value in op.operands]
        what, extras = f"of the mma at {format_location(op.location)}", extras_of(op)
        ctas = ctas_of(op)
        if operand > 1:
            found[ScaleUse, path] = ScaleUse(f"factors of {role.name} {what}", path)
        elif extras.scales:
            scaling = scaling_of(*types[:3])
            k, n = shape_of(types[1])
            long = self._arch.has_absolute_lbo and scaling.reads_long(k, n * ctas)
            use = ScaledUse(f"{role.name} {what}", role, scaling, long, ctas, path)
            found[role, scaling, long, ctas, path] = use
        else:
            sparse, element = extras.metadata is not None, tile_element(types[operand])
            use = self._arch.use(f"{role.name} {what}", role, element, path, sparse, ctas)
            found[role, sparse, ctas, path] = use

    def _copy(self, op: Any, operand: int, path: tuple[Step, ...], found: dict[Any, Use]) -> None:
        """Adds one end of a copy from a tile to a tile."""
        copy = tile_copy_of(op, _threads(op))
        end, _ = chain_of(op.operands[1 - operand], op)
        other, directions = None, ()
        if layout_of(end.results[0].type) is not None:
            other = part_from(op.operands[1 - operand], op).slice.layout
        elif self._deep:
            there = self._directions(end)
            directions = tuple(permutation_of(op).index(dim) for dim in there)
        else:
            return
        what = f"the copy at {format_location(op.location)}"
        key = (operand, copy, other, directions, path)
        found[key] = TileCopyUse(what, copy, operand == 0, other, directions, path)

    def _directions(self, root: Any) -> list[int]:
        """The dimensions (0 for rows) along which a tile without a layout can be contiguous, as far as
        its uses other than copies from and to such tiles say."""
        type_ = root.results[0].type
        other = _Uses(root, self._max_swizzle, self._arch, deep=False)
        uses = list(other.of(root.results[0], ()).values())
        return [
            dim
            for dim in (0, 1)
            if choose(
                tile_element(type_),
                shape_of(type_),
                uses,
                self._max_swizzle,
                dim,
                exhaustive=False,
                swizzles=self._arch.swizzles,
            ).picked
        ]


def _threads(copy: Any) -> int:
    return threads_of(function_of(copy)) or _USUAL_THREADS


def _transfer(copy: Any) -> Transfer | Relayout:
    try:
        return transfer_of(copy, _threads(copy))
    except Invalid as error:
        raise OpError(copy, str(error)) from None
