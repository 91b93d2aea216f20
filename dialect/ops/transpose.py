"""`smem.transpose`: a tile with rows and columns exchanged."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext
from ...layout.modes import Start
from ...layout.path import TRANSPOSE, PathElement
from ..arguments import Tile
from ..build import create
from ..builder import builder
from ..types import TileType, shape_of
from ..verifier import verifier
from .subview import SubviewOp, check_subtile, subtile_type


class TransposeOp(SubviewOp, name="transpose"):
    """Views `tile` (rows, columns) with rows and columns exchanged. No element moves: the result is
    row-major if the tile is column-major.

    A tile that is read by its rows and by its columns is stored once. Its layout satisfies the uses of
    both views: `smem.mma` reads 16-bit elements contiguous along K, or along M or N, but wgmma reads
    others along K only, so only one of the two views. A copy to the transpose of a tile is a copy to
    the tile with `permutation`.
    """

    tile: ext.Operand[TileType]
    result: ext.Result[TileType]

    @property
    def positions(self) -> tuple[Value | int, ...]:
        """Empty: the tile is taken whole."""
        return ()

    @property
    def starts(self) -> tuple[Start, ...]:
        """Empty: the tile is taken whole."""
        return ()

    @property
    def path_element(self) -> PathElement:
        """The step that exchanges rows and columns."""
        return TRANSPOSE

    @verifier
    def verify_region_invariants(self) -> None:
        source = self.tile.type
        check_subtile(self, source, self.result.type, _transposed_shape(source))


@builder
def transpose(tile: Tile) -> Value:
    """Build an `smem.transpose`: a tile (rows, columns) with rows and columns exchanged.

    Args:
        tile: a tile (rows, columns).

    Example:
        >>> print(smem.transpose(smem.alloc((128, 64), bf16)).type)
        !smem.tile<tensor<64x128xbf16>, #smem.auto>
    """
    result = subtile_type(tile.type, _transposed_shape(tile.type))
    return create(TransposeOp, [tile], [result]).result


def _transposed_shape(tile: Type) -> tuple[int, ...]:
    """The shape of the transpose of a tile type.

    Raises:
        Invalid: if the tile has stages.
    """
    shape = shape_of(tile)
    if len(shape) != 2:
        raise Invalid(f"transposes a tile (rows, columns), not {list(shape)}; take a stage")
    return shape[::-1]
