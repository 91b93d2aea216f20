"""What `passes/order/` computes with: integers, rectangles, needs, and what ops of others do."""

import pytest

from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
from mlir_smem.dialect.ops import FenceOp, WaitOp, WarpgroupBarrierOp
from mlir_smem.dialect.parsing import parse_module
from mlir_smem.ir.walk import walk
from mlir_smem.passes.order.harmless import is_harmless
from mlir_smem.passes.order.integers import UNKNOWN, Integer, exactly, join
from mlir_smem.passes.order.needs import Need, Unordered
from mlir_smem.passes.order.rectangles import Allocation, Rectangle
from mlir_smem.passes.order.widening import Widening

ALLOCATION = Allocation(None, "memory", (0, 4096), stages=2, rows=64, columns=64)


@pytest.mark.parametrize(
    "one, other, joined",
    [
        (exactly(2), exactly(6), Integer(2, 4, 2)),
        (exactly(6), Integer(0, 3, 0), Integer(0, 3, 0)),
        (exactly(4), UNKNOWN, UNKNOWN),
    ],
)
def test_one_of_two_integers(one, other, joined):
    assert join(one, other) == joined
    assert join(other, one) == joined


@pytest.mark.parametrize(
    "stage, row, rows, known", [(0, 0, 32, True), (None, 0, 32, False), (1, None, 64, True)]
)
def test_rectangles_at_unknown_places_may_differ(stage, row, rows, known):
    rectangle = Rectangle(ALLOCATION, stage, row, 0, rows, 64)
    assert rectangle.equals(rectangle) is known
    assert not rectangle.equals(rectangle._replace(columns=32))


def test_pairs_need_what_any_path_needs():
    def pair(*needs):
        return Unordered(None, None, needs, "")

    waits = [Need(WaitOp, pending) for pending in (2, 0, 1)]
    both = pair(waits[0], Need(WarpgroupBarrierOp)).with_needs_of(
        [pair(waits[1]), pair(waits[2], Need(FenceOp), Need(WarpgroupBarrierOp, warpgroups=2))]
    )
    assert both.needs == (
        Need(WaitOp, 0),
        Need(FenceOp),
        Need(WarpgroupBarrierOp, warpgroups=2),
    )


def test_loops_are_exact_as_far_as_they_are_compared():
    widening = Widening()
    widening.carried(0)
    widening.constant(1, 5)
    widening.follow("arith.cmpi", 2, (0, 1))
    assert widening.limits() == (1, 10)
    widening.constant(3, 4)
    widening.follow("arith.remui", 4, (0, 3))
    assert widening.limits() == (4, 10)


def test_ops_of_llvm_that_order_nothing():
    text = """module {
      llvm.func @g()
      func.func @f(%x: i32) {
        %0 = llvm.inline_asm "mov.b32 $0, $1;", "=r,r" %x : (i32) -> i32
        llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
        %1 = llvm.add %x, %x : i32
        llvm.fence seq_cst
        llvm.call @g() : () -> ()
        return
      }
    }"""
    with new_context(), ir.Location.unknown():
        module = parse_module(text)
        ops = [op.operation for op in walk(module) if op.operation.name.startswith("llvm.")]
        found = [(op.name, is_harmless(op)) for op in ops if op.name != "llvm.func"]
    assert found == [
        ("llvm.inline_asm", True),
        ("llvm.inline_asm", False),
        ("llvm.add", True),
        ("llvm.fence", False),
        ("llvm.call", False),
    ]
