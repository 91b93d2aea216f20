"""The site's lexer of MLIR (docs/mlir_lexer.py)."""

import runpy
from pathlib import Path

import pytest
from pygments.token import Comment, Keyword, Name, Number, String, Token

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lexer():
    return runpy.run_path(str(ROOT / "docs" / "mlir_lexer.py"))["MlirLexer"]()


def test_tokens_are_distinguished(lexer):
    line = '%d = "smem.mma"(%a#0) {x = "text"} : (!tile, memref<?x64xbf16>) -> i32 // why\n'
    types = {text: type_ for type_, text in lexer.get_tokens(line)}
    expected = {
        "%d": Name.Variable,
        '"smem.mma"': Name.Function,
        "%a#0": Name.Variable,
        '"text"': String,
        "!tile": Keyword.Type,
        "memref": Keyword.Type,
        "i32": Keyword.Type,
        "// why": Comment.Single,
    }
    assert {text: types[text] for text in expected} == expected


def test_numbers_and_custom_ops(lexer):
    types = {text: type_ for type_, text in lexer.get_tokens("arith.constant 0x1F -2.5e-3 @f ^bb0")}
    assert types["arith.constant"] is Name.Function
    assert types["0x1F"] is types["-2.5e-3"] is Number
    assert types["@f"] is types["^bb0"] is Name.Label


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/*.mlir")), ids=lambda p: p.stem)
def test_tokens_of_an_example_are_its_text(lexer, file):
    tokens = list(lexer.get_tokens(file.read_text()))
    assert "".join(text for _, text in tokens) == file.read_text()
    assert all(type_ is not Token.Error for type_, _ in tokens)
