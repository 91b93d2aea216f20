"""Loads from the tiles of other CTAs of a cluster: sums on the emulator, proofs, and what is missing."""

import cluster_kernels
import numpy as np
import pytest
from cluster_kernels import cluster_sum, split_k

import mlir_smem.language as sl
from mlir_smem.emulator import Violations
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu


def _run(kernel, arguments, ctas):
    compiled = kernel.compile(*arguments.values(), emit="nvvm")
    return run_on_cpu(compiled, None, arguments, ["C"], grid=(ctas,))["C"]


@pytest.mark.parametrize("ctas", [2, 4, 8])
def test_each_cta_adds_its_columns_of_all_parts_in_their_order(ctas):
    arguments = cluster_kernels.parts(ctas)
    kernel = cluster_sum(ctas)
    assert kernel.check(*arguments.values()) == ()
    c = _run(kernel, arguments, ctas)
    assert c.tobytes() == cluster_kernels.expected_sum(arguments["A"]).tobytes()


@pytest.mark.parametrize("ctas, warpgroups", [(2, 1), (2, 2), (4, 2), (8, 1)])
def test_a_product_split_along_k(ctas, warpgroups):
    arguments = cluster_kernels.operands(64 * 9)
    kernel = split_k(ctas, warpgroups)
    assert kernel.check(*arguments.values()) == ()
    a, b = (arguments[name].astype(np.float32) for name in "AB")
    assert np.array_equal(_run(kernel, arguments, ctas), a @ b)


def test_a_tile_that_is_written_again_after_a_barrier():
    assert cluster_sum(2, filled=True).check(*cluster_kernels.parts(2).values()) == ()


@pytest.mark.parametrize("dtype", [sl.f16, sl.bf16])
def test_tiles_of_16_bits_are_loaded_without_ldmatrix(dtype):
    @sl.kernel("(P,64,64), (64,64)", cluster=(2,), sync="manual")
    def kernel(A, C):
        part, rank = sl.alloc((64, 64), dtype), sl.block_id(0) % 2
        sl.store(sl.load(A[rank, 0:64, 0:64]), part)
        sl.cluster_barrier()
        with sl.when(rank < 1):
            sl.store(sl.load(part, sl.f32, rank=1), C[0:64, 0:64])

    arguments = cluster_kernels.parts(2)
    arguments["A"] = np.round(arguments["A"] % 16)
    assert np.array_equal(_run(kernel, arguments, 2), arguments["A"][1])


def _faults():
    reads = "of another CTA, which may not have written it; put a barrier of the cluster"
    return [
        (cluster_sum(2, before=False), "parts", reads),
        (split_k(2, consumers=0, producers=0), "operands", reads),
        (split_k(2, producers=0), "operands", "reaches 1 of the cluster's barriers, and the"),
        (split_k(2, consumers=2), "operands", "reaches 1; put the same number in both"),
    ]


@pytest.mark.parametrize("kernel, inputs, message", _faults())
def test_a_missing_barrier_is_an_error(kernel, inputs, message):
    values = {
        "parts": cluster_kernels.parts(2),
        "operands": cluster_kernels.operands(128),
    }[inputs]
    with pytest.raises(TraceError) as error:
        kernel.check(*values.values())
    assert message in error.value.message


#: A kernel, its arguments, the remark, and the kind of violation.
UNPROVEN = [
    (
        cluster_sum(2, written=False),
        cluster_kernels.parts(2),
        "it is not known whether every CTA has written what it reads of the smem.alloc",
        "uninitialised",
    ),
    (
        cluster_sum(2, filled=True, after=False),
        cluster_kernels.parts(2),
        "of another CTA may not be over; put a barrier of the cluster",
        "race",
    ),
    (
        split_k(2, early=True),
        cluster_kernels.operands(256),
        "has released all stages that are committed before a barrier of the cluster",
        "deadlock",
    ),
]


@pytest.mark.parametrize(
    "kernel, arguments, remark, kind",
    UNPROVEN,
    ids=[f"kernel-given{i}-{remark}-{kind}" for i, (*_, remark, kind) in enumerate(UNPROVEN)],
)
def test_what_goes_wrong_is_not_proven_and_found_by_the_emulator(kernel, arguments, remark, kind):
    remarks = kernel.check(*arguments.values())
    assert remark in str(remarks[0])
    with pytest.raises(Violations) as error:
        _run(kernel, arguments, 2)
    assert kind in {violation.kind.value for violation in error.value.found}


def test_ctas_that_write_different_rows_are_not_proven():
    @sl.kernel("(64,64)", cluster=(2,), warpgroups=1, sync="manual")
    def kernel(C):
        part = sl.alloc((2, 64, 64), sl.f32)
        rank = sl.block_id(0) % 2
        sl.store(sl.zeros((64, 64), sl.f32), part[rank])
        sl.cluster_barrier()
        sl.store(sl.load(part[rank], rank=1 - rank), C[0:64, 0:64])

    remarks = kernel.check(np.zeros((64, 64), np.float32))
    assert "it is not known whether every CTA has written" in str(remarks[0])


def test_the_end_of_the_kernel_waits_for_readers():
    arguments = cluster_kernels.parts(2)
    text = cluster_sum(2).compile(*arguments.values(), emit="nvvm").nvvm
    assert text.count("nvvm.cluster.wait") == 2


@pytest.mark.parametrize(
    "ctas, rank, message",
    [
        (1, 0, "has a rank, but the kernel has clusters of 1x1x1 CTAs; set known_cluster_size"),
        (2, 2, "has rank = 2; a cluster of 2x1x1 CTAs has ranks 0 to 1"),
        (2, -1, "has rank = -1; expected the rank of a CTA in its cluster, 0 or more"),
    ],
)
def test_ranks_without_a_cta_are_refused(ctas, rank, message):
    @sl.kernel("(64,64)", cluster=(ctas,), sync="manual")
    def kernel(C):
        part = sl.alloc((64, 64), sl.f32)
        sl.store(sl.zeros((64, 64), sl.f32), part)
        sl.cluster_barrier()
        sl.store(sl.load(part, rank=rank), C[0:64, 0:64])

    with pytest.raises(TraceError) as error:
        kernel.compile(sl.f32, emit="nvvm")
    assert message in error.value.message


def test_only_accumulators_of_tiles_have_a_rank():
    @sl.kernel("(64,64)", cluster=(2,), sync="manual")
    def of_array(C):
        sl.load(C[0:64, 0:64], rank=1)

    @sl.kernel("(64,64)", cluster=(2,), sync="manual")
    def of_a(C):
        sl.load(sl.alloc((64, 64), sl.bf16), a=True, rank=1)

    with pytest.raises(
        TraceError, match="is loaded with a rank; expected an accumulator of a tile"
    ):
        of_array.mlir(sl.f32)
    with pytest.raises(TraceError, match="an A is loaded with a rank; expected an accumulator"):
        of_a.mlir(sl.f32)
