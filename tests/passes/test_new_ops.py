"""Passes handle an unknown op by the effects that its class declares."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import kernel, matrix, module, tile

SCRIPT = Path(__file__).parents[1] / "support" / "new_ops.py"
CHECK, ALLOCATE, ASSIGN = "smem-check-async", "smem-allocate", "smem-assign-layouts"

FORCED = tile(64, 64, layout='#smem.swizzle<"128B", "row-major">')
ALLOC = f'"smem.alloc"() : () -> {FORCED}'
COPY = f'"smem.copy"(%A, %t) : ({matrix(64, 64)}, {FORCED}) -> ()'
PEEK = f'"smem.peek"(%t) : ({FORCED}) -> ()'
FETCH = PEEK.replace("peek", "fetch")
SETTLE = '"smem.settle"() : () -> ()'
FENCE = '"smem.fence"() : () -> ()'


def lines(*ops, tile="t"):
    """Return ops on the tile of that name, one on each line."""
    return "\n".join(op.replace("%t", f"%{tile}") for op in ops)


@pytest.fixture(scope="module")
def run_passes():
    """Run passes on the body of a kernel; return their messages and the module after them."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def run(body, *passes):
            text = module(kernel(body, arguments=f"%A: {matrix(64, 64)}"))
            print(json.dumps([passes, text.replace("i32: 128", "i32: 256")]), file=process.stdin)
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run


@pytest.fixture
def messages_of(run_passes):
    """Return the messages of `smem-check-async` on ops on a tile."""
    return lambda *ops: run_passes(lines(f"%t = {ALLOC}", *ops), CHECK)[0]


@pytest.mark.parametrize(
    "ops",
    [
        (COPY, "gpu.barrier", PEEK, "gpu.barrier", COPY),
        (COPY, SETTLE, PEEK, SETTLE, COPY),
        (COPY, SETTLE, FETCH, SETTLE, COPY),
        (COPY, FENCE, "gpu.barrier", FETCH),
    ],
)
def test_accesses_in_order_have_no_message(messages_of, ops):
    assert messages_of(*ops) == []


@pytest.mark.parametrize(
    "ops, verb, needs",
    [
        ((COPY, PEEK), "reads", "gpu.barrier"),
        ((COPY, FETCH), "reads", "smem.fence and gpu.barrier"),
        ((COPY, "gpu.barrier", FETCH), "reads", "smem.fence"),
        ((COPY, SETTLE, PEEK, COPY), "overwrites", "gpu.barrier"),
        ((COPY, SETTLE, FETCH, COPY), "overwrites", "smem.wait with pending = 0 and gpu.barrier"),
    ],
)
def test_accesses_out_of_order_are_found(messages_of, ops, verb, needs):
    (message,) = messages_of(*ops)
    assert message.startswith(f"{verb} the smem.alloc at")
    assert message.endswith(f"is over; put {needs} between them")


def test_reads_of_an_op_with_a_region_are_reported_as_unknown(messages_of):
    guard = f'"smem.guard"(%t) ({{ ^bb0: }}) : ({FORCED}) -> ()'
    (message,) = messages_of(COPY, guard)
    assert message.endswith("in order: how it executes its regions is not known")


def test_reads_of_an_unknown_way_are_reported_as_unknown(messages_of):
    (message,) = messages_of(COPY, "gpu.barrier", PEEK.replace("peek", "stream"))
    assert message.endswith("in order: it accesses tiles in a way that is not followed")


PIPELINE = (
    '%r = "smem.create_pipeline"() {consumers = 1 : i32, producers = 1 : i32, stages = 1 : i32} : () -> '
    "!smem.pipeline"
)


def partition(*ops):
    """Return a partition of one warpgroup."""
    return f'"smem.partition"() ({{ ^bb0: {lines(*ops)} }}) {{warpgroups = 1 : i32}} : () -> ()'


def elect(*ops):
    return f'"smem.elect"() ({{ {lines(*ops)} }}) {{scope = "warpgroup"}} : () -> ()'


@pytest.mark.parametrize(
    "ops, message",
    [
        ((COPY, PEEK), "smem.warpgroup_barrier between them"),
        ((COPY, "gpu.barrier", FETCH), "smem.fence between them"),
        (
            (COPY, "gpu.barrier", elect(PEEK)),
            "one thread executes it, but whole warpgroups must",
        ),
        (
            (COPY, "gpu.barrier", elect(PEEK.replace("peek", "peek_alone"))),
            "reads and writes by one elected thread itself are not followed",
        ),
        ((COPY, SETTLE, PEEK, SETTLE, COPY, SETTLE, FETCH, SETTLE), None),
    ],
)
def test_new_ops_are_checked_in_kernels_with_pipelines(messages_of, ops, message):
    messages = messages_of(PIPELINE, *ops)
    assert [message in text for text in messages] == ([] if message is None else [True])


ADD = f'"smem.bulk_add"(%t) : ({FORCED}) -> ()'
COMMIT = '"smem.tma_commit"() : () -> ()'
DONE = '"smem.tma_wait"() {pending = 0 : i32, read} : () -> ()'


@pytest.mark.parametrize(
    "ops, missing",
    [
        ((COPY, FENCE, "gpu.barrier", elect(ADD, COMMIT, DONE), "gpu.barrier", COPY), None),
        ((COPY, "gpu.barrier", elect(ADD, COMMIT, DONE), "gpu.barrier", COPY), "smem.fence"),
        ((COPY, FENCE, "gpu.barrier", elect(ADD, COMMIT), "gpu.barrier", COPY), "smem.tma_wait"),
        ((COPY, FENCE, "gpu.barrier", elect(ADD, COMMIT, DONE), COPY), "gpu.barrier"),
    ],
)
def test_a_bulk_reduction_is_proven_or_refused(messages_of, ops, missing):
    messages = messages_of(*ops)
    assert [f"put {missing}" in message for message in messages] == (
        [] if missing is None else [True]
    )


def test_a_bulk_reduction_is_put_in_order(run_passes):
    ops = lines(f"%t = {ALLOC}", COPY, elect(ADD), COPY)
    messages, text = run_passes(ops, "smem-insert-sync", CHECK)
    assert messages == []
    order = re.findall(r"smem\.(copy|fence|bulk_add|tma_commit|tma_wait)|(gpu\.barrier)", text)
    assert ["".join(names) for names in order] == [
        *(
            "copy",
            "fence",
            "gpu.barrier",
            "bulk_add",
            "tma_commit",
            "tma_wait",
            "gpu.barrier",
            "copy",
        ),
    ]


def test_an_access_of_all_threads_is_an_error_in_a_partition(messages_of):
    together = partition(PEEK.replace("peek", "peek_together"))
    partitions = f'"smem.warp_specialize"() ({{ {partition()} {together} }}) : () -> ()'
    (message,) = messages_of(COPY, SETTLE, partitions)
    assert message == (
        "is executed by 1 of the CTA's warpgroups, but all threads of the CTA share it; put it "
        "before the smem.warp_specialize"
    )


@pytest.mark.parametrize("late, shared", [(False, True), (True, False)])
def test_the_tile_of_a_new_op_is_live_until_its_access_is_complete(run_passes, late, shared):
    first, second = (lines(COPY, "gpu.barrier", tile=tile) for tile in "ab")
    peek = lines(PEEK, tile="a")
    middle = ["gpu.barrier", second, peek] if late else [peek, "gpu.barrier", second]
    body = lines(f"%a = {ALLOC}", f"%b = {ALLOC}", first, *middle, lines(PEEK, tile="b"))
    messages, text = run_passes(body, ALLOCATE)
    assert messages == []
    offsets = re.findall(r"offset = (\d+)", text)
    assert len(offsets) == 2
    assert (offsets[0] == offsets[1]) == shared


def test_the_tile_of_a_new_op_gets_a_layout_that_it_accepts(run_passes):
    body = lines(f"%t = {ALLOC}", COPY, "gpu.barrier", PEEK).replace(FORCED, tile(64, 64))
    messages, text = run_passes(body, ASSIGN)
    assert "#smem.auto" not in text
    assert "the peek at" in "".join(messages)


def test_a_tile_of_an_op_without_a_use_has_no_layout(run_passes):
    body = lines(f"%t = {ALLOC}", COPY, FETCH).replace(FORCED, tile(64, 64))
    (message,), _ = run_passes(body, ASSIGN)
    assert "is used by 'smem.fetch'" in message
    assert "from which no layout follows" in message
