"""The order between clusters in global memory, by atomics, fences and barriers."""

import numpy as np
import pytest
from emulated import faults, only_fault, run

from mlir_smem.emulator import ViolationKind

CTAS, THREADS = 3, 64

SETUP = """
    %cta = gpu.block_id x
    %n = gpu.grid_dim x
    %own = arith.muli %cta, %c64 : index
    %at = arith.addi %own, %tid : index
    %one = arith.constant 1 : i32
    %limit = arith.constant 2 : i32
    %first = arith.cmpi eq, %tid, %c0 : index
    %address = memref.extract_aligned_pointer_as_index %B : memref<4xi32> -> index
    %bits = arith.index_cast %address : index to i64
    %s = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
"""
#: Each CTA writes 64 elements of A; thread t writes number 100 + t.
WRITE = """
    %hundred = arith.constant 100 : i32
    %value = arith.addi %t32, %hundred : i32
    memref.store %value, %A[%at] : memref<192xi32> // the write
"""
FENCE = '\n      llvm.fence syncscope("device") acq_rel'
ATOMIC = "\n      %old = llvm.atomicrmw uinc_wrap %s, %limit {} : !llvm.ptr<1>, i32 // the atomic"
BARRIER = "\n    gpu.barrier"
#: The last CTA adds what all have written.
SUM = """
    %last = arith.cmpi eq, %cta, %c2 : index
    scf.if %last {
      %k1 = arith.constant 63 : index
      %k = arith.subi %k1, %tid : index
      %zero = arith.constant 0 : i32
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (i32) {
        %base = arith.muli %i, %c64 : index
        %j = arith.addi %base, %k : index
        %y = memref.load %A[%j] : memref<192xi32> // the read
        %z = arith.addi %x, %y : i32
        scf.yield %z : i32
      }
      memref.store %sum, %C[%k] : memref<64xi32>
    }
"""


def arrive(
    ordering='syncscope("device") acq_rel', before="", after="", barriers=(BARRIER, BARRIER)
):
    """The arrival of a CTA: barrier, atomic of one thread, barrier."""
    atomic = before + ATOMIC.format(ordering) + after
    return f"{barriers[0]}\n    scf.if %first {{{atomic}\n    }}{barriers[1]}"


def arrays():
    return np.zeros(192, np.int32), np.zeros(4, np.int32), np.zeros(64, np.int32)


def faults_with(*lines):
    return faults(SETUP + "".join(lines), *arrays(), block=THREADS, grid=CTAS)


RELAXED = 'syncscope("device") monotonic'


@pytest.mark.parametrize(
    "arrival",
    [
        arrive(),
        arrive('syncscope("device") seq_cst'),
        arrive("acq_rel"),
        arrive(RELAXED, FENCE, FENCE),
        arrive(RELAXED, "\n      llvm.fence seq_cst", "\n      llvm.fence seq_cst"),
    ],
)
def test_an_atomic_that_releases_and_acquires_orders_clusters(arrival):
    a, s, c = arrays()
    run(SETUP + WRITE + arrival + SUM, a, s, c, block=THREADS, grid=CTAS)
    assert c.tolist() == [3 * (100 + t) for t in range(64)]
    assert s.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "arrival",
    [
        pytest.param("", id="no arrival"),
        pytest.param(arrive(barriers=("", BARRIER)), id="no barrier before the release"),
        pytest.param(arrive(barriers=(BARRIER, "")), id="no barrier after the acquire"),
        pytest.param(arrive(RELAXED), id="relaxed"),
        pytest.param(arrive(RELAXED, FENCE), id="no fence after"),
        pytest.param(arrive(RELAXED, "", FENCE), id="no fence before"),
        pytest.param(arrive('syncscope("device") acquire'), id="no release"),
        pytest.param(arrive('syncscope("device") release'), id="no acquire"),
    ],
)
def test_an_arrival_that_lacks_a_part_is_a_race(arrival):
    violations = faults_with(WRITE, arrival, SUM)
    assert {(fault.kind, fault.line) for fault in violations} == {
        (ViolationKind.RACE, "%y = memref.load %A[%j] : memref<192xi32> // the read")
    }


def test_the_message_names_the_byte_the_write_and_what_is_missing():
    (fault,) = faults_with(WRITE, SUM)
    assert fault.message.startswith(
        "reads byte 252 of argument 0, which thread 63 of CTA (0, 0, 0) wrote at "
    )
    assert fault.message.endswith(
        ": smem.semaphore_arrive (barriers, and an atomic that releases and acquires at gpu scope) is "
        "missing between them"
    )


def test_an_ordinary_write_of_the_semaphore_ends_what_was_released():
    lost = "\n    scf.if %first {\n memref.store %one, %B[%c0] : memref<4xi32> // the store\n }"
    violations = faults_with(WRITE, arrive(), lost, SUM)
    assert {fault.line for fault in violations} == {
        '%old = llvm.atomicrmw uinc_wrap %s, %limit syncscope("device") acq_rel : !llvm.ptr<1>, i32 '
        "// the atomic",
        "%y = memref.load %A[%j] : memref<192xi32> // the read",
    }


def test_a_relaxed_atomic_continues_the_release_that_it_overwrites():
    """CTA 1 increments without an order; CTA 2 still acquires what CTA 0 has released."""
    lines = f"""
    %middle = arith.cmpi eq, %cta, %c1 : index
    scf.if %middle {{
      scf.if %first {{{ATOMIC.format(RELAXED)}
      }}
    }} else {{{WRITE}{arrive()}
    }}
    """
    of_two = SUM.replace("%c0 to %n step %c1", "%c0 to %n step %c2")
    assert faults_with(lines, of_two) == []


def test_what_a_cluster_has_acquired_it_releases_too():
    """CTA 1 acquires from CTA 0 at one semaphore, and releases to CTA 2 at another."""
    second = """
    %bits2 = arith.addi %bits, %four : i64
    %s2 = llvm.inttoptr %bits2 : i64 to !llvm.ptr<1>
    %zeroth = arith.cmpi eq, %cta, %c0 : index
    %both = arith.cmpi eq, %cta, %c1 : index
    %here = arith.ori %zeroth, %both : i1
    %late = arith.cmpi uge, %cta, %c1 : index
    """
    at_first = f"\n    scf.if %here {{{arrive()}\n    }}"
    at_second = f"\n    scf.if %late {{{arrive().replace('%s,', '%s2,')}\n    }}"
    four = "\n    %four = arith.constant 4 : i64"
    assert faults_with(four, second, WRITE, at_first, at_second, SUM) == []
    (fault,) = faults_with(four, second, WRITE, at_second, SUM)
    assert "thread 63 of CTA (0, 0, 0)" in fault.message


def test_two_clusters_that_write_the_same_bytes():
    fault = only_fault(
        "memref.store %t32, %A[%tid] : memref<64xi32> // the write",
        np.zeros(64, np.int32),
        block=64,
        grid=2,
    )
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the write")
    assert fault.message.startswith(
        "writes byte 0 of argument 0, which thread 0 of CTA (0, 0, 0) wrote at "
    )


def test_adjacent_bytes_of_two_clusters_are_apart():
    a = np.zeros(128, np.int8)
    run(
        """
    %cta = gpu.block_id x
    %twice = arith.muli %tid, %c2 : index
    %at = arith.addi %twice, %cta : index
    %byte = arith.trunci %t32 : i32 to i8
    memref.store %byte, %A[%at] : memref<128xi8>""",
        a,
        block=64,
        grid=2,
    )
    assert a.tolist() == [i // 2 for i in range(128)]


def test_a_cluster_reads_its_own_writes():
    """A single cluster, and CTAs that read what they have written themselves."""
    read = "\n    %y = memref.load %A[%at] : memref<192xi32>"
    assert faults_with(WRITE, read, "\n    memref.store %y, %A[%at] : memref<192xi32>") == []


def test_atomics_of_threads_take_turns():
    a, s, c = arrays()
    body = (
        SETUP
        + """
    %old = llvm.atomicrmw add %s, %one monotonic : !llvm.ptr<1>, i32
    memref.store %old, %A[%at] : memref<192xi32>"""
    )
    run(body, a, s, c, block=THREADS, grid=CTAS)
    assert sorted(a.tolist()) == list(range(192))
    assert s.tolist() == [192, 0, 0, 0]


@pytest.mark.parametrize(
    "start, limit, end", [(0, 2, 1), (1, 2, 2), (2, 2, 0), (7, 2, 0), (-1, 2, 0)]
)
def test_increments_wrap_at_the_limit(start, limit, end):
    s = np.array([start, 0, 0, 0], np.int32)
    arrays_ = np.zeros(192, np.int32), s, np.zeros(64, np.int32)
    body = SETUP.replace("arith.constant 2 : i32", f"arith.constant {limit} : i32")
    run(body + f"scf.if %first {{{ATOMIC.format('acq_rel')}\n}}", *arrays_, block=64)
    assert s[0] == end


#: CTA 0 writes A[0:64]; then each CTA reads it, and CTA 2 writes it again.
OVERWRITTEN = """
    %zeroth = arith.cmpi eq, %cta, %c0 : index
    scf.if %zeroth {{
      memref.store %t32, %A[%tid] : memref<192xi32>
    }}{}
    %middle = arith.cmpi eq, %cta, %c1 : index
    scf.if %middle {{
      %y = memref.load %A[%tid] : memref<192xi32> // the read
    }}{}
    %late = arith.cmpi eq, %cta, %c2 : index
    scf.if %late {{
      memref.store %one, %A[%tid] : memref<192xi32> // the last write
    }}
"""


def test_a_write_over_what_another_cluster_has_read():
    first = arrive()
    second = arrive().replace("%old =", "%older =")
    assert faults_with(OVERWRITTEN.format(first, second)) == []
    (fault,) = faults_with(OVERWRITTEN.format(first, ""))
    assert fault.kind is ViolationKind.RACE
    assert fault.line.endswith("// the last write")
    assert fault.message.startswith(
        "writes byte 0 of argument 0, which thread 0 of CTA (1, 0, 0) may still be reading at "
    )
