"""Walks find the ops of a name wherever they are."""

import pytest

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.ir.walk import gather, holds, walk, walk_dialects

TEXT = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @symbol() : i32
    func.func private @declared()
    gpu.func @kernel() kernel {
      %zero = arith.constant 0 : index
      scf.for %i = %zero to %zero step %zero {
        func.call @declared() : () -> ()
        %two = arith.constant 2 : i32
      }
      gpu.return
    }
  }
  func.func @host() {
    func.call @host() : () -> ()
    return
  }
}
"""


@pytest.fixture
def module():
    with new_context():
        yield parse_module(TEXT)


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (["func.func"], 2),
        (["gpu.func"], 1),
        (["llvm.mlir.global"], 1),
        (["gpu.func", "func.func", "llvm.mlir.global"], 4),
        (["func.call"], 2),
        (["func.func", "func.call"], 4),
        (["arith.constant"], 2),
        (["gpu.module", "gpu.func"], 2),
        (["gpu.launch_func"], 0),
    ],
)
def test_ops_by_name(module, wanted, count):
    assert [op.name in wanted for op in walk(module, *wanted)] == [True] * count
    assert holds(module, *wanted) == bool(count)


def test_groups_of_ops_in_one_walk(module):
    functions, calls = gather(module, ["func.func"], ["func.call"])
    assert (len(functions), len(calls)) == (2, 2)


def test_ops_by_dialect(module):
    names = {op.name for op in walk_dialects(module, lambda dialect: dialect in ("scf", "llvm"))}
    assert names == {"scf.for", "scf.yield", "llvm.mlir.global"}
