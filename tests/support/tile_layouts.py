"""Random layouts of tiles that instructions of a warpgroup access: of swizzle atoms, and others."""

from hypothesis import strategies as st

from mlir_smem.layout import Mode, Swizzle, TileLayout, TileOrder, tile_of_atoms


@st.composite
def any_layout(draw, element, shape, along):
    """A layout of a tile of that shape; dimension `along` is contiguous, at least in runs."""
    if draw(st.booleans()):
        return draw(plain(element, shape, along))
    swizzle, order = draw(st.sampled_from(Swizzle)), draw(st.sampled_from(TileOrder))
    return tile_of_atoms(element, shape, along, swizzle, order)


@st.composite
def plain(draw, element, shape, along):
    """Rows and columns at any strides, of single elements or of runs; b1 in runs of 32-bit words."""
    least = 32 if element.bits == 1 else 1
    run = draw(st.sampled_from([n for n in (1, 2, 4, 8, 16, 32, 128) if n >= least]))
    swizzle = draw(st.sampled_from(Swizzle))
    pad = draw(st.sampled_from([n for n in (0, 1, 2, 4, 8, 16, 32, 64, 128) if n % least == 0]))
    runs = -(-shape[along] // run)
    whole = draw(st.booleans())
    # Either the runs of a line are adjacent, or the runs of all lines at one position are.
    line = run * runs + pad
    steps = (run, line) if whole else (run * shape[1 - along] + pad, run)
    modes = [(Mode(run, 1), Mode(runs, steps[0])), (Mode(shape[1 - along], steps[1]),)]
    layout = TileLayout(element, shape, tuple(modes if along == 0 else modes[::-1]), swizzle)
    return layout.coalesced()
