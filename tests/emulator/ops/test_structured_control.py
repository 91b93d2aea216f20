"""`scf` ops: divergent threads take different branches, and each thread gets its own results."""

import numpy as np
import pytest
from emulated import run, triple

BLOCKS = [1, 5, 32, 33, 64, 100, 128, (4, 3, 5), 256]


def thread_values(body, block=64):
    """Each thread's %r (i32)."""
    threads = int(np.prod(triple(block)))
    out = np.zeros(threads, np.int32)
    lines = f"""
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %zy = arith.muli %z, %ny : index
    %yz = arith.addi %y, %zy : index
    %yx = arith.muli %yz, %nx : index
    %n = arith.addi %x, %yx : index
    %t = arith.index_cast %n : index to i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    {body}
    memref.store %r, %A[%n] : memref<{threads}xi32>"""
    run(lines, out, block=block)
    return out.tolist()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_both_branches_of_an_if_yield(block):
    body = """
    %k = arith.constant 17 : i32
    %low = arith.cmpi ult, %t, %k : i32
    %r = scf.if %low -> (i32) {
      %v = arith.muli %t, %t : i32
      scf.yield %v : i32
    } else {
      scf.yield %k : i32
    }"""
    threads = range(int(np.prod(triple(block))))
    assert thread_values(body, block) == [t * t if t < 17 else 17 for t in threads]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_loop_with_a_different_trip_count_in_each_thread(block):
    body = """
    %r = scf.for %i = %zero to %t step %one iter_args(%s = %zero) -> (i32) : i32 {
      %v = arith.addi %s, %i : i32
      scf.yield %v : i32
    }"""
    threads = range(int(np.prod(triple(block))))
    assert thread_values(body, block) == [t * (t - 1) // 2 for t in threads]


@pytest.mark.parametrize(
    "bounds, trips",
    [
        ("%c4 to %c4 step %c1", 0),
        ("%c8 to %c4 step %c1", 0),
        ("%c0 to %c8 step %c3", 3),
        ("%c0 to %c4 step %c128", 1),
        ("%negative to %c2 step %c1", 5),
    ],
)
def test_trip_counts(bounds, trips):
    body = f"""
    %negative = arith.constant -3 : index
    %r = scf.for %i = {bounds} iter_args(%s = %zero) -> (i32) {{
      %v = arith.addi %s, %one : i32
      scf.yield %v : i32
    }}"""
    assert thread_values(body) == [trips] * 64


@pytest.mark.parametrize("word, trips", [("", 0), ("unsigned ", 5)])
def test_signed_and_unsigned_loops(word, trips):
    body = f"""
    %from = arith.constant 2147483646 : i32
    %to = arith.constant -2147483645 : i32
    %r = scf.for {word}%i = %from to %to step %one iter_args(%s = %zero) -> (i32) : i32 {{
      %v = arith.addi %s, %one : i32
      scf.yield %v : i32
    }}"""
    assert thread_values(body) == [trips] * 64


def test_loop_carried_values_are_passed_in_parallel():
    body = """
    %p, %r = scf.for %i = %zero to %t step %one iter_args(%a = %zero, %b = %one) -> (i32, i32) : i32 {
      %s = arith.addi %a, %b : i32
      scf.yield %b, %s : i32, i32
    }"""
    fibonacci = [1, 1]
    while len(fibonacci) < 65:
        fibonacci.append((fibonacci[-1] + fibonacci[-2]) % 2**32)
    expected = [x - 2**32 if x >= 2**31 else x for x in fibonacci]
    assert thread_values(body) == expected[:1] + [expected[t] for t in range(1, 64)]


def test_loop_that_swaps_its_values():
    body = """
    %p, %r = scf.for %i = %zero to %t step %one iter_args(%a = %zero, %b = %one) -> (i32, i32) : i32 {
      scf.yield %b, %a : i32, i32
    }"""
    assert thread_values(body) == [1 - t % 2 for t in range(64)]


def test_inner_bounds_depend_on_the_outer_iteration():
    body = """
    %r = scf.for %i = %zero to %t step %one iter_args(%s = %zero) -> (i32) : i32 {
      %w = scf.for %j = %i to %t step %one iter_args(%q = %s) -> (i32) : i32 {
        %v = arith.addi %q, %j : i32
        scf.yield %v : i32
      }
      scf.yield %w : i32
    }"""
    expected = [sum(j for i in range(t) for j in range(i, t)) for t in range(40)]
    assert thread_values(body, 40) == expected


def test_while_counts_collatz_steps():
    body = """
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %first = arith.addi %t, %one : i32
    %end, %r = scf.while (%x_ = %first, %steps = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x_, %one : i32
      scf.condition(%go) %x_, %steps : i32, i32
    } do {
    ^bb0(%v: i32, %s: i32):
      %bit = arith.andi %v, %one : i32
      %odd = arith.cmpi eq, %bit, %one : i32
      %next = scf.if %odd -> (i32) {
        %triple = arith.muli %v, %three : i32
        %more = arith.addi %triple, %one : i32
        scf.yield %more : i32
      } else {
        %half = arith.divui %v, %two : i32
        scf.yield %half : i32
      }
      %more = arith.addi %s, %one : i32
      scf.yield %next, %more : i32, i32
    }"""

    def steps(x):
        return 0 if x == 1 else 1 + steps(3 * x + 1 if x % 2 else x // 2)

    assert thread_values(body, 33) == [steps(t + 1) for t in range(33)]


def test_while_forwards_other_values_than_it_carries():
    body = """
    %r = scf.while (%i = %t) : (i32) -> (i32) {
      %square = arith.muli %i, %i : i32
      %go = arith.cmpi sgt, %i, %one : i32
      scf.condition(%go) %square : i32
    } do {
    ^bb0(%s: i32):
      %two = arith.constant 2 : i32
      %root = arith.divui %s, %two : i32
      %most = arith.minui %root, %one : i32
      scf.yield %most : i32
    }"""
    assert thread_values(body) == [0, *([1] * 63)]


def test_values_from_before_a_loop_are_kept():
    body = """
    %k = arith.muli %t, %t : i32
    %r = scf.for %i = %zero to %t step %one iter_args(%s = %k) -> (i32) : i32 {
      %last = arith.subi %t, %one : i32
      %end = arith.cmpi eq, %i, %last : i32
      %v = scf.if %end -> (i32) {
        scf.yield %k : i32
      } else {
        scf.yield %i : i32
      }
      scf.yield %v : i32
    }"""
    assert thread_values(body) == [t * t for t in range(64)]


def test_uniform_value_of_one_branch_and_thread_values_of_the_other():
    # The emulator stores a constant once for all threads; it must not overwrite values of other threads.
    body = """
    %odd = arith.andi %t, %one : i32
    %k = arith.cmpi eq, %odd, %one : i32
    %r = scf.if %k -> (i32) {
      %c = arith.constant 100 : i32
      scf.yield %c : i32
    } else {
      %inner = arith.cmpi ult, %t, %odd_limit : i32
      %w = scf.if %inner -> (i32) {
        scf.yield %zero : i32
      } else {
        scf.yield %t : i32
      }
      scf.yield %w : i32
    }"""
    limit = "%odd_limit = arith.constant 10 : i32\n"
    expected = [100 if t % 2 else 0 if t < 10 else t for t in range(64)]
    assert thread_values(limit + body) == expected


def test_branches_yield_memrefs_and_vectors():
    out = np.zeros((2, 64), np.float32)
    first, second = np.full(64, 3, np.float32), np.full(64, 5, np.float32)
    body = """
    %low = arith.cmpi ult, %tid, %c32 : index
    %half = arith.cmpi ult, %tid, %c16 : index
    %m = scf.if %half -> (memref<64xf32>) {
      scf.yield %A : memref<64xf32>
    } else {
      scf.yield %B : memref<64xf32>
    }
    %v = memref.load %m[%tid] : memref<64xf32>
    %p = scf.if %low -> (vector<2xf32>) {
      %w = vector.broadcast %v : f32 to vector<2xf32>
      scf.yield %w : vector<2xf32>
    } else {
      %w = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
      scf.yield %w : vector<2xf32>
    }
    %a = vector.extract %p[0] : f32 from vector<2xf32>
    %b = vector.extract %p[1] : f32 from vector<2xf32>
    memref.store %a, %C[%c0, %tid] : memref<2x64xf32>
    memref.store %b, %C[%c1, %tid] : memref<2x64xf32>"""
    run(body, first, second, out, block=64)
    assert out[0].tolist() == [3] * 16 + [5] * 16 + [1] * 32
    assert out[1].tolist() == [3] * 16 + [5] * 16 + [2] * 32
