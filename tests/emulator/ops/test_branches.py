"""`cf` ops: diamonds, loops and returns, with divergent threads."""

import numpy as np
import pytest
from emulated import faults, run

from mlir_smem.emulator import ViolationKind

BLOCKS = [1, 31, 32, 48, 128, 200]
each_block = pytest.mark.parametrize("block", BLOCKS)

SETUP = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ten = arith.constant 10 : i32
    %bit = arith.andi %t32, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %low = arith.cmpi ult, %t32, %ten : i32"""


def thread_values(body, block):
    """The i32 that each thread stores to %A; -1 if it stores nothing."""
    out = np.full(block, -1, np.int32)
    run(SETUP + body.replace("STORE", f"memref<{block}xi32>"), out, block=block)
    return out.tolist()


@each_block
def test_diamond_with_arguments(block):
    body = """
    cf.cond_br %odd, ^a(%t32 : i32), ^b
  ^a(%x: i32):
    %more = arith.addi %x, %ten : i32
    cf.br ^end(%more : i32)
  ^b:
    cf.br ^end(%zero : i32)
  ^end(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [t + 10 if t % 2 else 0 for t in range(block)]


@each_block
def test_both_branches_lead_to_the_same_block(block):
    body = """
    cf.cond_br %odd, ^end(%t32 : i32), ^end(%zero : i32)
  ^end(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [t if t % 2 else 0 for t in range(block)]


@each_block
def test_loop_with_a_trip_count_for_each_thread(block):
    body = """
    cf.br ^head(%zero, %zero : i32, i32)
  ^head(%i: i32, %s: i32):
    %go = arith.cmpi ult, %i, %t32 : i32
    cf.cond_br %go, ^body, ^end
  ^body:
    %j = arith.addi %i, %one : i32
    %u = arith.addi %s, %i : i32
    cf.br ^head(%j, %u : i32, i32)
  ^end:
    memref.store %s, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [t * (t - 1) // 2 for t in range(block)]


@each_block
def test_loop_with_a_second_exit(block):
    # Threads leave in iteration t, or in iteration 7 to another block.
    body = """
    %seven = arith.constant 7 : i32
    cf.br ^head(%zero : i32)
  ^head(%i: i32):
    %go = arith.cmpi ult, %i, %t32 : i32
    cf.cond_br %go, ^body, ^end(%i : i32)
  ^body:
    %stop = arith.cmpi eq, %i, %seven : i32
    cf.cond_br %stop, ^broken, ^next
  ^next:
    %j = arith.addi %i, %one : i32
    cf.br ^head(%j : i32)
  ^broken:
    %k = arith.addi %t32, %ten : i32
    cf.br ^end(%k : i32)
  ^end(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [t if t <= 7 else t + 10 for t in range(block)]


@each_block
def test_block_arguments_are_passed_in_parallel(block):
    body = """
    cf.br ^head(%zero, %one, %zero : i32, i32, i32)
  ^head(%a: i32, %b: i32, %i: i32):
    %go = arith.cmpi ult, %i, %t32 : i32
    %j = arith.addi %i, %one : i32
    cf.cond_br %go, ^head(%b, %a, %j : i32, i32, i32), ^end
  ^end:
    memref.store %a, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [t % 2 for t in range(block)]


@each_block
def test_threads_return_early(block):
    body = """
    cf.cond_br %low, ^stop, ^go
  ^go:
    cf.cond_br %odd, ^stop, ^store
  ^store:
    memref.store %t32, %A[%tid] : STORE
    cf.br ^stop
  ^stop:
    gpu.return"""
    assert thread_values(body, block) == [-1 if t < 10 or t % 2 else t for t in range(block)]


@each_block
def test_branches_with_separate_returns(block):
    body = """
    cf.cond_br %low, ^first, ^second
  ^first:
    cf.cond_br %odd, ^out, ^both(%zero : i32)
  ^second:
    cf.cond_br %odd, ^both(%one : i32), ^quit
  ^out:
    gpu.return
  ^quit:
    memref.store %ten, %A[%tid] : STORE
    gpu.return
  ^both(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    expected = [(-1 if t % 2 else 0) if t < 10 else (1 if t % 2 else 10) for t in range(block)]
    assert thread_values(body, block) == expected


@each_block
def test_join_of_nested_branches(block):
    body = """
    cf.cond_br %low, ^inner, ^join(%zero : i32)
  ^inner:
    cf.cond_br %odd, ^left, ^join(%one : i32)
  ^left:
    cf.br ^join(%t32 : i32)
  ^join(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    expected = [(t if t % 2 else 1) if t < 10 else 0 for t in range(block)]
    assert thread_values(body, block) == expected


@each_block
def test_scf_loop_within_a_branch(block):
    body = """
    cf.cond_br %odd, ^loop, ^end(%zero : i32)
  ^loop:
    %s = scf.for %i = %zero to %t32 step %one iter_args(%q = %zero) -> (i32) : i32 {
      %v = scf.if %low -> (i32) {
        %w = arith.addi %q, %i : i32
        scf.yield %w : i32
      } else {
        %w = arith.addi %q, %one : i32
        scf.yield %w : i32
      }
      scf.yield %v : i32
    }
    cf.br ^end(%s : i32)
  ^end(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    sums = [t * (t - 1) // 2 if t < 10 else t for t in range(block)]
    assert thread_values(body, block) == [s if t % 2 else 0 for t, s in enumerate(sums)]


@each_block
def test_loop_with_two_entries(block):
    body = """
    cf.cond_br %odd, ^up(%zero : i32), ^down(%zero : i32)
  ^up(%i: i32):
    %j = arith.addi %i, %one : i32
    cf.br ^down(%j : i32)
  ^down(%k: i32):
    %go = arith.cmpi ult, %k, %ten : i32
    cf.cond_br %go, ^twice, ^end
  ^twice:
    %l = arith.addi %k, %one : i32
    cf.br ^up(%l : i32)
  ^end:
    memref.store %k, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, block) == [11 if t % 2 else 10 for t in range(block)]


def test_llvm_branches():
    body = """
    llvm.cond_br %odd, ^a(%t32 : i32), ^b
  ^a(%x: i32):
    llvm.br ^end(%x : i32)
  ^b:
    llvm.br ^end(%zero : i32)
  ^end(%r: i32):
    memref.store %r, %A[%tid] : STORE
    gpu.return"""
    assert thread_values(body, 48) == [t if t % 2 else 0 for t in range(48)]


def test_failed_assertion_ends_the_cta():
    body = """
    %k = arith.cmpi ult, %tid, %c16 : index
    cf.assert %k, "few threads"
    memref.store %t32, %A[%tid] : memref<32xi32>"""
    out = np.full(32, -1, np.int32)
    (fault,) = faults(body, out)
    assert fault.kind is ViolationKind.ASSERTION
    assert fault.line.startswith("cf.assert")
    assert "few threads" in fault.message
    assert (out == -1).all()
    assert faults(body, out, block=16) == []
