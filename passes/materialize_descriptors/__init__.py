"""`smem-materialize-descriptors`: each operand of an mma becomes one 64-bit matrix descriptor."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops import MmaDescOp, MmaDescSpOp, TileMma
from ...dialect.types import is_a_fragment
from ...ir.errors import OpError
from ...ir.matrix_descriptors import Descriptors
from ...ir.subtiles import Subtile, subtile_from
from ...ir.walk import walk
from ...layout import Mismatch, MmaTiles, Role
from ...layout.arch import Arch
from ..driver.base import Pass, option
from .said import explain, in_registers, modifiers_of, said_of
from .scaled import describe_scaled


@dataclass(frozen=True)
class MaterializeDescriptors(Pass):
    """Replaces `smem.mma` by `smem.mma_desc`, whose operands are descriptors; a scaled one by
    `smem.mma_desc_scaled`.

    At the root of a tile, one constant is OR'd with the encoded address; what stages and subtiles
    add at run time follows where they are used, what does not change in a loop first. The
    instructions' own steps along m/n and k stay attributes of the op. Where a run-time start cuts
    atoms, the distance of the instructions' blocks varies: each then has a descriptor of its own.
    """

    name = "smem-materialize-descriptors"
    description = "turn the tiles that mma read into 64-bit matrix descriptors"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")
    explain: bool = option(False, "print each operand's descriptor, field by field, as remarks")

    def run(self, module: Any) -> None:
        operands = _Operands(self.arch)
        for mma in walk(module, TileMma):
            self._rewrite(mma, operands)

    def _rewrite(self, mma: Any, operands: "_Operands") -> None:
        with ir.InsertionPoint(mma), mma.location:
            if mma.scales:
                described = describe_scaled(mma, self.arch, operands.descriptors, self.explain)
            else:
                described = _describe(mma, operands, self.explain)
        mma.result.replace_all_uses_with(described.result)
        mma.operation.erase()


class _Operands:
    """What instructions read of the tiles of a module; of one that several mma read alike, once.

    Attributes:
        descriptors: the descriptors that are made of it.
    """

    def __init__(self, arch: Arch) -> None:
        self.descriptors = Descriptors()
        self._arch = arch
        self._found: dict[Any, tuple[Subtile, MmaTiles]] = {}

    def of(self, mma: Any, role: Role, tile: Any) -> tuple[Subtile, MmaTiles]:
        """The part that a tile is, and the instructions' shares of it.

        Raises:
            OpError: if instructions cannot read it.
        """
        sparse, ctas = mma.metadata is not None, mma.ctas
        key = (tile, role, sparse, ctas)
        if key not in self._found:
            subtile = subtile_from(tile, mma)
            blocks = self._arch.mma_tiles(subtile.slice.layout, role, sparse, ctas)
            if isinstance(blocks, Mismatch):
                raise OpError(mma, f"cannot read {role.name}: {blocks.reason}")
            self._found[key] = subtile, blocks
        return self._found[key]


def _describe(mma: Any, read: _Operands, explains: bool) -> Any:
    """Emits an `smem.mma_desc` that multiplies what an `smem.mma` does.

    Raises:
        OpError: if instructions cannot read an operand.
    """
    operands = list(mma.operands)
    attributes = modifiers_of(mma)
    for position, (role, operand) in enumerate(zip(Role, (mma.a, mma.b), strict=True)):
        type_ = operand.type
        if is_a_fragment(type_):
            attributes |= in_registers(type_, role)
            continue
        subtile, found = read.of(mma, role, operand)
        if explains:
            explain(mma, role.name, subtile, found)
        operands[position] = read.descriptors.of(mma, role.name, subtile, found)
        attributes |= said_of(type_, role, found)
    op = MmaDescOp if mma.metadata is None else MmaDescSpOp
    return ir.Operation.create(
        op.OPERATION_NAME,
        results=[mma.result.type],
        operands=operands,
        attributes=attributes,
    )
