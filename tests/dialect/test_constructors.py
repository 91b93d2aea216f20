"""Types and attributes built from Python: `get` skips the constraints that parsing enforces."""

import re

import pytest

from mlir_smem.bindings import ir
from mlir_smem.dialect import attributes, new_context, types
from mlir_smem.layout import Multiple, Swizzle, element, tile_of_atoms
from mlir_smem.layout.swizzle import WIDEST_FIRST


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def bf16():
    return ir.BF16Type.get()


#: Invalid tile types that IRDL constraints accept: the parameters, and a part of the message.
INVALID_TILES = {
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
    "a layout that is not injective": (
        "tensor<8x8xbf16>",
        '#smem.layout<"(8,8):(1,1)">',
        "in the same place",
    ),
    "a subtile that cuts no atom": (
        "tensor<8x8xbf16>",
        '#smem.composed_layout<"(10,8):(8,1)", "(2,0)">',
        'is written #smem.layout<"Swizzle<0,4,3> o (8,8):(8,1)">',
    ),
}
each_invalid_tile = pytest.mark.parametrize(
    "tensor, layout, message", INVALID_TILES.values(), ids=INVALID_TILES
)

INVALID_FRAGMENTS = {
    "rank 1": ("tensor<64xf32>", "expected (M, N) with M a multiple of 64"),
    "M": ("tensor<65x8xf32>", "expected (M, N) with M a multiple of 64"),
    "no M": ("tensor<0x8xf32>", "expected (M, N) with M a multiple of 64"),
    "N": ("tensor<64x9xf32>", "expected (M, N) with M a multiple of 64 and N of 8"),
    "an element type": ("tensor<64x8xf64>", "has an accumulator of f64; expected f32"),
}
each_invalid_fragment = pytest.mark.parametrize(
    "tensor, message", INVALID_FRAGMENTS.values(), ids=INVALID_FRAGMENTS
)


def verify(op, *results):
    """Parse and verify an op with results of these types."""
    text = f"func.func private @f(%x: f32) {{ %r = {op} -> {', '.join(results)} return }}"
    return ir.Module.parse(text)


@each_invalid_tile
def test_an_invalid_tile_does_not_verify(tensor, layout, message):
    with pytest.raises(ir.MLIRError, match=re.escape(message)):
        verify('"smem.alloc"() : ()', f"!smem.tile<{tensor}, {layout}>")


@each_invalid_fragment
def test_an_invalid_fragment_does_not_verify(tensor, message):
    with pytest.raises(ir.MLIRError, match=re.escape(message)):
        verify('"smem.fill"(%x) : (f32)', f"!smem.fragment<{tensor}, #smem.accumulator>")


@each_invalid_tile
def test_an_invalid_tile_is_not_constructed(tensor, layout, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        types.TileType.get(ir.Type.parse(tensor), ir.Attribute.parse(layout))


@each_invalid_fragment
def test_an_invalid_fragment_is_not_constructed(tensor, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        types.FragmentType.get(ir.Type.parse(tensor), attributes.InFlightAttr.get())


@pytest.mark.parametrize("layout", ["unit", '"128B"', "#smem.accumulator"])
def test_a_tile_needs_a_layout_attribute(layout):
    with pytest.raises(ValueError, match=re.escape("expected #smem.auto, #smem.swizzle, #smem")):
        types.tile([8, 8], bf16(), ir.Attribute.parse(layout))


@pytest.mark.parametrize("state", ["unit", "#smem.auto"])
def test_a_fragment_needs_a_state_attribute(state):
    with pytest.raises(
        ValueError,
        match=re.escape("expected #smem.accumulator, #smem.in_flight, #smem.a_fragment"),
    ):
        types.FragmentType.get(ir.Type.parse("tensor<64x8xf32>"), ir.Attribute.parse(state))


def test_a_negative_extent_is_rejected():
    with pytest.raises(
        ValueError, match=re.escape("has the shape [-8, 8]; expected extents from 1")
    ):
        types.tile([-8, 8], bf16(), attributes.auto())


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda none: types.tile([8, 8], none, attributes.auto()), "has the element type none"),
        (lambda none: types.fragment([64, 8], none), "has an accumulator of none; expected f32"),
        (lambda none: types.a_fragment([64, 16], none), "has the element type none"),
        (lambda none: types.metadata([64, 32], none), "has the element type none"),
    ],
)
def test_an_unsupported_element_type_is_rejected(make, message):
    with pytest.raises(ValueError, match=message):
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


# Valid types.


@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize("order, contiguous", [("row-major", 1), ("column-major", 0)])
def test_a_forced_swizzle_is_a_tile_of_atoms(swizzle, order, contiguous):
    type_ = types.tile([64, 128], bf16(), attributes.swizzle(str(swizzle), order))
    wanted = tile_of_atoms(element("bf16"), (64, 128), contiguous, swizzle)
    assert types.layout_of(type_) == wanted.coalesced()


@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
def test_a_layout_round_trips_through_its_type(swizzle):
    layout = tile_of_atoms(element("bf16"), (3, 64, 72), 1, swizzle).coalesced()
    type_ = types.tile(layout.shape, bf16(), attributes.layout(layout))
    assert types.layout_of(ir.Type.parse(str(type_))) == layout


@pytest.mark.parametrize("start", [48, Multiple(16)], ids=str)
def test_a_subtile_that_cuts_atoms_round_trips_through_its_type(start):
    whole = tile_of_atoms(element("bf16"), (64, 128), 1, Swizzle.B128)
    subtile = whole.slice((0, start), (64, 64)).layout
    type_ = types.with_layout(types.tile(subtile.shape, bf16(), attributes.auto()), subtile)
    assert types.layout_of(ir.Type.parse(str(type_))) == subtile


def test_an_auto_tile_has_no_layout():
    assert types.layout_of(types.tile([8, 8], bf16(), attributes.auto())) is None


@pytest.mark.parametrize("in_flight", [False, True])
def test_a_fragment_type_records_whether_it_is_in_flight(in_flight):
    type_ = types.fragment([64, 8], ir.F32Type.get(), in_flight)
    assert types.is_in_flight(ir.Type.parse(str(type_))) is in_flight


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
def test_element_types_with_another_name_in_the_isa(text, name):
    type_ = types.tile([8, 128], ir.Type.parse(text), attributes.auto())
    assert types.tile_element(type_) is element(name)
