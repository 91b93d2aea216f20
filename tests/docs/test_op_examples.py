"""The examples of the reference: every op has one, which uses it, and which is verified and lowered."""

from pathlib import Path

import pytest

import mlir_smem
from mlir_smem.dialect.smem import Smem

FOLDER = Path(__file__).parents[2] / "docs"
OPS = [op.OPERATION_NAME.partition(".")[2] for op in Smem.operations]


@pytest.fixture
def op_examples(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import op_examples

    return op_examples


@pytest.mark.parametrize("op", OPS)
def test_an_example_uses_its_op_and_is_lowered(op, op_examples):
    text = op_examples.example(op)
    assert f'"smem.{op}"(' in text
    program, arch = op_examples.program(text), op_examples.architecture(text)
    # The kernel alone has some of the ops, too.
    assert program.count(f'"smem.{op}"(') >= text.count(f'"smem.{op}"(')
    nvvm = mlir_smem.compile(program, arch=arch, emit="nvvm").nvvm
    assert '"smem.' not in nvvm


def test_every_file_is_of_an_op():
    files = {path.stem for path in (FOLDER / "ops").glob("*.mlir")}
    assert files - {"kernel"} == set(OPS)


def test_an_example_that_is_wrong_is_refused(op_examples):
    wrong = op_examples.program('"smem.store"(%a, %D) : (!tile, memref<64x64xf32>) -> ()\n')
    with pytest.raises(Exception, match=r"smem\.store"):
        mlir_smem.compile(wrong, emit="nvvm")


def test_the_page_shows_the_examples(op_examples):
    page = (FOLDER / "reference.md").read_text()
    for op in OPS:
        section = page.partition(f"#### `smem.{op}`\n")[2].partition("\n#### ")[0]
        assert f"```mlir\n{op_examples.example(op)}```" in section
