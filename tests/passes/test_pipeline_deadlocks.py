"""Pipelines that connect partitions in circles, against runs: a proven program never deadlocks."""

import re
from dataclasses import dataclass

from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_check_async import messages_of

#: The numbers of iterations of runs.
TRIPS = range(6)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline: the partitions that fill and read it, and whether index 0 is filled before the loop."""

    producer: int
    consumer: int
    stages: int
    early: bool


@dataclass(frozen=True)
class Partition:
    """What a partition does in each iteration: ("wait" or "arrive", the pipeline's number), in order."""

    body: tuple[tuple[str, int], ...]


def actions(partition, number, pipelines, trips):
    """Yield all actions of a partition: ("wait" or "arrive", pipeline, pipeline index)."""

    def first(action, pipeline):
        # A producer commits index 0 before the loop; a consumer waits for it there.
        waits_early = pipelines[pipeline].early and (
            action == "wait" or pipelines[pipeline].producer == number
        )
        return int(waits_early)

    for action, pipeline in partition.body:
        if first(action, pipeline):
            yield action, pipeline, 0
    for i in range(trips):
        for action, pipeline in partition.body:
            yield action, pipeline, i + first(action, pipeline)
    for action, pipeline in partition.body:
        if pipelines[pipeline].early and not first(action, pipeline):
            yield action, pipeline, trips


def deadlocks(partitions, pipelines, trips):
    """Whether a run reaches a point where no partition can continue."""
    left = [list(actions(partition, i, pipelines, trips)) for i, partition in enumerate(partitions)]
    return get_stuck(left, pipelines)


def get_stuck(left, pipelines):
    """Whether partitions cannot execute all of their actions."""
    committed, released = [0] * len(pipelines), [0] * len(pipelines)
    progress = True
    while progress and any(left):
        progress = False
        for number, todo in enumerate(left):
            while todo:
                action, pipeline, index = todo[0]
                produces = pipelines[pipeline].producer == number
                if action == "arrive":
                    (committed if produces else released)[pipeline] = index + 1
                elif index >= (
                    released[pipeline] + pipelines[pipeline].stages
                    if produces
                    else committed[pipeline]
                ):
                    break
                todo.pop(0)
                progress = True
    return any(left)


def text_of(partitions, pipelines):
    lines = [
        f'%pipeline{i} = "smem.create_pipeline"() {{stages = {pipeline.stages} : i32, '
        "producers = 128 : i32, consumers = 1 : i32} : () -> !smem.pipeline"
        for i, pipeline in enumerate(pipelines)
    ]
    lines.append('"smem.warp_specialize"() ({')
    for number, partition in enumerate(partitions):
        lines.append('"smem.partition"() ({')
        before = list(actions(partition, number, pipelines, 0))
        early = [s for s in before if s[0] == "wait" or pipelines[s[1]].producer == number]
        lines += [op(number, pipelines, action, pipeline, "%c0") for action, pipeline, _ in early]
        lines.append("scf.for %i = %c0 to %n step %c1 {")
        lines.append("%j = arith.addi %i, %c1 : index")
        for action, pipeline in partition.body:
            ahead = (action, pipeline, 0) in early
            lines.append(op(number, pipelines, action, pipeline, "%j" if ahead else "%i"))
        lines.append("}")
        lines += [op(number, pipelines, *s[:2], "%n") for s in before if s not in early]
        lines.append("}) {warpgroups = 1 : i32} : () -> ()")
    lines.append("}) : () -> ()")
    body, threads = "\n".join(lines), 128 * len(partitions)
    return f"""func.func @f(%n: index) attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {body}
      return }}"""


def op(number, pipelines, action, pipeline, index):
    produces = pipelines[pipeline].producer == number
    waits = "producer_acquire" if produces else "consumer_wait"
    arrives = "producer_commit" if produces else "consumer_release"
    if action == "wait":
        return f'"smem.{waits}"(%pipeline{pipeline}, {index}) : (!smem.pipeline, index) -> index'
    return f'"smem.{arrives}"(%pipeline{pipeline}, {index}) : (!smem.pipeline, index) -> ()'


@st.composite
def programs(draw):
    count = draw(st.integers(2, 3))
    ends = st.permutations(range(count)).map(lambda p: p[:2])
    pipelines = [
        Pipeline(*draw(ends), draw(st.integers(1, 3)), draw(st.booleans()))
        for _ in range(draw(st.integers(2, 4)))
    ]
    partitions = []
    for number in range(count):
        connected = [
            i
            for i, pipeline in enumerate(pipelines)
            if number in (pipeline.producer, pipeline.consumer)
        ]
        order = draw(st.permutations([i for i in connected for _ in range(2)]))
        seen, body = set(), []
        for pipeline in order:
            body.append(("arrive" if pipeline in seen else "wait", pipeline))
            seen.add(pipeline)
        partitions.append(Partition(tuple(body)))
    return tuple(partitions), tuple(pipelines)


@settings(max_examples=150)
@given(programs())
def test_a_proven_program_never_deadlocks(program):
    partitions, pipelines = program
    messages = messages_of(text_of(partitions, pipelines))
    hangs = any(deadlocks(partitions, pipelines, trips) for trips in TRIPS)
    event(f"{'not proven or wrong' if messages else 'proven'}, {'deadlocks' if hangs else 'runs'}")
    if not messages:
        assert not hangs


#: Two pipelines from one partition to another, taken in these orders.
SAME = Partition((("wait", 0), ("arrive", 0), ("wait", 1), ("arrive", 1)))
SWAPPED = Partition((("wait", 1), ("arrive", 1), ("wait", 0), ("arrive", 0)))
FORWARD = (Pipeline(0, 1, 2, False), Pipeline(0, 1, 2, False))


def test_the_same_order_is_proven():
    assert messages_of(text_of((SAME, SAME), FORWARD)) == []


def test_another_order_is_proven_because_nothing_is_held():
    assert messages_of(text_of((SAME, SWAPPED), FORWARD)) == []


def test_a_request_and_a_reply_are_proven():
    # The first partition commits, then waits for the second one, which waits and then commits.
    requests = Partition((("wait", 0), ("arrive", 0), ("wait", 1), ("arrive", 1)))
    replies = Partition((("wait", 0), ("arrive", 0), ("wait", 1), ("arrive", 1)))
    pipelines = (Pipeline(0, 1, 1, False), Pipeline(1, 0, 1, False))
    assert not any(deadlocks((requests, replies), pipelines, n) for n in TRIPS)
    assert messages_of(text_of((requests, replies), pipelines)) == []


def test_partitions_that_first_wait_for_each_other_are_not_proven():
    requests = Partition((("wait", 1), ("arrive", 1), ("wait", 0), ("arrive", 0)))
    replies = Partition((("wait", 0), ("arrive", 0), ("wait", 1), ("arrive", 1)))
    pipelines = (Pipeline(0, 1, 1, False), Pipeline(1, 0, 1, False))
    assert deadlocks((requests, replies), pipelines, 1)
    (message,) = messages_of(text_of((requests, replies), pipelines))
    place = r"the smem\.partition at \d+:\d+"
    wait = (
        rf"{place} waits at the smem\.consumer_wait at \d+:\d+ for index 0 of the [^;]*, "
        rf"which {place} commits later"
    )
    runs = "where argument [0-9] is 1 or more"
    assert re.fullmatch(rf".*partitions may deadlock: {wait}; {wait}; {runs}", message)
