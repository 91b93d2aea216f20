"""Types and attributes made from Python: `get` skips the constraints that parsing enforces."""

import re

import pytest

from mlir_smem.dialect import attributes, new_context, types
from mlir_smem.dialect.bindings import ir
from mlir_smem.layout import Multiple, Swizzle, element, tile_of_atoms
from mlir_smem.layout.swizzle import WIDEST_FIRST


@pytest.fixture(autouse=True)
def context():
    with new_context() as made:
        yield made


def bf16():
    return ir.BF16Type.get()


#: Each a tile that cannot be, of which parsing sees nothing: its parameters, and what is said of it.
BAD_TILES = {
    "rank 1": ("tensor<8xbf16>", "#smem.auto", "not [8]"),
    "rank 4": ("tensor<2x2x8x8xbf16>", "#smem.auto", "not [2, 2, 8, 8]"),
    "a dynamic extent": (
        "tensor<?x8xbf16>",
        "#smem.auto",
        "expected a ranked tensor of static shape",
    ),
    "no rank": ("tensor<*xbf16>", "#smem.auto", "expected a ranked tensor of static shape"),
    "no tensor": ("memref<8x8xbf16>", "#smem.auto", "expected a ranked tensor of static shape"),
    "no elements": ("tensor<0x8xbf16>", "#smem.auto", "a tile has no elements in [0, 8]"),
    "an element type": (
        "tensor<8x8xf64>",
        "#smem.auto",
        "has the element type f64, which no tile holds",
    ),
    "a swizzle": (
        "tensor<8x8xbf16>",
        '#smem.swizzle<"256B", "row-major">',
        "unknown swizzle '256B'; expected one of none, 32B, 64B, 128B",
    ),
    "an order": (
        "tensor<8x8xbf16>",
        '#smem.swizzle<"128B", "diagonal">',
        "unknown order 'diagonal'; expected one of column-major, row-major",
    ),
    "text that is no layout": (
        "tensor<8x8xbf16>",
        '#smem.layout<"spiral">',
        "malformed layout 'spiral'",
    ),
    "a layout of another shape": (
        "tensor<9x8xbf16>",
        '#smem.layout<"(8,8):(8,1)">',
        "dimension 0 has 9 elements, but its modes cover 8",
    ),
    "a layout with twins": (
        "tensor<8x8xbf16>",
        '#smem.layout<"(8,8):(1,1)">',
        "in the same place",
    ),
    "a part that cuts nothing": (
        "tensor<8x8xbf16>",
        '#smem.composed_layout<"(10,8):(8,1)", "(2,0)">',
        'is written #smem.layout<"Swizzle<0,4,3> o (8,8):(8,1)">',
    ),
}
each_bad_tile = pytest.mark.parametrize("tensor, layout, said", BAD_TILES.values(), ids=BAD_TILES)

BAD_FRAGMENTS = {
    "rank 1": ("tensor<64xf32>", "expected (M, N) with M a multiple of 64"),
    "M": ("tensor<65x8xf32>", "expected (M, N) with M a multiple of 64"),
    "no M": ("tensor<0x8xf32>", "expected (M, N) with M a multiple of 64"),
    "N": ("tensor<64x9xf32>", "expected (M, N) with M a multiple of 64 and N of 8"),
    "an element type": ("tensor<64x8xf64>", "has an accumulator of f64; expected f32"),
}
each_bad_fragment = pytest.mark.parametrize(
    "tensor, said", BAD_FRAGMENTS.values(), ids=BAD_FRAGMENTS
)


def verify(op, *results):
    """Verifies an op with results of those types."""
    text = f"func.func private @f(%x: f32) {{ %r = {op} -> {', '.join(results)} return }}"
    return ir.Module.parse(text)


@each_bad_tile
def test_a_bad_tile_does_not_verify(tensor, layout, said):
    with pytest.raises(ir.MLIRError, match=re.escape(said)):
        verify('"smem.alloc"() : ()', f"!smem.tile<{tensor}, {layout}>")


@each_bad_fragment
def test_a_bad_fragment_does_not_verify(tensor, said):
    with pytest.raises(ir.MLIRError, match=re.escape(said)):
        verify('"smem.fill"(%x) : (f32)', f"!smem.fragment<{tensor}, #smem.accumulator>")


@each_bad_tile
def test_a_bad_tile_is_not_made(tensor, layout, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        types.TileType.get(ir.Type.parse(tensor), ir.Attribute.parse(layout))


@each_bad_fragment
def test_a_bad_fragment_is_not_made(tensor, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        types.FragmentType.get(ir.Type.parse(tensor), attributes.InFlightAttr.get())


@pytest.mark.parametrize("layout", ["unit", '"128B"', "#smem.accumulator"])
def test_a_tile_is_not_made_with_what_is_no_layout(layout):
    with pytest.raises(ValueError, match=re.escape("expected #smem.auto, #smem.swizzle, #smem")):
        types.tile([8, 8], bf16(), ir.Attribute.parse(layout))


@pytest.mark.parametrize("state", ["unit", "#smem.auto"])
def test_a_fragment_is_not_made_with_what_is_no_state(state):
    with pytest.raises(
        ValueError,
        match=re.escape("expected #smem.accumulator, #smem.in_flight, #smem.a_fragment or"),
    ):
        types.FragmentType.get(ir.Type.parse("tensor<64x8xf32>"), ir.Attribute.parse(state))


def test_a_negative_extent_is_not_made():
    with pytest.raises(
        ValueError, match=re.escape("has the shape [-8, 8]; expected extents from 1")
    ):
        types.tile([-8, 8], bf16(), attributes.auto())


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda none: types.tile([8, 8], none, attributes.auto()), "has the element type none"),
        (lambda none: types.fragment([64, 8], none), "has an accumulator of none; expected f32"),
        (lambda none: types.a_fragment([64, 16], none), "has the element type none"),
        (lambda none: types.metadata([64, 32], none), "has the element type none"),
    ],
)
def test_what_no_tensor_holds_is_not_made(make, said):
    with pytest.raises(ValueError, match=said):
        make(ir.NoneType.get())


@pytest.mark.parametrize(
    "text",
    [
        "!smem.tile<tensor<8x8xbf16>>",
        "!smem.tile<tensor<8x8xbf16>, unit>",
        "!smem.tile<tensor<8x8xbf16>, #smem.accumulator>",
        "!smem.fragment<tensor<64x8xf32>, #smem.auto>",
        '!smem.tile<tensor<8x8xbf16>, #smem.swizzle<128, "row-major">>',
        '!smem.tile<tensor<8x8xbf16>, #smem.swizzle<"128B">>',
    ],
)
def test_parsing_enforces_the_constraints(text):
    with pytest.raises(ir.MLIRError):
        ir.Type.parse(text)


# What is made right.


@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize("order, contiguous", [("row-major", 1), ("column-major", 0)])
def test_a_forced_swizzle_is_a_tile_of_atoms(swizzle, order, contiguous):
    type_ = types.tile([64, 128], bf16(), attributes.swizzle(str(swizzle), order))
    wanted = tile_of_atoms(element("bf16"), (64, 128), contiguous, swizzle)
    assert types.layout_of(type_) == wanted.coalesced()


@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
def test_a_layout_comes_back_from_its_type(swizzle):
    layout = tile_of_atoms(element("bf16"), (3, 64, 72), 1, swizzle).coalesced()
    type_ = types.tile(layout.shape, bf16(), attributes.layout(layout))
    assert types.layout_of(ir.Type.parse(str(type_))) == layout


@pytest.mark.parametrize("start", [48, Multiple(16)], ids=str)
def test_a_part_that_cuts_atoms_comes_back_from_its_type(start):
    whole = tile_of_atoms(element("bf16"), (64, 128), 1, Swizzle.B128)
    part = whole.slice((0, start), (64, 64)).layout
    type_ = types.with_layout(types.tile(part.shape, bf16(), attributes.auto()), part)
    assert types.layout_of(ir.Type.parse(str(type_))) == part


def test_an_auto_tile_has_no_layout():
    assert types.layout_of(types.tile([8, 8], bf16(), attributes.auto())) is None


@pytest.mark.parametrize("in_flight", [False, True])
def test_a_fragment_says_whether_it_is_in_flight(in_flight):
    made = types.fragment([64, 8], ir.F32Type.get(), in_flight)
    assert types.is_in_flight(ir.Type.parse(str(made))) is in_flight


@pytest.mark.parametrize(
    "text, name",
    [
        ("f32", "tf32"),
        ("f8E4M3FN", "e4m3"),
        ("i8", "s8"),
        ("si8", "s8"),
        ("ui8", "u8"),
        ("i1", "b1"),
    ],
)
def test_element_types_that_the_isa_names_otherwise(text, name):
    made = types.tile([8, 128], ir.Type.parse(text), attributes.auto())
    assert types.tile_element(made) is element(name)
