"""What `passes/order/` computes with: integers, rectangles, needs, and what ops of others do."""

import pytest

from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.dialect.ops import FenceOp, WaitOp, WarpgroupBarrierOp
from mlir_smem.ir.kernel import functions_of
from mlir_smem.ir.walk import walk
from mlir_smem.passes.order.effects import accessed_memrefs, is_harmless, is_only_read
from mlir_smem.passes.order.integers import UNKNOWN, Integer, exactly, join
from mlir_smem.passes.order.needs import Need, Unordered
from mlir_smem.passes.order.rectangles import Allocation, Rectangle
from mlir_smem.passes.order.translate import Widening

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
    widening.add_carried(0)
    widening.add_constant(1, 5)
    widening.add_op("arith.cmpi", 2, (0, 1))
    assert widening.limits(frozenset()) == (1, 10)
    widening.add_constant(3, 4)
    widening.add_op("arith.remui", 4, (0, 3))
    assert widening.limits(frozenset([4])) == (4, 10)
    assert widening.limits(frozenset()) == (1, 10)


def test_integers_of_short_loops_are_exact():
    widening = Widening()
    widening.add_constant(0, 9)
    widening.add_loop(0, 1)
    assert widening.limits(frozenset()) == (1, 1)
    widening.add_constant(2, 8)
    widening.add_loop(2, 3)
    assert widening.limits(frozenset()) == (1, 8)


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
        verdicts = [(op.name, is_harmless(op)) for op in ops if op.name != "llvm.func"]
    assert verdicts == [
        ("llvm.inline_asm", True),
        ("llvm.inline_asm", False),
        ("llvm.add", True),
        ("llvm.fence", False),
        ("llvm.call", False),
    ]


def test_ops_of_vector_access_memrefs():
    text = """func.func @f(%m: memref<64xf32>, %i: index, %x: vector<4xf32>, %mask: vector<4xi1>,
        %at: vector<4xindex>, %out: memref<64x64xf32>, %t: !smem.tile<tensor<64x64xf32>, #smem.auto>) {
      %0 = vector.load %m[%i] : memref<64xf32>, vector<4xf32>
      vector.store %x, %m[%i] : memref<64xf32>, vector<4xf32>
      %1 = vector.maskedload %m[%i], %mask, %x : memref<64xf32>, vector<4xi1>,
        vector<4xf32> into vector<4xf32>
      vector.maskedstore %m[%i], %mask, %x : memref<64xf32>, vector<4xi1>, vector<4xf32>
      %2 = vector.gather %m[%i] [%at], %mask, %x : memref<64xf32>,
        vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.scatter %m[%i] [%at], %mask, %x : memref<64xf32>, vector<4xindex>,
        vector<4xi1>, vector<4xf32>
      %3 = vector.expandload %m[%i], %mask, %x : memref<64xf32>, vector<4xi1>,
        vector<4xf32> into vector<4xf32>
      vector.compressstore %m[%i], %mask, %x : memref<64xf32>, vector<4xi1>, vector<4xf32>
      "smem.elect"() ({
        "smem.tma_store"(%t, %out, %i, %i) : (!smem.tile<tensor<64x64xf32>, #smem.auto>,
          memref<64x64xf32>, index, index) -> ()
      }) {scope = "cta"} : () -> ()
      return
    }"""
    with new_context(), ir.Location.unknown():
        module = parse_module(text)
        names = []
        for op in (x.operation for x in walk(module) if x.operation.name.startswith("vector.")):
            reads, writes = accessed_memrefs(op)
            names.append((op.name, bool(reads), bool(writes)))
            assert all(isinstance(memref.type, ir.MemRefType) for memref in (*reads, *writes))
        assert [name for name, reads, writes in names if reads == writes] == []
        assert {name for name, _, writes in names if writes} == {
            "vector.store",
            "vector.maskedstore",
            "vector.scatter",
            "vector.compressstore",
        }
        (function,) = functions_of(module)
        written, copied = (function.regions[0].blocks[0].arguments[i] for i in (0, 5))
        assert not is_only_read(written)
        assert not is_only_read(copied)
