"""The accessors of every op: `op.a` is the operand, attribute, result or region of that name."""

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.dialect.op import operand_names
from mlir_smem.dialect.smem import Smem

FILES = sorted((Path(__file__).parents[2] / "lit_tests" / "dialect").glob("*.mlir"))

SPARSE = """
func.func @sparse(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) {
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "bf16", b_element = "bf16", a_major = "k",
      b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 256>}
      : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>)
      -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  return
}"""

#: Texts that together contain every op, with and without each optional operand.
TEXTS = [*(path.read_text() for path in FILES), SPARSE]


@pytest.fixture(scope="module")
def ops_by_class():
    """The ops of the texts, by their classes."""
    with new_context():
        by_class, modules = defaultdict(list), []
        for text in TEXTS:
            modules.append(ir.Module.parse(text))

            def note(op):
                if op.name.startswith("smem."):
                    by_class[type(op.opview)].append(op.opview)
                return ir.WalkResult.ADVANCE

            modules[-1].operation.walk(note)
        yield by_class


def fields(op, which):
    """The fields of an op class that are operands, attributes, results or regions."""
    return [field for field in op._fields if type(field).__name__ == f"{which}Def"]


def as_list(value):
    """The values of an operand as a list: none if it is absent, several if it is variadic."""
    return value if isinstance(value, list) else [] if value is None else [value]


each_op = pytest.mark.parametrize("op_class", Smem.operations, ids=lambda op: op.__name__)


@each_op
def test_operands_are_those_of_the_op(op_class, ops_by_class):
    assert ops_by_class[op_class]
    for op in ops_by_class[op_class]:
        got = [as_list(getattr(op, name)) for name in operand_names(op_class)]
        assert list(chain(*got)) == list(op.operands)


@each_op
def test_each_optional_operand_is_present_and_absent(op_class, ops_by_class):
    for field in fields(op_class, "Operand"):
        counts = {len(as_list(getattr(op, field.name))) for op in ops_by_class[op_class]}
        assert counts >= {"single": {1}, "optional": {0, 1}}.get(field.variadicity.name, set())


@each_op
def test_attributes_results_and_regions(op_class, ops_by_class):
    for op in ops_by_class[op_class]:
        for field in fields(op_class, "Attribute"):
            expected = ir.Attribute if field.constraint is Any else field.constraint
            assert isinstance(getattr(op, field.name), expected)
        results = [getattr(op, field.name) for field in fields(op_class, "Result")]
        assert results == list(op.operation.results)
        regions = [getattr(op, field.name) for field in fields(op_class, "Region")]
        assert [list(r.blocks) for r in regions] == [list(r.blocks) for r in op.operation.regions]


@each_op
def test_integer_attributes_are_declared(op_class, ops_by_class):
    declared = {*op_class.i32, *op_class.i64}
    known = {f.name for f in fields(op_class, "Attribute") if f.constraint is ir.IntegerAttr}
    for op in ops_by_class[op_class]:
        known |= {
            name
            for name in op.attributes
            if "." not in name and isinstance(op.attributes[name].maybe_downcast(), ir.IntegerAttr)
        }
    assert known <= declared


#: Each integer attribute of each op, with types other than its own.
WRONG = [
    (op, name, bits, wrong)
    for op in Smem.operations
    for bits in (32, 64)
    for name in getattr(op, f"i{bits}")
    for wrong in ("i32", "i64", "si32", "ui64", "i1", "index")
    if wrong != f"i{bits}"
]


@pytest.mark.parametrize(
    "op_class, name, bits, wrong", WRONG, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_integer_attributes_of_another_type_are_rejected(op_class, name, bits, wrong, ops_by_class):
    op = ops_by_class[op_class][0]
    before = op.attributes.get(name, None)
    attribute = ir.Attribute.parse(f"1 : {wrong}", op.context)
    op.attributes[name] = attribute
    try:
        with pytest.raises(ir.MLIRError) as error:
            op.operation.verify()
        message = f"op has {name} = {attribute}; expected an i{bits}, as in {name} = 1 : i{bits}"
        assert message in str(error.value)
    finally:
        if before is None:
            del op.attributes[name]
        else:
            op.attributes[name] = before
