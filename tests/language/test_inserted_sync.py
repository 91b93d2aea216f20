"""Kernels of the examples without synchronization: what is inserted is what their authors write."""

import importlib
from collections import Counter

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from fuzz.generated.program_order import sync_of
from mlir_smem.dialect import new_context
from mlir_smem.passes.insert_sync import InsertSync
from mlir_smem.passes.insert_sync.insertion_points import outwards

TYPES = {
    "matmul": [sl.bf16] * 3,
    "gemm": [sl.bf16] * 3,
    "attention": [sl.f16] * 3 + [sl.f32] * 3,
    "nvfp4": [sl.i8, sl.i8, sl.e4m3, sl.e4m3, sl.f32, sl.bf16],
}


def kernels(name):
    """Return the kernel without synchronization, and the one of its author."""
    modules = (f"mlir_smem.examples.{way}{name}" for way in ("", "manual_sync."))
    return tuple(getattr(importlib.import_module(module), name) for module in modules)


def counts(kernel, name):
    """Return how many ops of each name that synchronize are in how many loops."""
    with new_context():
        module = kernel.trace(*TYPES[name])
        if kernel.options.inserts_sync:
            assert not sync_of(module)
            InsertSync().run(module)
        return Counter(
            (op.operation.name, sum(outer.name == "scf.for" for outer in outwards(op)))
            for op in sync_of(module)
        )


@pytest.mark.parametrize("name", TYPES)
def test_no_more_is_inserted_than_authors_write(name):
    inserted, written = (counts(kernel, name) for kernel in kernels(name))
    depth = max(loops for _, loops in written)
    for loops in range(1, depth + 1):
        inserted_count, written_count = (
            sum(count for (_, nesting), count in ops.items() if nesting == loops)
            for ops in (inserted, written)
        )
        assert inserted_count <= written_count, loops
    assert inserted.total() <= written.total()


def test_a_gemm_has_the_ptx_of_its_author():
    inserted, written = kernels("gemm")
    assert inserted.ptx(*TYPES["gemm"]) == written.ptx(*TYPES["gemm"])


@pytest.mark.parametrize("name", ["matmul", "attention"])
def test_the_ptx_has_the_instructions_of_the_author(name):
    def instructions(ptx):
        lines = (line.strip().split(" ")[0] for line in ptx.splitlines())
        return Counter(word for word in lines if "." in word and not word.startswith("."))

    inserted, written = (kernel.ptx(*TYPES[name]) for kernel in kernels(name))
    assert instructions(inserted) == instructions(written)


def test_the_reasons_are_at_the_lines_of_the_kernel():
    @sl.kernel("(64,64), (64,64)")
    def product(A, B):
        a = sl.alloc((64, 64), A.dtype)
        sl.copy_async(A, a)
        sl.store(sl.mma(a, a), B)

    remarks = [
        remark
        for remark in product.explain(sl.bf16, sl.f32)
        if remark.message.startswith("inserted")
    ]
    assert [remark.message.split(":")[0] for remark in remarks] == [
        "inserted smem.copy_commit",
        "inserted smem.copy_wait with pending = 0",
        "inserted smem.fence",
        "inserted gpu.barrier",
        "inserted smem.wait with pending = 0",
    ]
    assert "sl.store(sl.mma(a, a), B)" in str(remarks[-1])


def test_a_product_can_be_read():
    @sl.kernel("(64,64), (64,64)")
    def square(A, B):
        a = sl.alloc((64, 64), A.dtype)
        sl.copy(A, a)
        first = sl.mma(a, a)
        sl.store(sl.mma(a, a, first) + first, B)

    a = np.random.default_rng(0).integers(-2, 3, (64, 64)).astype(ml_dtypes.bfloat16)
    b = np.zeros((64, 64), np.float32)
    square[1,](a, b, on="cpu")
    assert np.array_equal(b, 3 * a.astype(np.float32) @ a.astype(np.float32))


def test_a_wait_of_the_author():
    @sl.kernel("(64,64), (64,64)")
    def product(A, B):
        a = sl.alloc((64, 64), A.dtype)
        sl.copy(A, a)
        sl.store(sl.wait(sl.mma(a, a)), B)

    with pytest.raises(sl.TraceError) as error:
        product.trace(sl.bf16, sl.f32)
    assert error.value.message == (
        'a fragment 64x64 of f32 is waited for; expected sync="manual", without which waits are inserted'
    )


def test_what_cannot_be_decided_is_refused_at_its_line():
    @sl.kernel("(128,64), (64,64)")
    def overlapping(A, B):
        a = sl.alloc((96, 64), A.dtype)
        sl.copy(A[0:96, :], a)
        sl.copy(a[0:64, :], a[32:96, :])
        sl.store(sl.load(a[0:64, :]), B)

    with pytest.raises(sl.TraceError) as error:
        overlapping.check(sl.f16, sl.f16)
    assert "cannot insert synchronization: cannot prove that the smem.copy" in error.value.message
    assert "sl.copy(a[0:64, :], a[32:96, :])" in str(error.value)
