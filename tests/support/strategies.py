"""Random tiles and operands, small enough to be enumerated element by element."""

from dataclasses import dataclass

from hypothesis import strategies as st

from mlir_smem.layout import (
    ELEMENTS,
    Major,
    Mode,
    Role,
    Swizzle,
    TileLayout,
    TileOrder,
    instruction_k,
    tile_of_atoms,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.wgmma import MN_MAJOR

elements = st.sampled_from(list(ELEMENTS.values()))
swizzles = st.sampled_from(WIDEST_FIRST)
every_swizzle = st.sampled_from(Swizzle)
tile_orders = st.sampled_from(TileOrder)

NO_STAGES = st.just(())
STAGES = st.tuples(st.integers(1, 4))


@st.composite
def tiles(draw, stages=NO_STAGES):
    """A tile of atoms, padded or not; b1 in whole bytes, the smallest addressable unit."""
    element, swizzle = draw(elements), draw(every_swizzle)
    line = swizzle.atom_elements(element)
    along = draw(st.sampled_from((line, 2 * line)) | st.integers(1, 20).map(lambda u: 8 * u))
    across = draw(st.integers(1, 40))
    contiguous = draw(st.integers(0, 1))
    shape = (along, across) if contiguous == 0 else (across, along)
    return tile_of_atoms(element, (*draw(stages), *shape), contiguous, swizzle, draw(tile_orders))


@st.composite
def layouts(draw):
    """Any layout of rank 2: up to three modes a dimension, overlapping or not."""
    modes = st.builds(Mode, st.integers(1, 5), st.integers(0, 60))
    dims = [tuple(draw(st.lists(modes, min_size=1, max_size=3))) for _ in range(2)]
    shape = []
    for dim in dims:
        inner = 1
        for mode in dim[:-1]:
            inner *= mode.extent
        covered = inner * dim[-1].extent
        shape.append(draw(st.integers(covered - inner + 1, covered)))
    return TileLayout(draw(elements), tuple(shape), tuple(dims), draw(every_swizzle))


@st.composite
def spans(draw, tile, dim):
    """(start, size) along a dimension of a span that cuts no atom: inside one, or from its start."""
    extent, modes = tile.shape[dim], tile.coalesced().modes[dim]
    atom = modes[0].extent if len(modes) > 1 else extent
    first = draw(st.integers(0, (extent - 1) // atom)) * atom
    if draw(st.booleans()):
        return first, draw(st.integers(1, extent - first))
    end = min(first + atom, extent)
    start = draw(st.integers(first, end - 1))
    return start, draw(st.integers(1, end - start))


@st.composite
def anywhere(draw, tile, dim):
    """(start, size) along a dimension of a span that may cut atoms."""
    size = draw(st.integers(1, tile.shape[dim]))
    return draw(st.integers(0, tile.shape[dim] - size)), size


@dataclass(frozen=True)
class Operand:
    """A tile that an mma can read, in the operand's orientation: (m/n, k)."""

    tile: TileLayout
    role: Role
    major: Major

    @property
    def oriented_tile(self) -> TileLayout:
        """The tile in the orientation of its role: (M, K) or (K, N)."""
        return self.role.orient(self.tile)


@st.composite
def operands(draw):
    """Operand tiles of wgmma: every element type, legal majorness, swizzle and tile order."""
    element, swizzle, role = draw(elements), draw(swizzles), draw(st.sampled_from(Role))
    major = draw(st.sampled_from(Major)) if element in MN_MAJOR else Major.K
    mn = draw(st.integers(1, 3)) * 64 if role is Role.A else draw(st.integers(1, 40)) * 8
    shape = (mn, draw(st.integers(1, 5)) * instruction_k(element))
    contiguous = 1 if major is Major.K else 0
    return Operand(
        tile_of_atoms(element, shape, contiguous, swizzle, draw(tile_orders)), role, major
    )
