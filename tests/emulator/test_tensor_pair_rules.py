"""What must come between the instructions of two blocks that multiply together.

Each test takes one instruction out of a kernel that keeps every rule, or changes one.
"""

from dataclasses import replace

import numpy as np
import pytest
from cta_pair_kernels import (
    COMMIT_BOTH,
    PairKernel,
    finish,
    loaded,
    meeting,
    multiplied,
    pair_matrix,
    paired,
    written,
)
from tcgen05_kernels import AFTER, BEFORE, DEALLOC, PROXY_FENCE, WAIT_LOAD, at
from test_tensor_pairs import operands, product_of
from test_tensor_rules import REFILL

from mlir_smem.emulator import ViolationKind

pytestmark = pytest.mark.sampled(2)

M, N = 256, 32

STEPS, IMAGE, FACTORS = operands(("f16", "f16", "f16"), M, N)
PRODUCT = product_of(FACTORS)
LOADS = {name: loaded(name, N)[0] for name in "rq"}
REGISTERS = loaded("r", N)[1]
REFILLED = "gpu.barrier // refilled"
PAIR_REFILL = REFILL.replace("%A[%j] : memref<", "%A[%block, %j] : memref<BLOCKSx")
PAIR_DEALLOC = paired(DEALLOC)

#: D = A * B, twice; in between A and B are written again.
KEEPS = PairKernel(
    "\n    ".join(
        [
            at("d", 0),
            meeting("begin"),
            multiplied("m", STEPS),
            finish("end"),
            LOADS["r"],
            PAIR_REFILL,
            PROXY_FENCE,
            BEFORE,
            REFILLED,
            meeting("anew"),
            multiplied("n", STEPS),
            finish("last"),
            LOADS["q"],
            written("r", 2 * REGISTERS, 0, REGISTERS),
            written("q", 2 * REGISTERS, REGISTERS, REGISTERS),
        ]
    ),
    columns=32,
    registers=2 * REGISTERS,
)


def test_a_kernel_that_keeps_the_rules():
    found, registers = KEEPS.run(IMAGE)
    assert found == []
    for half in np.split(registers.view(np.float32), 2, 2):
        assert (pair_matrix(half, M, N) == PRODUCT).all()


def test_every_pair_of_a_cluster():
    found, registers = replace(KEEPS, blocks=4).run(np.concatenate([IMAGE, IMAGE]))
    assert found == []
    for pair in np.split(registers[:, :, :REGISTERS].view(np.float32), 2):
        assert (pair_matrix(pair, M, N) == PRODUCT).all()


BARRIER = "an arrival at their mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, is missing"

OF_PEER = "of tensor memory of CTA 1 of the cluster, which the tcgen05.ld of warp "


@pytest.mark.parametrize(
    "line, which, into, kind, message",
    [
        (meeting("begin"), 0, "", "race", f"{BARRIER} after smem.fence"),
        (meeting("anew"), 0, "", "race", f"{BARRIER} after smem.fence"),
        (PROXY_FENCE, 0, f"scf.if %even {{ {PROXY_FENCE} }}", "unfenced", "smem.fence"),
        (PROXY_FENCE, 1, f"scf.if %even {{ {PROXY_FENCE} }}", "unfenced", "smem.fence"),
        (REFILLED, 0, f"scf.if %even {{ {REFILLED}\n }}", "race", BARRIER),
        (WAIT_LOAD, 0, f"scf.if %even {{ {WAIT_LOAD} }}", "overwritten", "tcgen05.wait::ld"),
        (BEFORE, 0, f"scf.if %even {{ {BEFORE} }}", "overwritten", "fence::before_thread_sync"),
        (COMMIT_BOTH, 0, COMMIT_BOTH.replace("%both", "%own"), "deadlock", "1 of 129 arrivals"),
        (AFTER, 3, "", "overwritten", "fence::after_thread_sync is missing after the barrier"),
        (AFTER, 2, f"scf.if %even {{ {AFTER} }}", "tensor-in-flight", "after_thread_sync"),
    ],
)
def test_what_must_come_between(line, which, into, kind, message):
    own = "%own32 = arith.shli %one, %rank : i32\n%own = arith.trunci %own32 : i32 to i16"
    found, _ = KEEPS.without(line, into, which).without("%meet =", f"{own}\n%meet =").run()
    fault = next(fault for fault in found if fault.kind.value == kind)
    assert message in fault.message


def test_the_other_block_still_loads_what_is_overwritten():
    found, _ = KEEPS.without(meeting("anew"), AFTER).run()
    messages = [fault.message for fault in found if fault.kind is ViolationKind.OVERWRITTEN]
    assert len(messages) == 1
    assert OF_PEER in messages[0]
    assert BARRIER in messages[0]


#: Here the first product has begun.
ISSUED = meeting("endover")


def test_shared_memory_of_the_other_block_is_written_while_an_mma_may_read_it():
    early = f"gpu.barrier\nscf.if %even {{}} else {{\n{PAIR_REFILL.replace('%j', '%e')}\n}}"
    found, _ = KEEPS.without(ISSUED, f"{ISSUED}\n{early}").run()
    assert [fault.kind for fault in found] == [ViolationKind.OVERWRITTEN]
    assert ", which the tcgen05.mma at " in found[0].message


# A block that returns.


def leaving(kernel, after, what=""):
    """A kernel, in which the odd block, after some lines, does something and returns."""
    lines = f"""{after}
    cf.cond_br %even, ^stays, ^leaves
  ^leaves:
    {what}
    gpu.return
  ^stays:"""
    return replace(kernel.without(after, lines), end=f"{kernel.end}\n    gpu.return")


def test_the_other_block_returns_while_an_mma_may_reach_it():
    found, _ = leaving(KEEPS, ISSUED).run()
    fault = next(fault for fault in found if fault.line == "gpu.return")
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("the last thread of CTA 1 of the cluster returns, but what ")
    assert " does in its memory may still be under way" in fault.message


def test_a_commit_to_a_block_that_has_returned():
    found, _ = leaving(KEEPS, ISSUED).run()
    fault = next(fault for fault in found if "commit" in fault.line)
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


def test_the_other_block_frees_what_an_mma_may_still_write():
    found, _ = leaving(KEEPS, ISSUED, f"scf.if %first {{ {PAIR_DEALLOC} }}").run()
    fault = next(fault for fault in found if "dealloc" in fault.line)
    assert fault.kind is ViolationKind.TENSOR_IN_FLIGHT
    assert "of tensor memory of CTA 1 of the cluster, which the tcgen05.mma" in fault.message
    assert "tcgen05.commit, and a wait for its mbarrier, are missing" in fault.message


def test_an_mma_after_the_other_block_has_returned():
    alone = KEEPS.without(meeting("begin"), "gpu.barrier // no meeting")
    found, _ = leaving(alone, "gpu.barrier // no meeting").run()
    fault = next(fault for fault in found if fault.line.startswith("nvvm.tcgen05.mma"))
    assert fault.kind is ViolationKind.EXITED
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


# Who issues.


def test_the_odd_block_may_issue():
    odd = KEEPS.without("arith.andi %leader, %even", "arith.andi %leader, %uneven")
    odd = odd.without("%issues =", "%uneven = arith.xori %even, %true : i1\n%issues =")
    found, registers = odd.run(IMAGE)
    assert found == []
    assert (pair_matrix(registers[:, :, :REGISTERS].view(np.float32), M, N) == PRODUCT).all()


def test_both_blocks_issue():
    found, _ = KEEPS.without("arith.andi %leader, %even", "arith.andi %leader, %true").run()
    assert ViolationKind.TENSOR_IN_FLIGHT in {fault.kind for fault in found}
