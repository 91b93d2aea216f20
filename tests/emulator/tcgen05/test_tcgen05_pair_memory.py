"""Tensor memory of a CTA pair: allocation by both CTAs, and the CTAs at which commits arrive."""

from dataclasses import replace

import pytest
from cta_pair_kernels import COMMIT_BOTH, PairKernel, pair_kernel, with_pair_allocation
from cta_pair_operands import pair_operands
from tcgen05_kernels import ALLOC, COMMIT, DEALLOC

from mlir_smem.emulator import EmulationError, ViolationKind

PAIR_ALLOC, PAIR_DEALLOC = with_pair_allocation(ALLOC), with_pair_allocation(DEALLOC)
PERMIT = with_pair_allocation("nvvm.tcgen05.relinquish_alloc_permit")
NOTHING = PairKernel("")


def of_odd(name, one, other, type_="i32"):
    """A line that defines a value: `one` in the even CTA, `other` in the odd CTA."""
    return f"%{name} = arith.select %even, %{one}, %{other} : {type_}"


def only_fault(kernel):
    """The only fault of a kernel."""
    faults, _ = kernel.run()
    assert len(faults) == 1, faults
    return faults[0]


def test_both_ctas_allocate_and_free():
    assert NOTHING.run()[0] == []
    assert replace(NOTHING, ctas=4).run()[0] == []


@pytest.mark.parametrize("which", [PAIR_ALLOC, PERMIT, PAIR_DEALLOC])
def test_op_of_a_pair_that_one_cta_does_not_execute(which):
    faults, _ = NOTHING.without(which, f"scf.if %even {{ {which} }}").run()
    fault = next(fault for fault in faults if fault.kind is ViolationKind.DEADLOCK)
    name = which.split(" ")[0]
    assert f"for CTA 1 of the cluster, which must execute {name} with it" in fault.message


@pytest.mark.parametrize(
    "which, old, new, message",
    [
        (
            PAIR_ALLOC,
            "%ncols",
            of_odd("n", "ncols", "more"),
            "allocates 64 columns of tensor memory and has 0x10400 for their address, but CTA 0 of "
            "the cluster allocates 32 columns of tensor memory and has 0x10400 for their address; the "
            "CTAs of a pair must do the same",
        ),
        (
            PAIR_ALLOC,
            "%slot",
            of_odd("n", "slot", "data", "!llvm.ptr<3>"),
            "for their address, but CTA 0 of the cluster",
        ),
    ],
)
def test_ctas_of_a_pair_allocate_differently(which, old, new, message):
    lines = f"%more = arith.constant 64 : i32\n{new}\n{which.replace(old, '%n')}"
    fault = only_fault(NOTHING.without(which, lines))
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert message in fault.message


def test_allocation_of_a_pair_that_is_not_freed():
    faults, _ = NOTHING.without(PAIR_DEALLOC).run()
    assert [(fault.kind, fault.line) for fault in faults] == [
        (ViolationKind.TENSOR_MEMORY, "gpu.return")
    ]
    assert "the last thread of CTA 0 of the cluster returns" in faults[0].message


#: Warp 1 of both CTAs allocates tensor memory and frees it.
SECOND = f"""
    %w1 = arith.cmpi eq, %warp, %one : i32
    scf.if %w1 {{
      {PAIR_ALLOC.replace("%slot", "%data")}
      %a = llvm.load %data : !llvm.ptr<3> -> i32
      %t = llvm.inttoptr %a : i32 to !llvm.ptr<6>
      {PAIR_DEALLOC.replace("%base", "%t")}
    }}"""


def test_allocation_waits_until_both_ctas_have_room():
    free = f"scf.if %first {{ {PAIR_DEALLOC} }}"
    both = PairKernel(f"{SECOND}\n{free}", 512, end="").without(PERMIT)
    assert both.run()[0] == []
    fault = only_fault(both.without(free))
    assert fault.kind is ViolationKind.DEADLOCK
    assert "for columns of tensor memory to be freed" in fault.message


def test_cta_without_a_pair():
    fault = only_fault(
        replace(NOTHING, ctas=1).without("%peer_bar = nvvm.mapa %pair_bar, %peer", "//")
    )
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message == (
        "has cta_group::2, but CTA 0 of a cluster of 1 has no peer CTA; expected a cluster of an "
        "even number of CTAs"
    )
    faults, _ = (
        replace(NOTHING, ctas=3).without("%peer_bar = nvvm.mapa %pair_bar, %peer", "//").run()
    )
    assert "but CTA 2 of a cluster of 3 has no peer CTA" in faults[0].message


def test_groups_are_not_mixed():
    with pytest.raises(
        EmulationError, match="is of cta_group 1, but an op before it is of 2; all must agree"
    ):
        NOTHING.without(PAIR_DEALLOC, DEALLOC).run()


# CTAs at which a commit arrives.

PAIR = pair_kernel(pair_operands(("f16", "f16", "f16"), 128, 32)[0], 128, 32)
SINGLES = replace(
    PAIR,
    **{
        section: getattr(PAIR, section).replace("cta_2", "cta_1").replace("%issues {", "%leader {")
        for section in ("begin", "body", "end")
    },
).without("constant 129", "constant 130")


def test_each_cta_commits_to_both():
    assert SINGLES.run()[0] == []
    fault = only_fault(
        SINGLES.without("%both {", "%sole {").without(
            "%pair_bar =", "%sole = arith.constant 1 : i16\n%pair_bar ="
        )
    )
    assert fault.kind is ViolationKind.DEADLOCK
    assert "lacks 2 of 130 arrivals" in fault.message


def test_commit_to_another_cta():
    far = "%far = nvvm.mapa %bar, %peer : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    group = "{group = #nvvm.cta_group<cta_2>}"
    local_commit = COMMIT.replace("%bar", f"%bar {group}")
    remote_commit = local_commit.replace("%bar", "%far").replace("ptr<3>", "ptr<7>")
    assert PAIR.without(COMMIT_BOTH, f"{far}{local_commit}\n{remote_commit}").run()[0] == []


def test_commit_to_a_cta_outside_the_cluster():
    faults, _ = PAIR.without("%three = arith.constant 3", "%three = arith.constant 5").run()
    assert (faults[-1].kind, faults[-1].message) == (
        ViolationKind.OUT_OF_BOUNDS,
        "names CTA 2 of a cluster of 2",
    )
