"""Barriers: by number and thread count, in different branches; deadlocks and illegal barriers."""

import numpy as np
import pytest
from emulated import faults, only_fault, run

from mlir_smem.emulator import ViolationKind

SYMBOLS = "memref.global @buffer : memref<256xi32, #gpu.address_space<workgroup>>"
SPACE = "memref<256xi32, #gpu.address_space<workgroup>>"

SETUP = f"""
    %s = memref.get_global @buffer : {SPACE}
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %n32 = arith.constant 32 : i32
    %n64 = arith.constant 64 : i32
    %n128 = arith.constant 128 : i32
    %n192 = arith.constant 192 : i32
    %n256 = arith.constant 256 : i32
    %five = arith.constant 5 : i32
    %warp = arith.shrui %t32, %five : i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi ult, %tid, %c128 : index
    %half = arith.cmpi ult, %tid, %c16 : index
    %quarter = arith.cmpi ult, %tid, %c64 : index
    %w0 = arith.cmpi ult, %tid, %c32 : index
"""

STORE = f"memref.store %t32, %s[%tid] : {SPACE}"
LOAD = f"""
    %l = memref.load %s[%m] : {SPACE}
    memref.store %l, %A[%tid] : memref<256xi32>"""
MIRROR = """
    %last = arith.constant 255 : index
    %m = arith.subi %last, %tid : index
"""


def read_mirrored(barrier):
    """The elements that threads t read after a barrier; thread 255 - t wrote each before it."""
    out = np.zeros(256, np.int32)
    run(SETUP + MIRROR + STORE + barrier + LOAD, out, block=256, symbols=SYMBOLS)
    return out.tolist()


@pytest.mark.parametrize(
    "barrier",
    [
        "gpu.barrier",
        "nvvm.barrier",
        "nvvm.barrier id = %one",
        "nvvm.barrier id = %one number_of_threads = %n256",
    ],
)
def test_barriers_of_the_whole_cta(barrier):
    elements = read_mirrored(f"\n    {barrier}\n")
    assert elements == list(range(255, -1, -1))


def test_missing_barrier_is_a_race():
    out = np.zeros(256, np.int32)
    fault = only_fault(SETUP + MIRROR + STORE + LOAD, out, block=256, symbols=SYMBOLS)
    assert fault.kind is ViolationKind.RACE
    assert fault.line.startswith("%l = memref.load")
    assert "gpu.barrier is missing between them" in fault.message


PRODUCE = f"""
      %v = arith.muli %t32, %two : i32
      memref.store %v, %s[%tid] : {SPACE}"""
CONSUME = f"""
      %i = arith.subi %tid, %c128 : index
      %l = memref.load %s[%i] : {SPACE}
      memref.store %l, %A[%tid] : memref<256xi32>"""
SYNC = "\n      nvvm.barrier id = %one number_of_threads = %n256"
ARRIVE = "\n      nvvm.barrier.arrive id = %one number_of_threads = %n256"

PARTITIONS = {
    "one if": "scf.if %first {{ {produce} {signal} }} else {{ {wait} {consume} }}",
    "the consumer first": """
    %other = arith.xori %first, %first_is : i1
    scf.if %other {{ {wait} {consume} }} else {{ {produce} {signal} }}""",
    "successive ifs": """
    %other = arith.xori %first, %first_is : i1
    scf.if %first {{ {produce} {signal} }}
    scf.if %other {{ {wait} {consume} }}""",
    "successive ifs, the consumer first": """
    %other = arith.xori %first, %first_is : i1
    scf.if %other {{ {wait} {consume} }}
    scf.if %first {{ {produce} {signal} }}""",
}


def partitions(form, produce=PRODUCE, signal=SYNC, wait=SYNC, consume=CONSUME):
    text = PARTITIONS[form].format(produce=produce, signal=signal, wait=wait, consume=consume)
    return SETUP + "%first_is = arith.constant true\n    " + text


@pytest.mark.parametrize("signal", [SYNC, ARRIVE], ids=["waits", "arrives"])
@pytest.mark.parametrize("form", PARTITIONS)
def test_producer_and_consumer(form, signal):
    out = np.zeros(256, np.int32)
    run(partitions(form, signal=signal), out, block=256, symbols=SYMBOLS)
    assert out.tolist() == [0] * 128 + [2 * t for t in range(128)]


@pytest.mark.parametrize("form", PARTITIONS)
def test_partitions_reconverge_at_the_next_barrier(form):
    rest = f"""
    gpu.barrier
    %last = arith.constant 127 : index
    %k = arith.andi %tid, %last : index
    %q = memref.load %s[%k] : {SPACE}
    memref.store %q, %A[%tid] : memref<256xi32>"""
    out = np.zeros(256, np.int32)
    run(partitions(form) + rest, out, block=256, symbols=SYMBOLS)
    assert out.tolist() == [2 * (t % 128) for t in range(256)]


@pytest.mark.parametrize("form", PARTITIONS)
def test_writes_after_an_arrival_are_not_ordered(form):
    body = partitions(form, produce="", signal=ARRIVE + PRODUCE)
    violations = faults(body, np.zeros(256, np.int32), block=256, symbols=SYMBOLS)
    assert ViolationKind.RACE in {fault.kind for fault in violations}


@pytest.mark.parametrize("form", PARTITIONS)
def test_thread_that_only_arrives_is_not_ordered_after_others(form):
    # The consumer writes before the barrier; the producer, which did not wait, reads it.
    early = f"\n      memref.store %one, %s[%tid] : {SPACE}"
    peek = f"""
      %p = arith.addi %tid, %c128 : index
      %o = memref.load %s[%p] : {SPACE}
      memref.store %o, %A[%tid] : memref<256xi32>"""
    body = partitions(form, produce="", signal=ARRIVE + peek, wait=early + SYNC, consume="")
    violations = faults(body, np.zeros(256, np.int32), block=256, symbols=SYMBOLS)
    assert {fault.kind for fault in violations} & {ViolationKind.RACE, ViolationKind.UNINITIALISED}


def test_warps_pass_their_own_barriers_repeatedly():
    body = f"""
    %id = arith.addi %warp, %one : i32
    %trips = arith.index_cast %warp : i32 to index
    %x = arith.constant 31 : index
    %p = arith.xori %tid, %x : index
    memref.store %zero, %s[%tid] : {SPACE}
    scf.for %i = %c0 to %trips step %c1 {{
      nvvm.barrier id = %id number_of_threads = %n32
      %l = memref.load %s[%p] : {SPACE}
      nvvm.barrier id = %id number_of_threads = %n32
      %m = arith.addi %l, %one : i32
      memref.store %m, %s[%tid] : {SPACE}
    }}
    %r = memref.load %s[%tid] : {SPACE}
    memref.store %r, %A[%tid] : memref<256xi32>"""
    out = np.zeros(256, np.int32)
    run(SETUP + body, out, block=256, symbols=SYMBOLS)
    assert out.tolist() == [t // 32 for t in range(256)]


def test_barrier_in_a_loop_with_different_trip_counts():
    # A barrier does not wait for threads that have returned.
    body = """
    cf.br ^head(%zero : i32)
  ^head(%i: i32):
    %go = arith.cmpi ult, %i, %warp : i32
    cf.cond_br %go, ^body, ^end
  ^body:
    gpu.barrier
    %j = arith.addi %i, %one : i32
    cf.br ^head(%j : i32)
  ^end:
    memref.store %i, %A[%tid] : memref<256xi32>
    gpu.return"""
    out = np.zeros(256, np.int32)
    run(SETUP + body, out, block=256, symbols=SYMBOLS)
    assert out.tolist() == [t // 32 for t in range(256)]


def test_barrier_does_not_wait_for_warps_that_returned():
    body = f"""
    cf.cond_br %quarter, ^end, ^go
  ^go:
    {MIRROR}
    {STORE}
    gpu.barrier
    %n = arith.maxui %m, %c64 : index
    %l = memref.load %s[%n] : {SPACE}
    memref.store %l, %A[%tid] : memref<256xi32>
    cf.br ^end
  ^end:
    gpu.return"""
    out = np.zeros(256, np.int32)
    run(SETUP + body, out, block=256, symbols=SYMBOLS)
    assert out.tolist() == [0] * 64 + [max(255 - t, 64) for t in range(64, 256)]


@pytest.mark.parametrize("block", [1, 20, 48, 100])
def test_barriers_in_ctas_of_any_size(block):
    out = np.zeros(block, np.int32)
    body = f"""
    {STORE}
    gpu.barrier
    %l = memref.load %s[%c0] : {SPACE}
    %k = arith.addi %l, %one : i32
    memref.store %k, %A[%tid] : memref<{block}xi32>"""
    run(SETUP + body, out, block=block, symbols=SYMBOLS)
    assert out.tolist() == [1] * block


# Violations.


def fault_of(body, **options):
    """The only fault of a kernel without results."""
    return only_fault(SETUP + body, block=256, symbols=SYMBOLS, **options)


@pytest.mark.parametrize("barrier", ["gpu.barrier", "nvvm.barrier id = %one"])
def test_barrier_in_divergent_code_of_a_warp(barrier):
    fault = fault_of(f"scf.if %half {{ {barrier}\n }}")
    assert fault.kind is ViolationKind.DIVERGENT
    assert fault.line.startswith(f"scf.if %half {{ {barrier}")
    assert "threads 0 to 15, a part of a warp" in fault.message


def test_barrier_that_some_warps_never_reach():
    fault = fault_of("scf.if %first {\n gpu.barrier \n } else { \n nvvm.barrier id = %two \n }")
    assert fault.kind is ViolationKind.DEADLOCK
    assert fault.line == "gpu.barrier"
    assert fault.message.startswith("all threads wait for ever: threads 0 to 127 at ")
    assert "for barrier 0, at which 128 threads have arrived" in fault.message
    assert "threads 128 to 255 at " in fault.message
    assert "for barrier 2, at which 128 threads have arrived" in fault.message


def test_two_partitions_that_wait_for_each_other():
    one, other = (f"\n nvvm.barrier id = %{n} number_of_threads = %n256" for n in ("one", "two"))
    fault = fault_of(f"scf.if %first {{ {one} {other} \n }} else {{ {other} {one} \n }}")
    assert fault.kind is ViolationKind.DEADLOCK
    assert "barrier 1" in fault.message
    assert "barrier 2" in fault.message


def test_message_of_a_deadlock_names_threads_that_have_returned():
    body = """
    cf.cond_br %first, ^end, ^wait
  ^wait:
    nvvm.barrier id = %one number_of_threads = %n256
    cf.br ^end
  ^end:
    gpu.return"""
    fault = fault_of(body)
    assert fault.kind is ViolationKind.DEADLOCK
    assert fault.message.endswith("the other threads have returned")


@pytest.mark.parametrize("id_", [16, -1])
def test_barrier_number_out_of_range(id_):
    fault = fault_of(f"%id = arith.constant {id_} : i32\n nvvm.barrier id = %id")
    assert fault.kind is ViolationKind.BARRIER
    assert "a CTA has 16" in fault.message


@pytest.mark.parametrize("count", [0, 20, 48, 288, -32])
def test_illegal_thread_counts(count):
    fault = fault_of(
        f"%n = arith.constant {count} : i32\n nvvm.barrier id = %one number_of_threads = %n"
    )
    assert fault.kind is ViolationKind.BARRIER
    assert "expected a multiple of 32 up to the CTA's 256" in fault.message


def test_thread_counts_that_differ():
    side = "\n nvvm.barrier id = %one number_of_threads = "
    violations = faults(
        SETUP + f"scf.if %first {{ {side} %n256\n }} else {{ {side} %n192\n }}",
        block=256,
        symbols=SYMBOLS,
    )
    assert violations[0].kind is ViolationKind.BARRIER
    assert "arrives at barrier 1 for 192 threads, but others did for 256" in violations[0].message


def test_second_arrival_before_the_barrier_completes():
    arrive = "\n nvvm.barrier.arrive id = %one number_of_threads = %n256"
    fault = fault_of(f"scf.if %first {{ {arrive} {arrive}\n }}")
    assert fault.kind is ViolationKind.BARRIER
    assert "arrives again at barrier 1 before the others came: threads 0 to 127" in fault.message


def test_barrier_number_that_differs_within_a_warp():
    fault = fault_of("%id = arith.andi %t32, %one : i32\n nvvm.barrier id = %id")
    assert fault.kind is ViolationKind.DIVERGENT
    assert "disagree" in fault.message
