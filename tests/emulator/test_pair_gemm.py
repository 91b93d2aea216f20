"""A GEMM of pairs of blocks, whose pipelines and accumulators come round again: right, and not without what
is between the two."""

import re

import numpy as np
import pytest
from emulated import faults_of
from pair_gemm import CASES
from pipeline_mutations import checked

import mlir_smem
from mlir_smem.emulator import Kind
from mlir_smem.runtime import run_on_cpu

#: Pairs along M and N, and steps along K.
EXTENTS = [((1, 1), 1), ((2, 1), 3), ((1, 2), 8)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_proven_and_right(case):
    assert checked(case.text).messages == ()
    compiled = mlir_smem.compile(case.text, arch="sm_100a", emit="nvvm")
    for pairs, steps in EXTENTS:
        inputs = case.inputs(pairs, steps)
        found = run_on_cpu(compiled, "gemm", inputs, ["D"])["D"]
        expected = np.matmul(*(inputs[name].astype(np.float32) for name in "AB"))
        assert np.array_equal(found, expected), (pairs, steps)


#: Changes by which the blocks of a pair go different ways: where, and by what.
WAYS = {
    "one takes a step more": (
        "%steps = arith.ceildivui %k, %depth : index",
        """%whole = arith.ceildivui %k, %depth : index
    %steps = arith.addi %whole, %rank : index""",
    ),
    "one multiplies once more": (
        "%before = arith.subi",
        """%odd = arith.cmpi eq, %rank, %c1 : index
            scf.if %odd {
              %more = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !running
              %over = "smem.wait"(%more) {pending = 0 : i32} : (!running) -> !readable
            }
            %before = arith.subi""",
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_blocks_that_go_different_ways_wait_for_ever(name):
    was, is_ = WAYS[name]
    assert CASES[0].text.count(was) == 1
    text = CASES[0].text.replace(was, is_)
    result = checked(text)
    assert result.evaluation == "not proven"
    assert all("both blocks of a pair multiply the same" in message for message in result.messages)
    assert Kind.DEADLOCK in faults_in(mlir_smem.compile(text, arch="sm_100a", emit="nvvm"))


def faults_in(lowered, text=None):
    """The kinds of what goes wrong in a kernel, or in its text after a change."""
    inputs = CASES[0].inputs((1, 1), 8)
    shape = (inputs["A"].shape[0], inputs["B"].shape[1])
    arrays = [inputs["A"], inputs["B"], np.zeros(shape, np.float32)]
    shared = lowered.manifest["kernels"][0]["shared_bytes"]
    options = {"block": 256, "grid": (2, 1), "shared": shared}
    found = faults_of(text or lowered.located, "gemm", arrays, **options)
    return {fault.kind for fault in found}


@pytest.fixture(scope="module")
def lowered():
    return mlir_smem.compile(CASES[0].text, arch="sm_100a", emit="nvvm")


#: What is left out or changed of the lowered kernel, and the rules of which one is then broken.
FAULTS = {
    "the arrival in the other block": (
        r"^.*nvvm\.mbarrier\.arrive .*!llvm\.ptr<7>.*\n",
        "",
        {Kind.DEADLOCK},
    ),
    "the commit in the other block": (
        r"(nvvm\.tcgen05\.commit %\w+), multicast_mask = %\w+ (.*: !llvm\.ptr<3>), i16",
        r"\1 \2",
        {Kind.DEADLOCK},
    ),
    "the wait before a stage is loaded": (
        r"^.*nvvm\.mbarrier\.try_wait\.parity .*\n",
        "",
        {Kind.OVERWRITTEN, Kind.COPY_IN_FLIGHT, Kind.BARRIER, Kind.UNINITIALISED},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name, lowered):
    pattern, by, kinds = FAULTS[name]
    text, count = re.subn(pattern, by, lowered.located, count=0, flags=re.MULTILINE)
    assert count
    assert faults_in(lowered, text) & kinds
