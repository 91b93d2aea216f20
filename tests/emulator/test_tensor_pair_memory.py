"""Tensor memory of two blocks: what both must allocate and free, and where commits arrive."""

from dataclasses import replace

import pytest
from cta_pair_kernels import COMMIT_BOTH, PairKernel, pair_product, paired
from tcgen05_kernels import ALLOC, COMMIT, DEALLOC
from test_tensor_pairs import operands

from mlir_smem.emulator import EmulationError, ViolationKind

PAIR_ALLOC, PAIR_DEALLOC = paired(ALLOC), paired(DEALLOC)
PERMIT = paired("nvvm.tcgen05.relinquish_alloc_permit")
NOTHING = PairKernel("")


def of_odd(name, one, other, type_="i32"):
    """Lines that make a value that the odd block has otherwise."""
    return f"%{name} = arith.select %even, %{one}, %{other} : {type_}"


def only_fault(kernel):
    """The one thing that a kernel does wrong."""
    found, _ = kernel.run()
    assert len(found) == 1, found
    return found[0]


def test_both_blocks_allocate_and_free():
    assert NOTHING.run()[0] == []
    assert replace(NOTHING, blocks=4).run()[0] == []


@pytest.mark.parametrize("which", [PAIR_ALLOC, PERMIT, PAIR_DEALLOC])
def test_one_block_alone(which):
    found, _ = NOTHING.without(which, f"scf.if %even {{ {which} }}").run()
    fault = next(fault for fault in found if fault.kind is ViolationKind.DEADLOCK)
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
def test_blocks_that_allocate_differently(which, old, new, message):
    lines = f"%more = arith.constant 64 : i32\n{new}\n{which.replace(old, '%n')}"
    fault = only_fault(NOTHING.without(which, lines))
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert message in fault.message


def test_what_a_block_does_not_free():
    found, _ = NOTHING.without(PAIR_DEALLOC).run()
    assert [(fault.kind, fault.line) for fault in found] == [
        (ViolationKind.TENSOR_MEMORY, "gpu.return")
    ]
    assert "the last thread of CTA 0 of the cluster returns" in found[0].message


#: Warps 1 of both blocks allocate, and free it.
SECOND = f"""
    %w1 = arith.cmpi eq, %warp, %one : i32
    scf.if %w1 {{
      {PAIR_ALLOC.replace("%slot", "%data")}
      %a = llvm.load %data : !llvm.ptr<3> -> i32
      %t = llvm.inttoptr %a : i32 to !llvm.ptr<6>
      {PAIR_DEALLOC.replace("%base", "%t")}
    }}"""


def test_an_allocation_waits_until_both_have_room():
    free = f"scf.if %first {{ {PAIR_DEALLOC} }}"
    both = PairKernel(f"{SECOND}\n{free}", 512, end="").without(PERMIT)
    assert both.run()[0] == []
    fault = only_fault(both.without(free))
    assert fault.kind is ViolationKind.DEADLOCK
    assert "for columns of tensor memory to be freed" in fault.message


def test_a_cta_in_no_pair():
    fault = only_fault(replace(NOTHING, blocks=1).without("%there = nvvm.mapa %meet, %peer", "//"))
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message == (
        "has cta_group::2, but CTA 0 of a cluster of 1 has no peer CTA; expected a cluster of an "
        "even number of CTAs"
    )
    found, _ = replace(NOTHING, blocks=3).without("%there = nvvm.mapa %meet, %peer", "//").run()
    assert "but CTA 2 of a cluster of 3 has no peer CTA" in found[0].message


def test_groups_are_not_mixed():
    with pytest.raises(
        EmulationError, match="is of cta_group 1, but an op before it is of 2; all must agree"
    ):
        NOTHING.without(PAIR_DEALLOC, DEALLOC).run()


# Where a commit arrives.

PRODUCT = pair_product(operands(("f16", "f16", "f16"), 128, 32)[0], 128, 32)
ALONE = replace(
    PRODUCT,
    **{
        part: getattr(PRODUCT, part).replace("cta_2", "cta_1").replace("%issues {", "%leader {")
        for part in ("begin", "body", "end")
    },
).without("constant 129", "constant 130")


def test_each_block_commits_to_both():
    assert ALONE.run()[0] == []
    fault = only_fault(
        ALONE.without("%both {", "%sole {").without(
            "%meet =", "%sole = arith.constant 1 : i16\n%meet ="
        )
    )
    assert fault.kind is ViolationKind.DEADLOCK
    assert "lacks 2 of 130 arrivals" in fault.message


def test_a_commit_to_another_block():
    far = "%far = nvvm.mapa %bar, %peer : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    group = "{group = #nvvm.cta_group<cta_2>}"
    own = COMMIT.replace("%bar", f"%bar {group}")
    there = own.replace("%bar", "%far").replace("ptr<3>", "ptr<7>")
    assert PRODUCT.without(COMMIT_BOTH, f"{far}{own}\n{there}").run()[0] == []


def test_a_commit_to_a_block_that_the_cluster_has_not():
    found, _ = PRODUCT.without("%three = arith.constant 3", "%three = arith.constant 5").run()
    assert (found[-1].kind, found[-1].message) == (
        ViolationKind.OUT_OF_BOUNDS,
        "names CTA 2 of a cluster of 2",
    )
