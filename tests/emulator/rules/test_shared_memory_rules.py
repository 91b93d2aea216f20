"""Rules of ordinary accesses and of cp.async, each violated by a minimal kernel."""

import numpy as np
import pytest
from emulated import SHARED, faults, only_fault, run

from mlir_smem.emulator import ViolationKind

TYPE = f"memref<64xi32, {SHARED}>"
SETUP = f"""
    %s = memref.get_global @x : {TYPE}
    %one = arith.constant 1 : i32
    %next = arith.addi %tid, %c1 : index
    %n63 = arith.constant 63 : index
    %neighbour = arith.andi %next, %n63 : index
    %first = arith.cmpi ult, %tid, %c32 : index
    %leader = arith.cmpi eq, %tid, %c0 : index
"""
WRITE = f"\n    memref.store %t32, %s[%tid] : {TYPE} // the write"
OTHER_WRITE = f"\n    memref.store %one, %s[%neighbour] : {TYPE} // the other write"
READ = f"\n    %r = memref.load %s[%tid] : {TYPE} // the read"
OTHER_READ = f"\n    %q = memref.load %s[%neighbour] : {TYPE} // the other read"
BARRIER = "\n    gpu.barrier"
OPTIONS = {"block": 64, "symbols": f"memref.global @x : {TYPE}"}


def faults_of(*lines):
    return faults(SETUP + "".join(lines), **OPTIONS)


def fault_of(*lines):
    return only_fault(SETUP + "".join(lines), **OPTIONS)


def test_read_of_uninitialised_bytes():
    fault = fault_of(READ)
    assert fault.kind is ViolationKind.UNINITIALISED
    assert fault.line.endswith("// the read")
    assert fault.message == (
        "reads the bytes from 0x400 to 0x4ff of shared memory, which nothing has written"
    )


def test_message_names_only_the_uninitialised_bytes():
    half = f"scf.if %first {{\n memref.store %one, %s[%tid] : {TYPE}\n }}"
    fault = fault_of(half, BARRIER, READ)
    assert fault.kind is ViolationKind.UNINITIALISED
    assert "reads the bytes from 0x480 to 0x4ff" in fault.message


def test_write_and_read_of_two_threads():
    fault = fault_of(WRITE, OTHER_READ)
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the other read")
    assert fault.message.startswith("reads the bytes from 0x400 to 0x4ff, which thread 1 at ")
    assert fault.message.endswith("wrote: gpu.barrier is missing between them")


def test_writes_of_two_threads():
    fault = fault_of(WRITE, OTHER_WRITE)
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the other write")
    assert "writes the bytes from 0x400 to 0x4ff, which thread 1 at " in fault.message
    assert fault.message.endswith("wrote: gpu.barrier is missing between them")


def test_read_and_later_write_of_two_threads():
    fault = fault_of(WRITE, BARRIER, READ, OTHER_WRITE)
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the other write")
    assert "which thread 1 may still be reading: gpu.barrier is missing" in fault.message


def test_several_threads_write_the_same_bytes_at_once():
    fault = fault_of(f"memref.store %t32, %s[%c2] : {TYPE} // the write")
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the write")
    assert fault.message == ("several threads write the bytes from 0x408 to 0x40b at the same time")


@pytest.mark.parametrize(
    "lines",
    [
        (WRITE, READ),
        (WRITE, READ, WRITE),
        (WRITE, BARRIER, OTHER_READ),
        (WRITE, BARRIER, OTHER_WRITE),
        (WRITE, BARRIER, READ, BARRIER, OTHER_WRITE),
        (WRITE, BARRIER, OTHER_READ, BARRIER, WRITE, BARRIER, OTHER_READ.replace("%q", "%p")),
    ],
)
def test_programs_with_barriers_have_no_faults(lines):
    assert faults_of(*lines) == []


def test_one_thread_writes_for_all():
    write = f"\n scf.if %leader {{\n memref.store %one, %s[%c2] : {TYPE}\n }}"
    read = f"\n %r = memref.load %s[%c2] : {TYPE}"
    assert faults_of(write, BARRIER, read) == []
    fault = fault_of(write, read)
    assert fault.kind is ViolationKind.RACE
    assert "which thread 0 at " in fault.message


def test_two_branches_race():
    sides = f"""
    scf.if %first {{
      memref.store %one, %s[%c2] : {TYPE}
    }} else {{
      %v = memref.load %s[%c2] : {TYPE}
    }}"""
    violations = faults(SETUP + sides, block=33, symbols=OPTIONS["symbols"])
    assert violations


def test_bytes_of_one_word_are_distinguished():
    bytes_ = f"memref<64xi8, {SHARED}>"
    body = f"""
    %s = memref.get_global @x : {bytes_}
    %v = arith.trunci %t32 : i32 to i8
    memref.store %v, %s[%tid] : {bytes_}
    %r = memref.load %s[%tid] : {bytes_}"""
    assert faults(body, block=64, symbols=f"memref.global @x : {bytes_}") == []


# cp.async.

COPY_SETUP = f"""
    %s = memref.get_global @x : {TYPE}
    %n63 = arith.constant 63 : index
    %m = arith.subi %n63, %tid : index
    %i = memref.extract_aligned_pointer_as_index %A : memref<64xi32> -> index
    %n = arith.index_cast %i : index to i64
    %from = llvm.inttoptr %n : i64 to !llvm.ptr<1>
    %j = memref.extract_aligned_pointer_as_index %s : {TYPE} -> index
    %o = arith.index_cast %j : index to i64
    %to = llvm.inttoptr %o : i64 to !llvm.ptr<3>
    %p = llvm.getelementptr %from[%t32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %q = llvm.getelementptr %to[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
"""
COPY = (
    "\n    nvvm.cp.async.shared.global %q, %p, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1> // copy"
)
COMMIT = "\n    nvvm.cp.async.commit.group"
WAIT = "\n    nvvm.cp.async.wait.group {}"
OWN = f"""
    %r = memref.load %s[%tid] : {TYPE} // the read
    memref.store %r, %B[%tid] : memref<64xi32>"""
MIRROR = OWN.replace("%s[%tid]", "%s[%m]")
OVERWRITE = f"\n    memref.store %t32, %s[%tid] : {TYPE} // the write"


def copies(*lines):
    """Return the faults of a kernel that copies, and the values that it read."""
    source, target = np.arange(100, 164, dtype=np.int32), np.zeros(64, np.int32)
    violations = faults(COPY_SETUP + "".join(lines), source, target, **OPTIONS)
    return violations, target.tolist()


def test_copy_with_a_wait():
    expected = list(range(100, 164))
    assert copies(COPY, COMMIT, WAIT.format(0), OWN) == ([], expected)
    assert copies(COPY, COMMIT, WAIT.format(0), BARRIER, MIRROR) == ([], expected[::-1])
    assert copies(COPY, COMMIT, COMMIT, WAIT.format(1), OWN) == ([], expected)


#: COPY of %bytes bytes of each thread (i32).
COPY_BYTES = """
    nvvm.cp.async.shared.global %q, %p, 4, cache = ca, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32 // copy"""


#: 4 bytes of threads below %k, 2 of thread %k, and none above.
COUNTS = """
    %b0 = arith.constant 0 : i32
    %b2 = arith.constant 2 : i32
    %b4 = arith.constant 4 : i32
    %k = arith.constant {} : i32
    %below = arith.cmpi ult, %t32, %k : i32
    %at = arith.cmpi eq, %t32, %k : i32
    %rest = arith.select %at, %b2, %b0 : i32
    %bytes = arith.select %below, %b4, %rest : i32"""


def test_copy_of_fewer_bytes():
    """What is behind the bytes is 0; what is behind an array is not read."""
    lines = (COUNTS.format(50), COPY_BYTES, COMMIT, WAIT.format(0), OWN)
    assert copies(*lines) == ([], [*range(100, 151), *[0] * 13])
    far = "\n    %far = llvm.getelementptr %p[62] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32"
    copy = COPY_BYTES.replace("%p", "%far")
    lines = (far, COUNTS.format(1), copy, COMMIT, WAIT.format(0), OWN)
    assert copies(*lines) == ([], [162, 163, *[0] * 62])


@pytest.mark.parametrize(
    "address, count, kind",
    [
        ("%p", 5, ViolationKind.OUT_OF_BOUNDS),
        ("%p", -1, ViolationKind.OUT_OF_BOUNDS),
        ("%odd", 2, ViolationKind.MISALIGNED),
        ("%odd", 0, ViolationKind.MISALIGNED),
    ],
)
def test_copy_of_fewer_bytes_that_is_wrong(address, count, kind):
    lines = f"""
    %odd = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %bytes = arith.constant {count} : i32"""
    violations, _ = copies(lines, COPY_BYTES.replace("%p", address), COMMIT, WAIT.format(0))
    assert {violation.kind for violation in violations} == {kind}


@pytest.mark.parametrize(
    "lines",
    [
        (COPY,),
        (COPY, COMMIT),
        (COPY, WAIT.format(0)),
        (COPY, COMMIT, WAIT.format(1)),
        (WAIT.format(0), COPY, COMMIT),
    ],
    ids=["nothing", "no wait", "no commit", "a wait for others", "a wait before"],
)
def test_read_before_the_copy_is_waited_for(lines):
    (fault,), _ = copies(*lines, OWN)
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert fault.line.endswith("// the read")
    assert "reads the bytes from 0x400 to 0x4ff, which the copy at " in fault.message
    assert "may not have copied yet: smem.copy_commit and smem.copy_wait" in fault.message


def test_write_over_a_copy_in_flight():
    (fault,), _ = copies(COPY, COMMIT, OVERWRITE)
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert fault.line.endswith("// the write")
    assert "may still be writing: smem.copy_wait (cp.async.wait_group) is missing" in fault.message


def test_copy_of_another_thread_is_read_without_a_barrier():
    (fault,), _ = copies(COPY, COMMIT, WAIT.format(0), MIRROR)
    assert fault.kind is ViolationKind.RACE
    assert "gpu.barrier is missing between them" in fault.message


def test_copy_over_reads_of_other_threads_without_a_barrier():
    violations, _ = copies(OVERWRITE, BARRIER, MIRROR, COPY, COMMIT, WAIT.format(0))
    assert [fault.kind for fault in violations] == [ViolationKind.RACE]
    assert violations[0].line.endswith("// copy")


def test_wait_group_covers_the_oldest_groups():
    second = COPY.replace("%q,", "%q2,").replace("%p,", "%p2,")
    more = """
    %q2 = llvm.getelementptr %q[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
    %p2 = llvm.getelementptr %p[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32"""
    later = f"""
    %k = arith.addi %tid, %c32 : index
    %l = memref.load %s[%k] : {TYPE} // the later read"""
    source, target = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    lines = COPY_SETUP + more + COPY + COMMIT + second + COMMIT + WAIT.format(1) + OWN
    options = {"block": 32, "symbols": OPTIONS["symbols"]}
    run(lines, source, target, **options)
    assert target.tolist() == [*range(32), *([0] * 32)]
    fault = only_fault(lines + later, source, target, **options)
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert fault.line.endswith("// the later read")
    assert faults(lines + WAIT.format(0) + later, source, target, **options) == []


def test_poison_is_reported_where_it_is_used():
    body = """
    %p = llvm.mlir.poison : i32
    %q = arith.addi %p, %t32 : i32 // here"""
    fault = only_fault(body)
    assert fault.kind is ViolationKind.POISON
    assert fault.line.endswith("// here")


def test_poison_of_one_branch_does_not_affect_the_other():
    out = np.zeros(32, np.int32)
    body = """
    %low = arith.cmpi ult, %tid, %c16 : index
    %v = scf.if %low -> (i32) {{
      {first}
    }} else {{
      {second}
    }}
    scf.if %{use} {{
      memref.store %v, %A[%tid] : memref<32xi32>
    }}"""
    other = "%true = arith.constant true\n%high = arith.xori %low, %true : i1\n"
    sides = "scf.yield %t32 : i32", "%p = llvm.mlir.poison : i32\n scf.yield %p : i32"
    for use, (first, second) in (("low", sides), ("high", sides[::-1])):
        text = body.format(first=first, second=second, use=use)
        if use == "high":
            text = text.replace("scf.if %high", other + "scf.if %high")
        run(text, out)
        assert out.tolist()[: 16 if use == "low" else 32] == list(range(16 if use == "low" else 32))


@pytest.mark.parametrize(
    "line",
    [
        "%q = llvm.bitcast %p : f32 to i32",
        "%q = arith.addf %p, %p : f32",
        "%q = arith.negf %p : f32",
        "%q = arith.fptosi %p : f32 to i32",
        "%q = arith.truncf %p : f32 to bf16",
        "%q = vector.from_elements %p, %p : vector<2xf32>",
        "memref.store %p, %A[%tid] : memref<32xf32>",
    ],
)
def test_poison_is_reported_by_every_op(line):
    body = f"%p = llvm.mlir.poison : f32\n{line} // here"
    violations = faults(body, np.zeros(32, np.float32))
    assert {fault.kind for fault in violations} == {ViolationKind.POISON}
    assert violations[0].line.endswith("// here")
