"""A layout as an affine map: its text, evaluated for each element, gives the layout's offsets."""

import re

import numpy as np
import pytest

from mlir_smem.layout import (
    LayoutError,
    Multiple,
    Swizzle,
    TileOrder,
    affine_map,
    element,
    parse_layout,
    tile_of_atoms,
)

BF16 = element("bf16")
ELEMENTS = [element(name) for name in ("bf16", "tf32", "s8", "e2m1", "b1")]


def evaluate(text, shape):
    """The map's value for each index of a shape."""
    dims, result = re.fullmatch(r"affine_map<\((.*?)\) -> \((.*)\)>", text).groups()
    operators = {"floordiv": "//", "mod": "%"}
    source = re.sub("floordiv|mod", lambda match: operators[match[0]], result)
    indices = np.ogrid[tuple(map(slice, shape))]
    offsets = eval(source, dict(zip(dims.split(", "), indices, strict=True)))
    return np.broadcast_to(offsets, shape)


def elements_of(layout):
    bits = layout.element.bits
    if bits >= 8:
        return layout.offsets() // (bits // 8)
    return layout.offsets() * 8 // bits + layout.linear() % (8 // bits)


@pytest.mark.parametrize("contiguous", [0, 1])
@pytest.mark.parametrize("swizzle", Swizzle)
@pytest.mark.parametrize("element_type", ELEMENTS, ids=str)
def test_layouts_of_atoms(element_type, swizzle, contiguous):
    atom = swizzle.atom_elements(element_type)
    for order in TileOrder:
        for along, across, stages in ((2 * atom, 64, ()), (3 * atom, 24, (3,)), (atom, 8, ())):
            tile = (across, along) if contiguous else (along, across)
            layout = tile_of_atoms(element_type, (*stages, *tile), contiguous, swizzle, order)
            assert (evaluate(affine_map(layout), layout.shape) == elements_of(layout)).all()


@pytest.mark.parametrize(
    "text, shape",
    [
        # Strides and inner extents that are no powers of two.
        ("Swizzle<3,4,3> o (24,64):(72,1)", (24, 64)),
        ("Swizzle<3,4,3> o ((8,3),(64,3)):((64,1536),(1,512))", (24, 192)),
        ("Swizzle<2,4,3> o ((24,2),32):((32,1024),1)", (48, 32)),
        ("Swizzle<3,4,3> o (1,64):(64,1)", (1, 64)),
        ("(1,1):(0,0)", (1, 1)),
    ],
)
def test_other_layouts(text, shape):
    layout = parse_layout(text, BF16, shape)
    assert (evaluate(affine_map(layout), shape) == elements_of(layout)).all()


def test_subtiles_that_cut_atoms():
    whole = tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128)
    layout = whole.slice((4, 16), (30, 64)).layout
    assert layout.origin
    assert (evaluate(affine_map(layout), layout.shape) == elements_of(layout)).all()


def test_the_text_is_short():
    layout = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B32)
    terms = (
        "d1 mod 8 + d0 * 16 + (d1 floordiv 16) * 1024 + ((d1 floordiv 8 + d0 floordiv 4) mod 2) * 8"
    )
    assert affine_map(layout) == f"affine_map<(d0, d1) -> ({terms})>"


def test_refusals():
    padded = tile_of_atoms(element("e2m3_p32"), (64, 128), 1, Swizzle.B128)
    with pytest.raises(LayoutError, match="e2m3_p32 is padded: 16 elements share 16 bytes"):
        affine_map(padded)
    whole = tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128)
    cut = whole.slice((Multiple(8), Multiple(16)), (32, 64)).layout
    with pytest.raises(LayoutError, match="are known at run time only"):
        affine_map(cut)
