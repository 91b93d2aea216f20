"""`sl.print`: what a kernel prints while it runs, by whom, and in which order."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import mlir_smem.language as sl

ARRAY = np.arange(4096, dtype=np.float32).reshape(64, 64) / 8


def lines_of(capsys, function, *arguments, grid=1, warpgroups=1, signature="(64,64)", arch=None):
    """Return the lines that a kernel prints on the emulator."""
    kernel = sl.kernel(signature, warpgroups=warpgroups)(function)
    kernel[grid](*(arguments or (ARRAY,)), on="cpu", arch=arch)
    return capsys.readouterr().out.splitlines()


def refusal(function):
    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(64,64)")(function).mlir(sl.f32)
    return caught.value.message


def test_uniform_values_are_printed_once_a_block(capsys):
    def kernel(A):
        for k in sl.range(sl.block_id(0) + 1):
            sl.print("100% k", k, k == 1, A[0, 3], 2.5, "text")

    assert lines_of(capsys, kernel, grid=2) == [
        "pid (0, 0, 0) thread 0 100% k: 0 0 0.375 2.5 text",
        "pid (1, 0, 0) thread 0 100% k: 0 0 0.375 2.5 text",
        "pid (1, 0, 0) thread 0 100% k: 1 1 0.375 2.5 text",
    ]


def test_each_warpgroup_prints_its_own(capsys):
    def kernel(A):
        sl.print("warpgroup", sl.warpgroup_id())

    lines = lines_of(capsys, kernel, warpgroups=2)
    assert lines == [f"pid (0, 0, 0) thread {128 * w} warpgroup: {w}" for w in (0, 1)]


def test_values_that_differ_by_thread_are_printed_by_each(capsys):
    def kernel(A):
        thread = sl.thread_id()
        sl.print("x", A[thread // 64, thread % 64])

    lines = lines_of(capsys, kernel)
    assert lines == [f"pid (0, 0, 0) thread {t} x: {t / 8:g}" for t in range(128)]


def test_a_carried_value_that_differs_by_thread_is_printed_by_each(capsys):
    def kernel(A):
        position = sl.block_id(0)
        for _ in sl.range(sl.block_id(0) + 2):
            sl.print("position", position)
            position = position + sl.thread_id()

    assert len(lines_of(capsys, kernel)) == 2 * 128


@pytest.mark.parametrize("thread", [0, 5, 127])
def test_a_thread_in_a_branch_prints(capsys, thread):
    def kernel(A):
        if sl.thread_id() == thread:
            sl.print("here")

    assert lines_of(capsys, kernel) == [f"pid (0, 0, 0) thread {thread} here:"]


def test_the_elected_thread_prints(capsys):
    def kernel(A):
        with sl.elect():
            sl.print("elected", 1)

    assert len(lines_of(capsys, kernel)) == 1


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_each_element_is_printed_once_with_its_position(capsys, arch):
    def kernel(A):
        x = sl.load(A[:, :])
        sl.print("x", x, x.max(axis=1), x < 1.0)

    lines = lines_of(capsys, kernel, arch=arch)
    elements = {}
    for line in lines:
        row, column, *values = re.fullmatch(
            r"pid \(0, 0, 0\) thread \d+ \((\d+), (\d+)\) x: (\S+) (\S+) ([01])", line
        ).groups()
        elements[int(row), int(column)] = [float(value) for value in values]
    assert len(lines) == len(elements) == 4096
    for (row, column), (x, largest, is_less) in elements.items():
        assert (x, largest) == (ARRAY[row, column], ARRAY[row, 63])
        assert is_less == (x < 1)


@pytest.mark.parametrize("axis, name", [(1, "rows"), (0, "columns")])
def test_each_element_of_a_slice_is_printed_once(capsys, axis, name):
    def kernel(A):
        sl.print(name, sl.load(A[:, :]).max(axis=axis))

    lines = lines_of(capsys, kernel)
    expected = [f"({i}) {name}: {x:.8g}" for i, x in enumerate(ARRAY.max(axis=axis))]
    assert sorted(line.partition("thread ")[2].split(" ", 1)[1] for line in lines) == sorted(
        expected
    )


def test_types_of_elements(capsys):
    def kernel(i, h, d, b):
        sl.print("numbers", i, h, d, b, -sl.block_id(0) - 1)

    arguments = (np.int32(-7), np.float16(0.1), np.float64(0.1), True)
    (line,) = lines_of(capsys, kernel, *arguments, signature="(), (), (), ()")
    assert line.endswith("numbers: -7 0.099975586 0.1 1 -1")


def test_a_print_is_an_effect_in_order(capsys):
    def kernel(A):
        x = sl.load(A[:, :])[:, 0:8]
        sl.print("before", 1)
        sl.print("x", x)
        sl.print("after", 2)

    lines = lines_of(capsys, kernel)
    assert "before" in lines[0] and "after" in lines[-1] and len(lines) == 2 + 64 * 8


def test_code_of_a_gpu_calls_vprintf():
    @sl.kernel("(64,64)")
    def kernel(A):
        sl.print("k", sl.block_id(0))
        sl.print("row", sl.load(A[:, :]).max(axis=1))

    ptx = kernel.ptx(sl.f32)
    assert ptx.count("vprintf, ") == 3
    assert kernel.check(sl.f32) == ()


def test_a_discarded_body_prints_once(capsys):
    """A loop's body that changes an attribute is traced twice."""

    def kernel(A):
        state = SimpleNamespace(index=sl.block_id(0))
        for k in sl.range(sl.block_id(0) + 2):
            state.index = state.index + k
            sl.print("index", state.index)

    assert [line[-1] for line in lines_of(capsys, kernel)] == ["0", "1"]


def test_python_prints_traced_values_shortly(capsys):
    @sl.kernel("(M,64)")
    def kernel(A):
        x = sl.load(A[0:64, :])
        values = [A, A[0:64, 0:32], x, x + 1.0, x.max(axis=1), A.shape[0], A.shape[0] == 1, A[0, 0]]
        print(*values, sl.alloc((64, 64), sl.bf16), sep="\n")

    kernel.mlir(sl.f32)
    assert capsys.readouterr().out.splitlines() == [
        "<the array A (M, 64) of f32>",
        "<a window 64x32 of the array A (M, 64) of f32>",
        "<a fragment 64x64 of f32>",
        "<a fragment 64x64 of f32>",
        "<a slice of 64 rows of f32>",
        "<an index>",
        "<a condition>",
        "<a number of f32>",
        "<a tile 64x64 of bf16>",
    ]


def test_what_is_refused():
    def no_text(A):
        sl.print(A[0, 0])

    def a_tile(A):
        sl.print("tile", sl.alloc((64, 64), sl.bf16))

    def a_window(A):
        sl.print("window", A[:, :])

    def positions(A):
        sl.print("rows", sl.iota(0))

    def many(A):
        sl.print("many", *[sl.block_id(0)] * 29)

    assert (
        refusal(no_text)
        == 'sl.print begins with a text, as in sl.print("x", x), not <a number of f32>'
    )
    assert refusal(a_tile) == (
        "a tile 64x64 of bf16 is printed; expected fragments and numbers, such as sl.load of it"
    )
    assert refusal(a_window).startswith("a window 64x64 of the array A (64, 64) of f32 is printed")
    assert "has no shape; use it with a fragment" in refusal(positions)
    assert refusal(many) == "sl.print has 33 numbers, with the block's; a GPU prints 32"
