"""`smem-insert-sync` on the kernels of the examples and of the checker's tests."""

from pathlib import Path

import pytest
from bindings_at_hand import needs_barrier_scopes

from fuzz.generated.program_order import strip, sync_counts, sync_of
from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.dialect.ops import DescriptorMma, SemaphoreArriveOp
from mlir_smem.ir.errors import OpError
from mlir_smem.ir.kernel import functions_of
from mlir_smem.ir.walk import holds
from mlir_smem.passes.check_async.analysis import analyze
from mlir_smem.passes.insert_sync import insert

ROOT = Path(__file__).parents[2]
FILES = [
    pytest.param(
        file,
        id=file.stem,
        marks=[needs_barrier_scopes] if "REQUIRES: gpu-barrier-scopes" in file.read_text() else [],
    )
    for folder in ("examples", "lit_tests/passes/check-async")
    for file in sorted((ROOT / folder).glob("*.mlir"))
]


def modules(file):
    """Yield the modules of a file that are wanted, in a context."""
    for text in file.read_text().split("// -----"):
        with new_context() as context:
            context.allow_unregistered_dialects = True
            yield parse_module(text)


def is_proven(function):
    try:
        return analyze(function).is_proven
    except OpError:
        return False


@pytest.mark.parametrize("file", FILES)
def test_what_is_proven_stays_as_it_is(file):
    for module in modules(file):
        for function in filter(is_proven, functions_of(module)):
            before = str(function)
            assert not list(insert(function))
            assert str(function) == before


@pytest.mark.parametrize("file", FILES)
def test_no_more_is_inserted_in_loops_than_was_taken_out(file):
    for module in modules(file):
        for function in filter(is_proven, functions_of(module)):
            # In partitions, arrays that are written and read are refused, as parts of a sum are.
            if holds(function, DescriptorMma, SemaphoreArriveOp):
                continue
            written = sync_counts(function)
            strip(function)
            insert(function)
            assert is_proven(function)
            inserted = sync_counts(function)
            loops = {loop for loop, _ in (*written, *inserted)} - {""}
            for loop in loops:
                inserted_count, written_count = (
                    sum(count for (parent, _), count in counts.items() if parent == loop)
                    for counts in (inserted, written)
                )
                assert inserted_count <= written_count, f"{function}"


def test_the_same_is_inserted_each_time():
    texts = set()
    for _ in range(3):
        with new_context():
            module = ir.Module.parse((ROOT / "examples/nvfp4.mlir").read_text())
            (function,) = functions_of(module)
            strip(function)
            insert(function)
            texts.add(str(module))
    assert len(texts) == 1


def test_ops_have_the_location_of_what_needs_them():
    with new_context():
        module = ir.Module.parse((ROOT / "examples/attention.mlir").read_text())
        (function,) = functions_of(module)
        strip(function)
        insert(function)
        following = {}
        for op in sync_of(function):
            ops = [sibling.operation for sibling in op.operation.block.operations]
            following[op.operation] = ops[ops.index(op.operation) + 1]
        assert all(op.location == following[op].location for op in following)
