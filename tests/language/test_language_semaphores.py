"""Arrivals at semaphores in traced kernels, on the emulator."""

import numpy as np
import pytest
import split_kernel
from split_kernel import PARTS, TILES, sums

import mlir_smem.language as sl
from mlir_smem.emulator import ViolationKind, Violations
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu


def test_the_last_cta_adds_all_parts_in_their_order():
    arguments = split_kernel.inputs()
    compiled = sums.compile(*arguments.values(), emit="nvvm")
    for _ in range(3):
        outputs = run_on_cpu(compiled, None, arguments, ["C", "S"], grid=(TILES, PARTS))
        assert outputs["C"].tobytes() == split_kernel.expected_sums(arguments["A"]).tobytes()
        assert not outputs["S"].any()
        arguments["S"] = outputs["S"]


def test_without_the_arrival_the_parts_are_not_ordered():
    arguments = split_kernel.inputs()
    compiled = sums.compile(*arguments.values(), emit="nvvm", arrive=False)
    with pytest.raises(Violations) as error:
        run_on_cpu(compiled, None, arguments, ["C"], grid=(TILES, PARTS))
    assert {violation.kind for violation in error.value.found} == {ViolationKind.RACE}
    assert "of argument 1, which thread 0 of CTA (0, 0, 0) wrote at" in str(error.value)
    assert "smem.semaphore_arrive" in str(error.value)


def test_the_kernel_is_proven():
    assert sums.check(*split_kernel.inputs().values()) == ()


def of_warpgroups(sync, read=lambda mine: mine, arrives=True, rounds=1):
    """Make a kernel in which two warpgroups store a part each of two tiles, and each adds the parts of
    one.

    Args:
        sync: as for `sl.kernel`.
        read: the tile that a warpgroup adds.
        arrives: whether it arrives at a semaphore before.
        rounds: how often it does all of that; more than once, it overwrites what others may still read.
    """

    @sl.kernel("(P,2,64,64):(8192,4096,64,1), (2,64,64):(4096,64,1), (2,)", warpgroups=3, sync=sync)
    def kernel(W, C, S):
        part, parts = sl.block_id(0), W.shape[0]
        with sl.warp_specialize():
            with sl.partition():
                pass
            with sl.partition(warpgroups=2) as mine:
                for _ in sl.range(rounds) if rounds > 1 else [0]:
                    x = sl.zeros((64, 64), sl.f32) + 1.0
                    sl.store(x, W[part, mine, 0:64, 0:64])
                    last = sl.semaphore_arrive(S, mine, parts) if arrives else part == parts - 1
                    with sl.when(last):
                        for k in sl.range(parts - 1):
                            x = x + sl.load(W[k, read(mine), 0:64, 0:64])
                        sl.store(x, C[mine, 0:64, 0:64])

    return kernel


@pytest.mark.parametrize("sync", ["manual", "auto"])
def test_each_warpgroup_arrives_at_its_own_semaphore(sync):
    arrays = np.zeros((4, 2, 64, 64), np.float32), np.zeros((2, 64, 64), np.float32)
    arguments = dict(zip("WCS", (*arrays, np.zeros(2, np.int32)), strict=True))
    kernel = of_warpgroups(sync)
    assert kernel.check(*arguments.values()) == ()
    compiled = kernel.compile(*arguments.values(), emit="nvvm")
    outputs = run_on_cpu(compiled, None, arguments, ["C", "S"], grid=(4,))
    assert (outputs["C"] == 4).all()
    assert not outputs["S"].any()


@pytest.mark.parametrize(
    "changed", [{"read": lambda mine: 1 - mine}, {"arrives": False}, {"rounds": 2}]
)
def test_what_another_warpgroup_may_write_meanwhile_is_not_put_in_order(changed):
    with pytest.raises(TraceError) as error:
        of_warpgroups("auto", **changed).check(sl.f32, sl.f32, sl.i32)
    assert error.value.message.endswith(
        "in kernels with pipelines or partitions put smem.semaphore_arrive or a barrier between them, "
        "and let each warpgroup read rows that it writes itself"
    )


@pytest.mark.parametrize(
    "signature, dtypes, message",
    [
        ("(4,4)", [sl.i32], "the array S (4, 4) of i32"),
        ("(4,)", [sl.f32], "the array S (4) of f32"),
    ],
)
def test_another_array_is_refused(signature, dtypes, message):
    @sl.kernel(signature, sync="manual")
    def kernel(S):
        sl.semaphore_arrive(S, 0, 7)

    with pytest.raises(TraceError) as error:
        kernel.mlir(*dtypes)
    expected = f"expected an array of i32 with one dimension as semaphores, not {message}"
    assert error.value.message == expected


@pytest.mark.parametrize(
    "index, count, message",
    [
        (0, 0, "has count = 0; expected 1 or more arrivals"),
        (4, 2, "has index = 4; expected 0 to 3"),
        (-1, 2, "has index = -1; expected 0 to 3"),
    ],
)
def test_constants_out_of_range_are_refused(index, count, message):
    @sl.kernel("(4,)", sync="manual")
    def kernel(S):
        sl.semaphore_arrive(S, index, count)

    with pytest.raises(TraceError) as error:
        kernel.mlir(sl.i32)
    assert message in error.value.message


def test_something_else_is_refused():
    @sl.kernel("(64,64)", sync="manual")
    def kernel(S):
        sl.semaphore_arrive(S[0:64, 0:64], 0, 7)

    with pytest.raises(TraceError, match="as semaphores, not a window 64x64 of the array S"):
        kernel.mlir(sl.i32)
