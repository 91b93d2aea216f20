"""Questions about pairs of accesses, against those about the whole function."""

from pathlib import Path

import pytest

import mlir_smem.language as sl
from fuzz.generated.program_order import sync_of
from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.ir.errors import OpError
from mlir_smem.ir.kernel import functions_of
from mlir_smem.ir.op_address import op_address
from mlir_smem.ir.walk import walk
from mlir_smem.passes.check_async.analysis import analyze
from mlir_smem.passes.check_async.check import blocks_of, has_pipelines
from mlir_smem.passes.insert_sync import insert
from mlir_smem.passes.insert_sync.prover import Pairs
from mlir_smem.passes.order.function_ops import FunctionOps, following, preceding
from mlir_smem.passes.order.global_memory import GlobalArrays

ROOT = Path(__file__).parents[3]


def pairs_of(function):
    ops = FunctionOps(function)
    return ops, Pairs(function, blocks_of(function)[0], ops, 1, GlobalArrays(function))


def functions(*files):
    """Yield the functions without pipelines of some files, each in its context."""
    for file in files:
        for text in (ROOT / file).read_text().split("// -----"):
            with new_context() as context:
                context.allow_unregistered_dialects = True
                module = parse_module(text)
                for function in functions_of(module):
                    if len(blocks_of(function)) == 1 and not has_pipelines(function):
                        yield function


def is_proven(function):
    try:
        return analyze(function, global_memory=GlobalArrays(function)).is_proven
    except OpError:
        return False


@pytest.mark.parametrize("file", ["examples/matmul.mlir", "examples/attention.mlir"])
def test_what_is_taken_out_is_missed(file):
    for function in functions(file):
        assert is_proven(function)
        for op in [sync.operation for sync in sync_of(function) if not len(sync.results)]:
            ops, pairs = pairs_of(function)
            assert pairs.first() is None
            # Only accesses that passed the op can be out of order without it.
            passing, entry = pairs.passing([op]), ops.entry(op)
            after = entry.next.op
            ops.remove(op)
            op.detach_from_parent()
            pairs.remove(entry)
            assert pairs.are_in_order(passing) == is_proven(function)
            ir.InsertionPoint(after).insert(op)
            pairs.insert(ops.insert(op, ops.entry(after)))
            assert pairs.are_in_order(passing)


def unrolled_product(steps):
    @sl.kernel("(64,64), (64,64), (64,64)", warpgroups=1)
    def product(A, B, D):  # noqa: N803
        a, b = sl.alloc((4, 64, 16), A.dtype), sl.alloc((4, 16, 64), B.dtype)
        result = sl.zeros((64, 64), sl.f32)
        for step in range(steps):
            sl.copy_async(A[:, 0:16], a[step % 4])
            sl.copy_async(B[0:16, :], b[step % 4])
            result = sl.mma(a[step % 4], b[step % 4], result)
        sl.store(result, D)

    return product.mlir(sl.bf16, sl.bf16, sl.f32)


def count_insertions(text):
    with new_context():
        module = ir.Module.parse(text)
        (function,) = functions_of(module)
        insertions = insert(function)
        assert is_proven(function)
        return len(insertions), insertions.questions


def test_questions_grow_with_the_steps():
    # A segment holds some 64 ops: steps are in several of them.
    ops, questions = count_insertions(unrolled_product(16))
    more_ops, more_questions = count_insertions(unrolled_product(32))
    assert more_ops < 2.2 * ops
    assert more_questions < 2.2 * questions


def staged_products(times):
    """A loop with five stages in a loop of which it is not known how often it is executed; `% 8` of an
    integer that it carries is a position in an array."""

    @sl.kernel("(64,K), (K,64), (64,64)", warpgroups=1)
    def products(A, B, D):  # noqa: N803
        a, b = sl.alloc((5, 64, 16), A.dtype), sl.alloc((5, 16, 64), B.dtype)
        for j in sl.range(times or A.shape[1] // 64):
            result, at = sl.zeros((64, 64), sl.f32), j
            for step in sl.range(A.shape[1] // 16):
                column = sl.ds(at % 8 * 16, 16)
                sl.copy_async(A[:, column], a[step % 5])
                sl.copy_async(B[column, :], b[step % 5])
                result = sl.mma(a[step % 5], b[step % 5], result)
                at = at + 3
            sl.store(result, D)

    return products.mlir(sl.bf16, sl.bf16, sl.f32)


def test_iterations_that_are_the_same_are_not_told_apart():
    ops, questions = count_insertions(staged_products(1))
    repeated, repeated_questions = count_insertions(staged_products(None))
    assert repeated <= ops + 1
    assert repeated_questions < 1.5 * questions


def test_an_op_keeps_its_address():
    with new_context():
        module = ir.Module.parse('"smem.copy_wait"() {pending = 0 : i32} : () -> ()')
        op = module.body.operations[0].operation
        before, address = hash(op), op_address(op)
        op.attributes["pending"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        assert hash(op) != before
        assert op_address(module.body.operations[0]) == address


def test_ops_come_and_go():
    region = "scf.execute_region { gpu.barrier scf.yield }"
    text = f"func.func @f() {{ gpu.barrier gpu.barrier {region} return }}"
    with new_context():
        module = ir.Module.parse(text)
        (function,) = functions_of(module)
        first, second, *_ = walk(function, "gpu.barrier")
        ops, block = FunctionOps(function), function.regions[0].blocks[0]
        assert [op.name for op in ops.ops_in(block)] == [
            *("gpu.barrier", "gpu.barrier"),
            *("scf.execute_region", "func.return"),
        ]
        entry = ops.remove(first)
        assert [*preceding(ops.entry(second))] == []
        assert ops.insert(first, ops.end(block)) is entry
        assert [*following(ops.entry(first))] == []
        assert ops.after(second).name == "scf.execute_region"
        ops.remove(first)
        ops.forget(first)
        assert first not in ops
