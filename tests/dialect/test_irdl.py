"""The dialect as IRDL: other tools parse and verify its ops without Python."""

from pathlib import Path

import pytest
from programs import module, tile

from mlir_smem.bindings import PACKAGE, ir
from mlir_smem.dialect import irdl
from mlir_smem.dialect.smem import Smem

EXAMPLE = Path(__file__).parents[2] / "examples" / "matmul.mlir"


@pytest.fixture
def irdl_only():
    """A context that has loaded only the IRDL of the dialect."""
    from importlib import import_module

    with ir.Context() as context, ir.Location.unknown():
        import_module(f"{PACKAGE}.dialects.irdl").load_dialects(ir.Module.parse(irdl()))
        yield context


def test_the_irdl_parses_without_the_dialect():
    with ir.Context():
        assert ir.Module.parse(irdl()).operation.verify()


def test_the_irdl_has_every_op():
    text = irdl()
    names = [op.OPERATION_NAME.removeprefix("smem.") for op in Smem.operations]
    assert [name for name in names if f"@{name} " not in text] == []


def test_exporting_twice_gives_the_same_text():
    assert irdl() == irdl()


@pytest.mark.parametrize("text", [module(), EXAMPLE.read_text()], ids=["small", "example"])
def test_modules_verify_with_irdl_only(irdl_only, text):
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
def test_irdl_only_rejects_violated_constraints(irdl_only, text):
    with pytest.raises(ir.MLIRError):
        ir.Module.parse(text)
