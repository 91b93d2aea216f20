"""Shuffles and barriers of a warp, and the threads that must participate."""

import numpy as np
import pytest
from emulated import faults, only_fault, run
from hypothesis import given, settings
from hypothesis import strategies as st

from mlir_smem.emulator import EmulationError, ViolationKind

THREADS = 64
VALUES = np.arange(THREADS, dtype=np.int32) * 3 + 1000

MODES = ("up", "down", "bfly", "idx")

NUMBERS = st.integers(-(2**31), 2**31 - 1)


def isa(mode, lane, b, c):
    """The source lane of a lane, and the predicate, by the ISA's pseudocode."""
    bval, cval, segmask = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & segmask) | (cval & ~segmask)
    min_lane = lane & segmask
    if mode == "up":
        j = lane - bval
        p = j >= max_lane
    elif mode == "down":
        j = lane + bval
        p = j <= max_lane
    elif mode == "bfly":
        j = lane ^ bval
        p = j <= max_lane
    else:
        j = min_lane | (bval & ~segmask)
        p = j <= max_lane
    return (j if p else lane), p


def shuffle(mode, clamp, mask="-1", element="i32", block=THREADS):
    """Lines that shuffle %v with each thread's offset in B; %r is the result."""
    return f"""
    %mask = arith.constant {mask} : i32
    %clamp = arith.constant {clamp} : i32
    %b = memref.load %B[%tid] : memref<{block}xi32>
    %v = memref.load %A[%tid] : memref<{block}x{element}>
    %r = nvvm.shfl.sync {mode} %mask, %v, %b, %clamp : {element} -> {element}"""


@settings(max_examples=25)
@given(
    mode=st.sampled_from(MODES),
    clamp=st.sampled_from([0, 0x1F, 0x1C1F, 0x181F, 0x1003, 0x1F00]) | st.integers(0, 0x1FFF),
    offset=NUMBERS | st.integers(0, 31),
)
def test_lanes_of_the_isa(mode, clamp, offset):
    out, valid = np.zeros(THREADS, np.int32), np.zeros(THREADS, np.bool_)
    body = (
        shuffle(mode, clamp)
        .replace("%r = nvvm.shfl.sync", "%s = nvvm.shfl.sync")
        .replace(": i32 -> i32", "{return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>")
        + """
    %r = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>
    %p = llvm.extractvalue %s[1] : !llvm.struct<(i32, i1)>
    memref.store %r, %C[%tid] : memref<64xi32>
    memref.store %p, %D[%tid] : memref<64xi1>"""
    )
    run(body, VALUES, np.full(THREADS, offset, np.int32), out, valid, block=THREADS)
    for thread in range(THREADS):
        source, predicate = isa(mode, thread % 32, offset, clamp)
        assert out[thread] == VALUES[thread // 32 * 32 + source]
        assert bool(valid[thread]) == predicate


@pytest.mark.parametrize("element, dtype", [("i32", np.int32), ("f32", np.float32)])
def test_each_thread_has_its_own_source(element, dtype):
    values = np.random.default_rng(0).integers(0, 2**31, THREADS, np.int32).view(dtype)
    order = np.concatenate([np.random.default_rng(i).permutation(32) for i in (1, 2)])
    out = np.zeros(THREADS, dtype)
    body = shuffle("idx", 31, element=element)
    body += f"\n    memref.store %r, %C[%tid] : memref<64x{element}>"
    run(body, values, order.astype(np.int32), out, block=THREADS)
    expected = values.reshape(2, 32)[[[0], [1]], order.reshape(2, 32)].reshape(-1)
    assert out.tobytes() == expected.tobytes()


def test_sum_over_groups_of_four_lanes():
    out = np.zeros(THREADS, np.float32)
    values = np.arange(THREADS, dtype=np.float32)
    body = """
    %v0 = memref.load %A[%tid] : memref<64xf32>
    %mask = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %s0 = nvvm.shfl.sync bfly %mask, %v0, %one, %clamp : f32 -> f32
    %v1 = arith.addf %v0, %s0 : f32
    %s1 = nvvm.shfl.sync bfly %mask, %v1, %two, %clamp : f32 -> f32
    %v2 = arith.addf %v1, %s1 : f32
    memref.store %v2, %B[%tid] : memref<64xf32>"""
    run(body, values, out, block=THREADS)
    assert out.tolist() == np.repeat(values.reshape(-1, 4).sum(axis=1), 4).tolist()


@pytest.mark.parametrize(
    "word, mode, width",
    [("xor", "bfly", 32), ("up", "up", 32), ("down", "down", 32), ("idx", "idx", 16)],
)
def test_shuffles_of_the_gpu_dialect(word, mode, width):
    out, valid = np.zeros(width, np.int32), np.zeros(width, np.bool_)
    body = f"""
    %width = arith.constant {width} : i32
    %b = memref.load %B[%tid] : memref<{width}xi32>
    %v = memref.load %A[%tid] : memref<{width}xi32>
    %r, %p = gpu.shuffle {word} %v, %b, %width : i32
    memref.store %r, %C[%tid] : memref<{width}xi32>
    memref.store %p, %D[%tid] : memref<{width}xi1>"""
    run(body, VALUES[:width].copy(), np.full(width, 5, np.int32), out, valid, block=width)
    clamp = 0 if mode == "up" else width - 1
    lanes = [isa(mode, lane, 5, clamp) for lane in range(width)]
    assert out.tolist() == [VALUES[source] for source, _ in lanes]
    assert valid.tolist() == [predicate for _, predicate in lanes]


def test_shuffle_of_16_bits_of_the_gpu_dialect_is_refused():
    body = """
    %x = arith.constant 1.0 : f16
    %r, %p = gpu.shuffle xor %x, %t32, %t32 : f16"""
    with pytest.raises(EmulationError, match=r"'gpu\.shuffle' moves f16"):
        run(body)


# Participating threads.


def exchanging(mask, offset=1, few=None, mode="bfly", block=32):
    """The faults of a shuffle with a mask, executed by all threads or by the first `few`."""
    lines = shuffle(mode, 31, mask, block=block)
    if few is not None:
        lines = f"""
    %n = arith.constant {few} : index
    %some = arith.cmpi ult, %tid, %n : index
    scf.if %some {{{lines}
    }}"""
    return faults(lines, VALUES[:block].copy(), np.full(block, offset, np.int32), block=block)


@pytest.mark.parametrize(
    "options",
    [
        {"mask": "-1"},
        {"mask": "0xFFFF", "few": 16},
        {"mask": "-1", "block": 16},
        {"mask": "-1", "block": 48},
    ],
)
def test_masks_that_fit(options):
    assert exchanging(**options) == []


def test_mask_without_the_executing_thread():
    (fault,) = exchanging("0xFFFF")
    assert fault.kind is ViolationKind.DIVERGENT
    assert (
        "is executed by thread 16, lane 16 of its warp, which its mask 0x0000ffff" in fault.message
    )


def test_mask_with_threads_that_do_not_execute_it():
    (fault,) = exchanging("-1", few=16)
    assert fault.kind is ViolationKind.DIVERGENT
    assert fault.message == (
        "names lane 16 in the mask 0xffffffff of thread 0, but thread 16 does not execute it with "
        "that mask"
    )


@pytest.mark.parametrize("condition", ["ult", "uge"])
def test_mask_may_name_threads_that_have_returned(condition):
    body = f"""
    %some = arith.cmpi {condition}, %tid, %c16 : index
    cf.cond_br %some, ^on, ^end
  ^on:{shuffle("bfly", 31, "-1", block=32)}
    gpu.return
  ^end:
    gpu.return"""
    assert faults(body, VALUES[:32].copy(), np.ones(32, np.int32), block=32) == []


def test_two_branches_cannot_exchange_values():
    lines = shuffle("bfly", 31, "-1", block=32)
    body = f"""
    %some = arith.cmpi ult, %tid, %c16 : index
    scf.if %some {{{lines}
    }} else {{{lines}
    }}"""
    fault = only_fault(body, VALUES[:32].copy(), np.ones(32, np.int32), block=32)
    assert fault.kind is ViolationKind.DIVERGENT


def test_halves_of_a_warp_with_different_masks():
    out = np.zeros(32, np.int32)
    body = """
    %low = arith.constant 0xFFFF : i32
    %high = arith.constant -65536 : i32
    %first = arith.cmpi ult, %tid, %c16 : index
    %mask = arith.select %first, %low, %high : i32
    %clamp = arith.constant 31 : i32
    %by = arith.constant 15 : i32
    %r = nvvm.shfl.sync bfly %mask, %t32, %by, %clamp : i32 -> i32
    memref.store %r, %A[%tid] : memref<32xi32>"""
    run(body, out)
    assert out.tolist() == [lane ^ 15 for lane in range(32)]


def test_value_of_a_lane_outside_the_mask():
    (fault,) = exchanging("0xFFFF", few=16, offset=16)
    assert fault.kind is ViolationKind.POISON
    assert fault.message == (
        "gives thread 0 the value of lane 16 of its warp, which does not take part"
    )


def test_shuffle_of_poison():
    body = """
    %mask = arith.constant -1 : i32
    %v = llvm.mlir.undef : i32
    %r = nvvm.shfl.sync bfly %mask, %v, %mask, %mask : i32 -> i32"""
    assert only_fault(body).kind is ViolationKind.POISON


# Barriers of a warp.

SHARED_LINES = """
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    %p = llvm.getelementptr %x[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %t32, %p : i32, !llvm.ptr<3>
    %by = arith.constant {by} : i32
    {barrier}
    %other = arith.xori %t32, %by : i32
    %q = llvm.getelementptr %x[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %r = llvm.load %q : !llvm.ptr<3> -> i32"""

SYMBOLS = "llvm.mlir.global internal @x() {addr_space = 3 : i32} : !llvm.array<64 x i32>"
FULL = "%m = arith.constant -1 : i32\n    nvvm.bar.warp.sync %m : i32"


@pytest.mark.parametrize(
    "barrier, by, kinds",
    [
        (FULL, 5, []),
        ("", 5, [ViolationKind.RACE]),
        (FULL, 32, [ViolationKind.RACE]),
        ("gpu.barrier", 32, []),
    ],
)
def test_warp_barrier_orders_the_threads_of_a_warp(barrier, by, kinds):
    body = SHARED_LINES.format(barrier=barrier, by=by)
    assert [f.kind for f in faults(body, block=64, symbols=SYMBOLS)] == kinds


HALVES = """%low = arith.constant 0xFFFF : i32
    %high = arith.constant -65536 : i32
    %first = arith.cmpi ult, %tid, %c16 : index
    %m = arith.select %first, %low, %high : i32
    nvvm.bar.warp.sync %m : i32"""


@pytest.mark.parametrize("by, kinds", [(8, []), (16, [ViolationKind.RACE])])
def test_warp_barrier_orders_the_threads_of_its_mask(by, kinds):
    body = SHARED_LINES.format(barrier=HALVES, by=by)
    assert [f.kind for f in faults(body, block=32, symbols=SYMBOLS)] == kinds


def test_warp_barrier_with_threads_that_do_not_execute_it():
    body = f"""
    %some = arith.cmpi ult, %tid, %c8 : index
    scf.if %some {{
    {FULL}
    }}"""
    assert only_fault(body).kind is ViolationKind.DIVERGENT
