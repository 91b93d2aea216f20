"""Synchronisation between the instructions of a CTA pair that multiplies together.

Each test removes or changes one instruction of a kernel that keeps every rule.
"""

from dataclasses import replace

import numpy as np
import pytest
from cta_pair_kernels import (
    COMMIT_BOTH,
    PairKernel,
    finish,
    issue,
    load_columns,
    pair_barrier,
    pair_matrix,
    store_result,
    with_early_return,
    with_pair_allocation,
)
from cta_pair_operands import pair_operands, sum_of_products
from tcgen05_kernels import AFTER, BEFORE, DEALLOC, PROXY_FENCE, REFILL, WAIT_LOAD, tmem_address

from mlir_smem.emulator import ViolationKind

M, N = 256, 32

INSTRUCTIONS, IMAGE, MATRICES = pair_operands(("f16", "f16", "f16"), M, N)
EXPECTED = sum_of_products(MATRICES)
LOADS = {name: load_columns(name, N)[0] for name in "rq"}
REGISTERS = load_columns("r", N)[1]
REFILLED = "gpu.barrier // refilled"
PAIR_REFILL = REFILL.replace("%A[%j] : memref<", "%A[%cta, %j] : memref<CTASx")
PAIR_DEALLOC = with_pair_allocation(DEALLOC)

#: D = A * B, twice; A and B are written again between the two.
KEEPS = PairKernel(
    "\n    ".join(
        [
            tmem_address("d", 0),
            pair_barrier("begin"),
            issue("m", INSTRUCTIONS),
            finish("end"),
            LOADS["r"],
            PAIR_REFILL,
            PROXY_FENCE,
            BEFORE,
            REFILLED,
            pair_barrier("anew"),
            issue("n", INSTRUCTIONS),
            finish("last"),
            LOADS["q"],
            store_result("r", 2 * REGISTERS, 0, REGISTERS),
            store_result("q", 2 * REGISTERS, REGISTERS, REGISTERS),
        ]
    ),
    columns=32,
    registers=2 * REGISTERS,
)


def test_correct_kernel_has_no_faults():
    faults, registers = KEEPS.run(IMAGE)
    assert faults == []
    for half in np.split(registers.view(np.float32), 2, 2):
        assert (pair_matrix(half, M, N) == EXPECTED).all()


def test_all_pairs_of_a_cluster():
    faults, registers = replace(KEEPS, ctas=4).run(np.concatenate([IMAGE, IMAGE]))
    assert faults == []
    for pair in np.split(registers[:, :, :REGISTERS].view(np.float32), 2):
        assert (pair_matrix(pair, M, N) == EXPECTED).all()


BARRIER = "an arrival at their mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, is missing"

OF_PEER = "of tensor memory of CTA 1 of the cluster, which the tcgen05.ld of warp "


@pytest.mark.parametrize(
    "line, which, into, kind, message",
    [
        (pair_barrier("begin"), 0, "", "race", f"{BARRIER} after smem.fence"),
        (pair_barrier("anew"), 0, "", "race", f"{BARRIER} after smem.fence"),
        (PROXY_FENCE, 0, f"scf.if %even {{ {PROXY_FENCE} }}", "unfenced", "smem.fence"),
        (PROXY_FENCE, 1, f"scf.if %even {{ {PROXY_FENCE} }}", "unfenced", "smem.fence"),
        (REFILLED, 0, f"scf.if %even {{ {REFILLED}\n }}", "race", BARRIER),
        (WAIT_LOAD, 0, f"scf.if %even {{ {WAIT_LOAD} }}", "overwritten", "tcgen05.wait::ld"),
        (BEFORE, 0, f"scf.if %even {{ {BEFORE} }}", "overwritten", "fence::before_thread_sync"),
        (COMMIT_BOTH, 0, COMMIT_BOTH.replace("%both", "%own"), "deadlock", "1 of 129 arrivals"),
        (AFTER, 3, "", "overwritten", "fence::after_thread_sync is missing after the barrier"),
        (AFTER, 2, f"scf.if %even {{ {AFTER} }}", "tensor-memory-in-flight", "after_thread_sync"),
    ],
)
def test_missing_synchronisation(line, which, into, kind, message):
    own_mask = "%own32 = arith.shli %one, %rank : i32\n%own = arith.trunci %own32 : i32 to i16"
    faults, _ = (
        KEEPS.without(line, into, which).without("%pair_bar =", f"{own_mask}\n%pair_bar =").run()
    )
    fault = next(fault for fault in faults if fault.kind.value == kind)
    assert message in fault.message


def test_mma_overwrites_what_the_peer_cta_still_loads():
    faults, _ = KEEPS.without(pair_barrier("anew"), AFTER).run()
    messages = [fault.message for fault in faults if fault.kind is ViolationKind.OVERWRITTEN]
    assert len(messages) == 1
    assert OF_PEER in messages[0]
    assert BARRIER in messages[0]


#: Lines after which the first mma has been issued.
ISSUED = pair_barrier("endover")


def test_shared_memory_of_the_peer_cta_is_written_before_the_mma_completes():
    early = f"gpu.barrier\nscf.if %even {{}} else {{\n{PAIR_REFILL.replace('%j', '%e')}\n}}"
    faults, _ = KEEPS.without(ISSUED, f"{ISSUED}\n{early}").run()
    assert [fault.kind for fault in faults] == [ViolationKind.OVERWRITTEN]
    assert ", which the tcgen05.mma at " in faults[0].message


# A CTA that returns.


def test_peer_cta_returns_before_the_mma_completes():
    faults, _ = with_early_return(KEEPS, ISSUED).run()
    fault = next(fault for fault in faults if fault.line == "gpu.return")
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("the last thread of CTA 1 of the cluster returns, but what ")
    assert " does in its memory may still be under way" in fault.message


def test_commit_to_a_cta_that_has_returned():
    faults, _ = with_early_return(KEEPS, ISSUED).run()
    fault = next(fault for fault in faults if "commit" in fault.line)
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


def test_peer_cta_frees_d_before_the_mma_completes():
    faults, _ = with_early_return(KEEPS, ISSUED, f"scf.if %first {{ {PAIR_DEALLOC} }}").run()
    fault = next(fault for fault in faults if "dealloc" in fault.line)
    assert fault.kind is ViolationKind.TENSOR_MEMORY_IN_FLIGHT
    assert "of tensor memory of CTA 1 of the cluster, which the tcgen05.mma" in fault.message
    assert "tcgen05.commit, and a wait for its mbarrier, are missing" in fault.message


def test_mma_after_the_peer_cta_has_returned():
    alone = KEEPS.without(pair_barrier("begin"), "gpu.barrier // no pair barrier")
    faults, _ = with_early_return(alone, "gpu.barrier // no pair barrier").run()
    fault = next(fault for fault in faults if fault.line.startswith("nvvm.tcgen05.mma"))
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


# The CTA that issues.


def test_odd_cta_may_issue():
    odd = KEEPS.without("arith.andi %leader, %even", "arith.andi %leader, %uneven")
    odd = odd.without("%issues =", "%uneven = arith.xori %even, %true : i1\n%issues =")
    faults, registers = odd.run(IMAGE)
    assert faults == []
    assert (pair_matrix(registers[:, :, :REGISTERS].view(np.float32), M, N) == EXPECTED).all()


def test_both_ctas_issue():
    faults, _ = KEEPS.without("arith.andi %leader, %even", "arith.andi %leader, %true").run()
    assert ViolationKind.TENSOR_MEMORY_IN_FLIGHT in {fault.kind for fault in faults}
