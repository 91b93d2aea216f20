"""CuTe's notation: writing, parsing, and malformed texts."""

import pytest
from hypothesis import given
from strategies import layouts, tiles

from mlir_smem.layout import LayoutError, Mode, Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.layout.text_error import TextError

BF16 = element("bf16")


@given(layouts())
def test_parsing_what_was_written_gives_it_back(layout):
    assert parse_layout(str(layout), layout.element, layout.shape) == layout


@given(tiles())
def test_tiles_of_atoms_too(tile):
    assert parse_layout(str(tile), tile.element, tile.shape) == tile


def test_a_tile_in_cutes_words():
    tile = tile_of_atoms(BF16, (128, 128), 1, Swizzle.B128)
    assert str(tile) == "Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192))"


def test_the_mode_that_exchanges_units_of_32_bytes():
    tile = tile_of_atoms(element("tf32"), (64, 8), 0, Swizzle.B128_ATOM_32B)
    assert str(tile) == "Swizzle<2,5,2> o ((32,2),8):((1,256),32)"
    assert parse_layout(str(tile), element("tf32")) == tile


def test_stages_are_one_more_dimension():
    tile = tile_of_atoms(BF16, (4, 8, 64), 1, Swizzle.B128)
    assert str(tile) == "Swizzle<3,4,3> o (4,8,64):(512,64,1)"


@pytest.mark.parametrize(
    "text",
    [
        "Swizzle<2,4,3> o ((8,4),32):((32,256),1)",
        "Sw<2,4,3> o ((_8,_4),_32):((_32,_256),_1)",
        " Swizzle < 2 , 4 , 3 >o( ( 8 , 4 ) , 32 ) : ( (32,256) , 1 ) ",
        "Swizzle<2,4,3> o (((8),4),(32)):((32,(256)),((1)))",
    ],
)
def test_spellings_of_one_layout(text):
    layout = parse_layout(text, BF16)
    assert layout.swizzle is Swizzle.B64
    assert layout.modes == ((Mode(8, 32), Mode(4, 256)), (Mode(32, 1),))


def test_no_prefix_is_no_swizzle():
    assert parse_layout("(8,8):(8,1)", BF16).swizzle is Swizzle.NONE


def test_the_shape_fills_the_modes_unless_it_is_given():
    text = "((8,2),64):((64,512),1)"
    assert parse_layout(text, BF16).shape == (16, 64)
    assert parse_layout(text, BF16, (12, 64)).shape == (12, 64)


def test_a_shape_that_does_not_fit():
    with pytest.raises(LayoutError, match="dimension 0 has 8 elements, but its modes cover 16"):
        parse_layout("((8,2),64):((64,512),1)", BF16, (8, 64))


@pytest.mark.parametrize("swizzle", ["4,4,3", "3,3,3", "3,5,2"])
def test_other_swizzles_are_refused(swizzle):
    with pytest.raises(LayoutError, match=f"Swizzle<{swizzle}> is no swizzling mode of shared mem"):
        parse_layout(f"Swizzle<{swizzle}> o (8,64):(64,1)", BF16)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "it ends too early"),
        ("(8,", "it ends too early"),
        ("(8,8):", "it ends too early"),
        ("(8,8)", "expected ':' and the strides"),
        ("(8,8) (8,1)", "expected ':' and the strides"),
        ("(8,8):(8,1))", r"'\)' after the strides"),
        ("8:1", "expected one entry for each dimension"),
        ("(8,8):(8,x)", r"unexpected 'x\)'"),
        ("(8,8):(8,-1)", r"unexpected '-1\)'"),
        ("smem_ptr o (8,8):(8,1)", "unexpected 'smem_ptr'"),
        ("(8,:):(8,1)", "unexpected ':'"),
        ("(8,8:(8,1)", "a parenthesis is not closed"),
        ("(8 8):(8,1)", "a parenthesis is not closed"),
        ("(8,8):(8,(1,2))", "extents and strides differ in structure"),
        ("(8,8):(8,1,64)", "extents and strides differ in structure"),
    ],
)
def test_malformed_text_is_refused(text, problem):
    with pytest.raises(LayoutError, match=f"malformed layout '.*': {problem}"):
        parse_layout(text, BF16)


@pytest.mark.parametrize(
    "text, index",
    [
        ("", 0),
        ("(8,", 3),
        ("(8,8)", 5),
        ("(8,8) (8,1)", 6),
        ("(8,8):(8,1) ) ", 12),
        ("8:1", 0),
        ("(8,8): (8, x)", 11),
        ("Sw<3,4,3> o (8,8):(8,-1)", 21),
        ("(8,:):(8,1)", 3),
        ("(8,8:(8,1)", 4),
        ("(8,8):(8,(1,2))", 9),
        ("(8,8):(8,1,64)", 6),
        ("  Swizzle<2,5,3> o (8,64):(64,1)", 2),
    ],
)
def test_the_caret_is_under_the_character_that_is_wrong(text, index):
    with pytest.raises(TextError) as error:
        parse_layout(text, BF16)
    assert error.value.index == index
    problem, line, caret, example = error.value.format_with_caret().split("\n")
    assert problem == f"malformed layout: {error.value.problem}"
    assert (line, caret) == (f"  {text}", "  " + " " * index + "^")
    assert example == "  for example Swizzle<3,4,3> o ((8,16),64):((64,512),1)"


def test_the_example_is_a_layout():
    with pytest.raises(TextError) as error:
        parse_layout("", BF16)
    assert parse_layout(error.value.example, BF16).shape == (128, 64)
