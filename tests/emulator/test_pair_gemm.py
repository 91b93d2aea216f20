"""A GEMM of CTA pairs, with pipelined stages and accumulators.

Its results are exact; the emulator reports violations when it is damaged.
"""

import re

import numpy as np
import pytest
from emulated import faults_of
from pair_gemm import CASES
from pipeline_mutations import run_checker

import mlir_smem
from mlir_smem.emulator import ViolationKind
from mlir_smem.runtime import run_on_cpu

#: CTA pairs along M and N, and K blocks.
EXTENTS = [((1, 1), 1), ((2, 1), 3), ((1, 2), 8)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gemm_is_proven_and_exact(case):
    assert run_checker(case.text).messages == ()
    compiled = mlir_smem.compile(case.text, arch="sm_100a", emit="nvvm")
    for pairs, k_blocks in EXTENTS:
        inputs = case.inputs(pairs, k_blocks)
        d = run_on_cpu(compiled, "gemm", inputs, ["D"])["D"]
        expected = np.matmul(*(inputs[name].astype(np.float32) for name in "AB"))
        assert np.array_equal(d, expected), (pairs, k_blocks)


#: Edits (old, new) after which the CTAs of a pair execute different numbers of mma.
DIVERGENCES = {
    "one more K block in one CTA": (
        "%steps = arith.ceildivui %k, %depth : index",
        """%whole = arith.ceildivui %k, %depth : index
    %steps = arith.addi %whole, %rank : index""",
    ),
    "one more mma in one CTA": (
        "%before = arith.subi",
        """%odd = arith.cmpi eq, %rank, %c1 : index
            scf.if %odd {
              %more = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !running
              %over = "smem.wait"(%more) {pending = 0 : i32} : (!running) -> !readable
            }
            %before = arith.subi""",
    ),
}


@pytest.mark.parametrize("name", DIVERGENCES)
def test_ctas_that_execute_different_mma_deadlock(name):
    old, new = DIVERGENCES[name]
    assert CASES[0].text.count(old) == 1
    text = CASES[0].text.replace(old, new)
    report = run_checker(text)
    assert report.evaluation == "not proven"
    assert all("both CTAs of a pair execute the same mma" in message for message in report.messages)
    assert ViolationKind.DEADLOCK in faults_in(mlir_smem.compile(text, arch="sm_100a", emit="nvvm"))


def faults_in(pair_kernel, text=None):
    """The kinds of the violations of a kernel, or of its text after an edit."""
    inputs = CASES[0].inputs((1, 1), 8)
    shape = (inputs["A"].shape[0], inputs["B"].shape[1])
    arrays = [inputs["A"], inputs["B"], np.zeros(shape, np.float32)]
    shared = pair_kernel.manifest["kernels"][0]["shared_bytes"]
    options = {"block": 256, "grid": (2, 1), "shared": shared}
    faults = faults_of(text or pair_kernel.located, "gemm", arrays, **options)
    return {fault.kind for fault in faults}


@pytest.fixture(scope="module")
def pair_kernel():
    return mlir_smem.compile(CASES[0].text, arch="sm_100a", emit="nvvm")


#: Edits (pattern, replacement) of the lowered kernel, and violations of which the emulator reports one.
FAULTS = {
    "the arrival in the peer CTA": (
        r"^.*nvvm\.mbarrier\.arrive .*!llvm\.ptr<7>.*\n",
        "",
        {ViolationKind.DEADLOCK},
    ),
    "the commit in the peer CTA": (
        r"(nvvm\.tcgen05\.commit %\w+), multicast_mask = %\w+ (.*: !llvm\.ptr<3>), i16",
        r"\1 \2",
        {ViolationKind.DEADLOCK},
    ),
    "the wait before a stage is loaded": (
        r"^.*nvvm\.mbarrier\.try_wait\.parity .*\n",
        "",
        {
            ViolationKind.OVERWRITTEN,
            ViolationKind.COPY_IN_FLIGHT,
            ViolationKind.BARRIER,
            ViolationKind.UNINITIALISED,
        },
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damage_is_found(name, pair_kernel):
    pattern, new, kinds = FAULTS[name]
    text, count = re.subn(pattern, new, pair_kernel.located, count=0, flags=re.MULTILINE)
    assert count
    assert faults_in(pair_kernel, text) & kinds
