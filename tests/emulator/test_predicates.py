"""Predicated instructions: what threads do whose predicate is false, and what the others do."""

import numpy as np
import pytest
from emulated import only_fault, run_text
from tma_copies import FENCE, FILL, WAIT, dump, kernel, load, map_type

from mlir_smem.emulator import ViolationKind, Violations

ARRAY = np.arange(64, dtype=np.float32).reshape(8, 8)
MAP = map_type((8, 8), "f32", "none", 1)

#: The guarded init and load of `tma_copies` as predicated instructions.
GUARDED_INIT = "scf.if %first { nvvm.mbarrier.init %bar, %i1 : !llvm.ptr<3>, i32 }"
PREDICATED_INIT = "nvvm.mbarrier.init %bar, %i1, predicate = %first : !llvm.ptr<3>, i32, i1"
PREDICATED_LOAD = """%x0 = arith.constant 0 : i32
    nvvm.mbarrier.arrive.expect_tx %bar, %bytes, predicate = %first : !llvm.ptr<3>, i32, i1
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map0, %bar, box[%x0, %x0] predicate = %first
        : !llvm.ptr<7>, !llvm.ptr"""


def load_tile(load, init=GUARDED_INIT):
    """Load a tile to shared memory; return its elements."""
    memory = np.zeros(64, np.int32)
    text = kernel("\n".join([load, WAIT, dump("B", 256)]), [ARRAY, memory], [MAP], 256)
    run_text(text.replace(GUARDED_INIT, init), "k", (ARRAY, memory), shared=264)
    return memory.view(np.float32).reshape(8, 8)


def test_a_predicated_load_is_a_guarded_one():
    assert np.array_equal(load_tile(load((0, 0))), ARRAY)
    assert np.array_equal(load_tile(PREDICATED_LOAD, PREDICATED_INIT), ARRAY)


def test_a_predicated_store_is_that_of_one_thread():
    target = np.zeros((8, 8), np.float32)
    stored = """%x0 = arith.constant 0 : i32
    nvvm.cp.async.bulk.tensor.global.shared.cta %map0, %at, box[%x0, %x0], predicate = %first
        : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0"""
    text = kernel("\n".join([FILL, FENCE, "gpu.barrier", stored]), [target], [MAP], 256)
    run_text(text, "k", (target,), shared=264)
    assert np.array_equal(target.view(np.int32).reshape(-1), np.arange(64))


def test_every_thread_whose_predicate_holds_arrives():
    """All 32 threads announce and load the bytes, where one arrival is expected."""
    every = PREDICATED_LOAD.replace("predicate = %first", "predicate = %all")
    text = kernel(f"%all = arith.constant true\n{every}\n{WAIT}", [ARRAY], [MAP], 256)
    with pytest.raises(Violations, match="whose 1 arrivals of this phase have all come"):
        run_text(text, "k", (ARRAY,), shared=264)


def test_no_thread_arrives_whose_predicate_is_false():
    fault = only_fault(
        """%n = arith.constant 1024 : i64
        %i0 = arith.constant 0 : i32
        %i1 = arith.constant 1 : i32
        %bar = llvm.inttoptr %n : i64 to !llvm.ptr<3>
        %never = arith.constant false
        %first = arith.cmpi eq, %tid, %c0 : index
        nvvm.mbarrier.init %bar, %i1, predicate = %first : !llvm.ptr<3>, i32, i1
        gpu.barrier
        nvvm.mbarrier.arrive.expect_tx %bar, %i0, predicate = %never : !llvm.ptr<3>, i32, i1
        nvvm.mbarrier.try_wait.parity %bar, %i0, %i1 : !llvm.ptr<3>, i32, i32""",
        shared=8,
    )
    assert fault.kind is ViolationKind.DEADLOCK
    assert "which lacks 1 of 1 arrivals and 0 bytes" in fault.message
