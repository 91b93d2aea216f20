"""The list of a function's ops, while ops are inserted, removed and erased."""

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.dialect.ops import ElectOp
from mlir_smem.ir.kernel import functions_of
from mlir_smem.ir.walk import walk
from mlir_smem.passes.order.function_ops import FunctionOps

MODULE = """
func.func @waits() {
  "smem.elect"() ({
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}
"""


def test_an_erased_op_is_forgotten_with_the_ops_in_it():
    # A new op at the address of an erased wait was taken for that wait.
    with new_context():
        module = parse_module(MODULE)
        (function,) = functions_of(module)
        ops = FunctionOps(function)
        (elect,) = (op.operation for op in walk(function, ElectOp))
        erased = walk(elect)
        ops.remove(elect)
        ops.forget(elect)
        assert not any(op in ops for op in erased)
        assert [op.name for op in ops.ops_in(function.regions[0].blocks[0])] == ["func.return"]
