"""Pipelines that connect partitions in circles, against runs of the same program: what is proven never waits for
ever."""

from dataclasses import dataclass

from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_check_async import said_of

#: Iterations that runs have.
TRIPS = range(6)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline: who fills it and who reads it, and how many of its steps are done before the loop."""

    producer: int
    consumer: int
    stages: int
    early: bool


@dataclass(frozen=True)
class Role:
    """What a partition does in each iteration: (wait or hand on, the pipeline's number), in order."""

    body: tuple[tuple[str, int], ...]


def steps(partition, number, pipelines, trips):
    """What a partition does in all: (wait or hand on, pipeline, step)."""

    def first(action, pipeline):
        # A producer does step 0 before the loop; a consumer waits for it there.
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


def waits_for_ever(partitions, pipelines, trips):
    """Whether a run comes to where no partition can go on."""
    left = [list(steps(partition, i, pipelines, trips)) for i, partition in enumerate(partitions)]
    committed, released = [0] * len(pipelines), [0] * len(pipelines)
    going = True
    while going and any(left):
        going = False
        for number, todo in enumerate(left):
            while todo:
                action, pipeline, step = todo[0]
                produces = pipelines[pipeline].producer == number
                if action == "hand":
                    (committed if produces else released)[pipeline] = step + 1
                elif step >= (
                    released[pipeline] + pipelines[pipeline].stages
                    if produces
                    else committed[pipeline]
                ):
                    break
                todo.pop(0)
                going = True
    return any(left)


def text_of(partitions, pipelines):
    lines = [
        f'%r{i} = "smem.create_pipeline"() {{stages = {r.stages} : i32, producers = 128 : i32, '
        "consumers = 1 : i32} : () -> !smem.pipeline"
        for i, r in enumerate(pipelines)
    ]
    lines.append('"smem.warp_specialize"() ({')
    for number, partition in enumerate(partitions):
        lines.append('"smem.partition"() ({')
        before = list(steps(partition, number, pipelines, 0))
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


def op(number, pipelines, action, pipeline, step):
    produces = pipelines[pipeline].producer == number
    waits = "producer_acquire" if produces else "consumer_wait"
    hands = "producer_commit" if produces else "consumer_release"
    if action == "wait":
        return f'"smem.{waits}"(%r{pipeline}, {step}) : (!smem.pipeline, index) -> index'
    return f'"smem.{hands}"(%r{pipeline}, {step}) : (!smem.pipeline, index) -> ()'


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
        own = [
            i
            for i, pipeline in enumerate(pipelines)
            if number in (pipeline.producer, pipeline.consumer)
        ]
        order = draw(st.permutations([i for i in own for _ in range(2)]))
        seen, body = set(), []
        for pipeline in order:
            body.append(("hand" if pipeline in seen else "wait", pipeline))
            seen.add(pipeline)
        partitions.append(Role(tuple(body)))
    return tuple(partitions), tuple(pipelines)


@settings(max_examples=150)
@given(programs())
def test_what_is_proven_never_waits_for_ever(program):
    partitions, pipelines = program
    said = said_of(text_of(partitions, pipelines))
    hangs = any(waits_for_ever(partitions, pipelines, trips) for trips in TRIPS)
    event(f"{'not proven or wrong' if said else 'proven'}, {'hangs' if hangs else 'runs'}")
    if not said:
        assert not hangs


#: Two pipelines of one stage from one partition to another, taken in these orders.
SAME = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
TWISTED = Role((("wait", 1), ("hand", 1), ("wait", 0), ("hand", 0)))
FORWARD = (Pipeline(0, 1, 2, False), Pipeline(0, 1, 2, False))


def test_the_same_order_is_proven():
    assert said_of(text_of((SAME, SAME), FORWARD)) == []


def test_another_order_is_proven_as_nothing_is_held():
    assert said_of(text_of((SAME, TWISTED), FORWARD)) == []


def test_a_partition_that_answers_another_is_proven():
    # The first partition gives a step and waits for the second's; the second waits, then gives its own.
    asks = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    answers = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    pipelines = (Pipeline(0, 1, 1, False), Pipeline(1, 0, 1, False))
    assert not any(waits_for_ever((asks, answers), pipelines, n) for n in TRIPS)
    assert said_of(text_of((asks, answers), pipelines)) == []


def test_partitions_that_wait_for_each_other_first_are_not_proven():
    asks = Role((("wait", 1), ("hand", 1), ("wait", 0), ("hand", 0)))
    answers = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    pipelines = (Pipeline(0, 1, 1, False), Pipeline(1, 0, 1, False))
    assert waits_for_ever((asks, answers), pipelines, 1)
    (said,) = said_of(text_of((asks, answers), pipelines))
    assert said.endswith("one of them waits before it has handed on what another needs to go on")
