"""The dialect as IRDL: other tools parse and verify our IR by it, without Python."""

from pathlib import Path

import pytest
from programs import module, tile

from mlir_smem.dialect import irdl
from mlir_smem.dialect.bindings import PACKAGE, ir
from mlir_smem.dialect.smem import Smem

EXAMPLE = Path(__file__).parents[2] / "examples" / "matmul.mlir"


@pytest.fixture
def foreign():
    """A context that knows the dialect by its IRDL only."""
    from importlib import import_module

    with ir.Context() as context, ir.Location.unknown():
        import_module(f"{PACKAGE}.dialects.irdl").load_dialects(ir.Module.parse(irdl()))
        yield context


def test_it_parses_alone():
    with ir.Context():
        assert ir.Module.parse(irdl()).operation.verify()


def test_every_op_is_in_it():
    text = irdl()
    names = [op.OPERATION_NAME.removeprefix("smem.") for op in Smem.operations]
    assert [name for name in names if f"@{name} " not in text] == []


def test_exporting_it_again_gives_the_same():
    assert irdl() == irdl()


@pytest.mark.parametrize("text", [module(), EXAMPLE.read_text()], ids=["small", "example"])
def test_our_ir_parses_by_it(foreign, text):
    assert ir.Module.parse(text).operation.verify()


@pytest.mark.parametrize(
    "text",
    [
        f'%0 = "smem.allot"() : () -> {tile(8, 8)}',
        f'%0:2 = "smem.alloc"() : () -> ({tile(8, 8)}, {tile(8, 8)})',
        '%0 = "smem.alloc"() : () -> i32',
        '"smem.copy_wait"() : () -> ()',
        '%0 = "smem.alloc"() : () -> !smem.tile<tensor<8x8xbf16>, #smem.accumulator>',
    ],
)
def test_what_breaks_its_constraints_is_refused_by_it(foreign, text):
    with pytest.raises(ir.MLIRError):
        ir.Module.parse(text)
