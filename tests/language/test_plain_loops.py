"""Plain loops that get stages and producers: results on the emulator, proofs, what is said."""

import numpy as np
import plain_loops
import pytest
from plain_loops import (
    blocks,
    causal_attention,
    gather_blocks,
    largest_of_columns,
    operands,
    persistent,
    product,
    product_of_blocks,
    product_through_a_tile,
    squared_operand,
    whole_tiles,
)

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError


def remarks_of(kernel, *types):
    words = ("has ", "stays ", "is not specialized", "does not load", "the last", "the product")
    return [r.message for r in kernel.explain(*types) if r.message.startswith(words)]


@pytest.mark.parametrize("options", [{}, {"copies": "tma"}, {"specialize": True}])
@pytest.mark.parametrize("stages", [2, 3, 5])
def test_products_of_all_lengths(stages, options):
    kernel = product(stages, bn=24, bk=16, **options)
    assert kernel.check("bf16", "bf16", "f32") == ()
    for k in (8, 16, 120):
        a, b, c, expected = operands(66, 24, k)
        kernel(a, b, c, on="cpu")
        np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("begin, end", [(4, 4), (0, 1), (1, 6), (2, 11)])
def test_gathered_blocks(begin, end):
    a, b, c, _ = operands(64, 64, 128)
    numbers, taken = blocks(begin, end)
    gather_blocks(4)[1](a, b, numbers, c, on="cpu")
    expected = product_of_blocks(a, b, taken)
    np.testing.assert_array_equal(c, expected)


def test_two_consumers_divide_rows_of_a_chain_of_products():
    """Positions of a mask, rows of a slice and of the result are those of all consumers."""
    assert causal_attention.check(*["bf16"] * 3, "f32", "f32") == ()
    assert remarks_of(causal_attention, *["bf16"] * 3, "f32", "f32") == [
        "has a producer, and 2 warpgroups of consumers, with 4 stages",
        "the last of 2 products of an iteration runs while the next one begins",
    ]
    for keys in (8, 40, 100):
        *arguments, o, expected = plain_loops.attention_operands(160, keys)
        causal_attention(*arguments, o, on="cpu")
        np.testing.assert_array_equal(o, expected)


def test_a_product_runs_beside_the_next_operand():
    types = ("bf16", "bf16", "i32", "f32")
    assert remarks_of(squared_operand, *types) == [
        "has a producer, and a warpgroup of consumers, with 4 stages",
        "the product of an iteration runs while the next one begins",
    ]
    a, b, c, _ = operands(66, 64, 96)
    for steps in (-1, 0, 1, 3):
        squared_operand(a, b, np.full(1, steps, np.int32), c, on="cpu")
        k = 32 * max(steps, 0)
        expected = a[:, :k].astype(np.float32) ** 2 @ b[:k].astype(np.float32)
        np.testing.assert_array_equal(c, expected)


def test_the_pipeline_runs_on_from_tile_to_tile():
    assert persistent.check("bf16", "bf16", "f32") == ()
    assert remarks_of(persistent, "bf16", "bf16", "f32") == [
        "has a producer, a store warp, and a warpgroup of consumers, with 3 stages"
    ]
    a, b, c, expected = operands(128, 96, 80)
    persistent[2](a, b, c, on="cpu")
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_tma_stores_whole_lines(dtype):
    """Two consumers store 64 and 32 columns of 16 bits, or three times 32 of 32 bits."""
    element = np.dtype(dtype).name
    assert whole_tiles.check("bf16", "bf16", element) == ()
    nvvm = str(whole_tiles.compile("bf16", "bf16", element, emit="nvvm").nvvm)
    assert "bulk.tensor.global.shared.cta" in nvvm
    a, b, c, expected = operands(128, 192, 64)
    c = c.astype(dtype)
    whole_tiles(a, b, c, on="cpu")
    np.testing.assert_array_equal(c, expected)


def test_consumers_divide_columns():
    """A mask's positions, largest elements and what a store warp stores are those of both consumers."""
    types = ("bf16", "bf16", "f32", "f32")
    assert remarks_of(largest_of_columns, *types) == [
        "has a producer, a store warp, and 2 warpgroups of consumers, with 3 stages"
    ]
    a, b, _, sums = operands(64, 128, 48)
    expected = np.tril(sums)
    c, largest = np.zeros((2, 64, 128), np.float32), np.zeros(128, np.float32)
    largest_of_columns[1](a, np.ascontiguousarray(b.T), c, largest, on="cpu")
    np.testing.assert_array_equal(c, np.stack([expected] * 2))
    np.testing.assert_array_equal(largest, expected.max(0))


@pytest.mark.parametrize(
    "options, fitting",
    [
        # The epilogue has the bytes of a stage.
        ({}, 14),
        # In a pipeline it has bytes of its own.
        ({"copies": "tma"}, 13),
        ({"specialize": True}, 13),
    ],
)
def test_an_epilogue_takes_a_tile_of_the_loop(options, fitting):
    first, *_ = remarks_of(product_through_a_tile(stages=15, **options), *["bf16"] * 3)
    assert first.endswith(f"and a CTA has 232448; {fitting} would fit")
    kernel = product_through_a_tile(stages=3, **options)
    assert kernel.check(*["bf16"] * 3) == ()
    for k in (64, 320):
        a, b, c, expected = operands(64, 64, k)
        c = c.astype(a.dtype)
        kernel[1](a, b, c, on="cpu")
        np.testing.assert_array_equal(c, expected.astype(a.dtype))


def test_tma_loads_if_it_can():
    by_tma = "has 2 stages of 2048 + 2048 bytes, and loads 1 iteration ahead by TMA"
    assert remarks_of(product(2, bk=16, copies="auto"), "bf16", "bf16", "f32") == [by_tma]


def test_what_is_refused_is_said_once_and_computes():
    @sl.kernel("(M,64), (M,64)")
    def kernel(A, C):
        a = sl.alloc((64, 64), A.dtype)
        acc = sl.zeros((64, 64), sl.f32)
        for i in sl.range(A.shape[0] // 64, specialize=True):
            if i > 0:
                sl.copy(A[sl.ds(i * 64, 64), :], a)
                acc = sl.mma(a, a.T, acc)
        sl.store(acc, C[0:64, :])

    refused, stays = remarks_of(kernel, "bf16", "f32")
    assert "is not specialized: the smem.copy" in refused
    assert "stays as it was: the smem.copy" in stays
    assert "copy in each iteration" in stays
    a = np.eye(128, 64).astype(np.float16)
    c = np.zeros((128, 64), np.float32)
    kernel[1](a, c, on="cpu")
    assert not c[:64].any()


@pytest.mark.parametrize(
    "options, sync, message",
    [
        ({"stages": -1}, "auto", "has stages=-1; expected a number of stages, 0 for all that fit"),
        ({"stages": 2.0}, "auto", "has stages=2.0; expected a number of stages"),
        ({"stages": 4}, "manual", 'in a kernel with sync="manual", whose waits are its own'),
        ({"specialize": True}, "manual", 'in a kernel with sync="manual"'),
        (
            {"copies": "bulk", "stages": 2},
            "auto",
            'has copies=\'bulk\'; expected "cp-async", "tma"',
        ),
        ({"copies": "tma"}, "auto", "has copies='tma' without stages; give the loop stages"),
        ({"overlap": -1}, "auto", "has overlap=-1; expected a number of products, 0 for none"),
        ({"overlap": True}, "auto", "has overlap=True; expected a number of products, 0 for none"),
        ({"overlap": 1}, "manual", 'has overlap=1 in a kernel with sync="manual", whose waits'),
    ],
)
def test_options_that_a_loop_cannot_have(options, sync, message):
    @sl.kernel("(M,64)", sync=sync)
    def kernel(A):
        for _ in sl.range(A.shape[0], **options):
            pass

    with pytest.raises(TraceError, match=message):
        kernel.mlir("bf16")
