"""Orders in which threads run: seeded ones show what the fixed one hides; right kernels stay right."""

from random import Random

import numpy as np
import pytest
from emulated import kernel, memref, triple

from fuzz.generated.kernels import check_and_lower, emulate_kernel
from fuzz.net.turns import turns_kernel
from mlir_smem.emulator import ViolationKind, Violations, emulate
from mlir_smem.emulator.schedule import schedule_of

SCHEDULES = range(8)

#: Each thread counts itself.
COUNTED = """
    %address = memref.extract_aligned_pointer_as_index %A : memref<4xi32> -> index
    %bits = arith.index_cast %address : index to i64
    %s = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %one = arith.constant 1 : i32
    %old = llvm.atomicrmw add %s, %one acq_rel : !llvm.ptr<1>, i32
"""

#: The warp whose threads come first waits for one more warp than the other.
WAITS = """
    %limit = arith.constant 32 : i32
    %number = arith.constant 1 : i32
    %both = arith.constant 64 : i32
    %before = arith.cmpi ult, %t32, %limit : i32
    %late = arith.cmpi uge, %old, %limit : i32
    %waits = arith.andi %before, %late : i1
    scf.if %waits {
      nvvm.barrier id = %number number_of_threads = %both
    }
"""


def run(body, schedule, *arrays, block=64, grid=1):
    emulate(
        kernel(body, [memref(array) for array in arrays]),
        "k",
        list(arrays),
        grid=triple(grid),
        block=triple(block),
        dynamic_shared_bytes=0,
        schedule=schedule,
    )


def test_some_schedule_shows_that_a_result_depends_on_the_order():
    seen = {}
    for schedule in SCHEDULES:
        order = np.zeros(64, np.int32)
        store = "memref.store %old, %B[%tid] : memref<64xi32>"
        run(COUNTED + store, schedule, np.zeros(4, np.int32), order)
        seen[schedule] = tuple(order)
        assert sorted(order) == [*range(64)]
    assert seen[0] == tuple(range(64))
    assert len(set(seen.values())) > 1


def test_some_schedule_shows_a_deadlock_that_the_fixed_order_hides():
    kinds = set()
    for schedule in SCHEDULES:
        try:
            run(COUNTED + WAITS, schedule, np.zeros(4, np.int32))
        except Violations as error:
            assert schedule, "the fixed order is right"
            kinds |= {violation.kind for violation in error.found}
    assert kinds == {ViolationKind.DEADLOCK}


def test_clusters_run_in_other_orders():
    ctas = [(x, 0, 0) for x in range(16)]
    assert [*schedule_of(0).order(ctas)] == ctas
    other = [*schedule_of(3).order(ctas)]
    assert other != ctas and sorted(other) == ctas


def test_a_schedule_is_the_same_each_time():
    def order():
        result = np.zeros(64, np.int32)
        store = "memref.store %old, %B[%tid] : memref<64xi32>"
        run(COUNTED + store, 5, np.zeros(4, np.int32), result)
        return result.tolist()

    assert order() == order()


def test_a_negative_schedule_is_refused():
    with pytest.raises(ValueError, match="a schedule of -1 is not possible; expected 0 or more"):
        schedule_of(-1)


def test_a_right_kernel_is_right_under_every_schedule():
    kernel = turns_kernel(Random(2))
    checked_kernel = check_and_lower(kernel)
    assert checked_kernel.check.evaluation == "proven"
    assert {
        emulate_kernel(checked_kernel.compiled, kernel, schedule) for schedule in SCHEDULES
    } == {""}
