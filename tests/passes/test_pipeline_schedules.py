"""Partitions whose pipelines have several rates, against runs: what is proven never deadlocks."""

import random
from dataclasses import dataclass
from itertools import product

import pytest
from test_check_async import messages_of
from test_pipeline_deadlocks import get_stuck, op

#: The numbers of iterations of runs, of the outer loop and of the one in it.
TRIPS = (0, 1, 2, 3, 5)

#: Where a partition does something: before its loops, in an iteration of the outer loop before the inner
#: one, in one of the inner loop, in the outer one behind it, behind the loops.
BEFORE, FIRST, INNER, LAST, AFTER = range(5)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline: the partitions that fill and read it, and how many indices are taken in each place."""

    producer: int
    consumer: int
    stages: int
    counts: tuple[tuple[int, ...], tuple[int, ...]]


def actions(order, n, m):
    """Yield what a partition does in a run, with the pipeline index of each."""
    taken = {}

    def steps_of(place):
        for action, pipeline in order[place]:
            index = taken.get((action, pipeline), 0)
            taken[action, pipeline] = index + 1
            yield action, pipeline, index

    yield from steps_of(BEFORE)
    for _ in range(n):
        yield from steps_of(FIRST)
        for _ in range(m):
            yield from steps_of(INNER)
        yield from steps_of(LAST)
    yield from steps_of(AFTER)


def deadlocks(orders, pipelines, n, m):
    """Whether a run reaches a point where no partition can continue."""
    return get_stuck([list(actions(order, n, m)) for order in orders], pipelines)


def text_of(orders, pipelines):
    lines = [
        f'%pipeline{i} = "smem.create_pipeline"() {{stages = {pipeline.stages} : i32, '
        "producers = 128 : i32, consumers = 1 : i32} : () -> !smem.pipeline"
        for i, pipeline in enumerate(pipelines)
    ]
    lines.append('"smem.warp_specialize"() ({')
    for number, order in enumerate(orders):
        lines += ['"smem.partition"() ({', *body_of(number, order, pipelines)]
        lines.append("}) {warpgroups = 1 : i32} : () -> ()")
    lines.append("}) : () -> ()")
    body, threads = "\n".join(lines), 128 * len(orders)
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(8))
    return f"""func.func @f(%g: memref<?x?xf32>)
        attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      {constants}
      %n = memref.dim %g, %c0 : memref<?x?xf32>
      %m = memref.dim %g, %c1 : memref<?x?xf32>
      {body}
      return }}"""


def body_of(number, order, pipelines):
    """Yield the lines of a partition. Each pipeline index is n * (first + m * inner + last) and so on."""
    kinds = sorted({kind for place in order for kind in place})
    name = {kind: f"{kind[0]}{kind[1]}" for kind in kinds}
    count = {kind: [place.count(kind) for place in order] for kind in kinds}
    for kind in kinds:
        here = name[kind]
        yield f"%{here}_inner = arith.muli %m, %c{count[kind][INNER]} : index"
        outer = count[kind][FIRST] + count[kind][LAST]
        yield f"%{here}_round = arith.addi %{here}_inner, %c{outer} : index"
        yield f"%{here}_rounds = arith.muli %n, %{here}_round : index"

    def block(place, start):
        done = dict.fromkeys(kinds, 0)
        for step, kind in enumerate(order[place]):
            index = f"%{name[kind]}_{place}_{step}"
            yield f"{index} = arith.addi {start[kind]}, %c{done[kind]} : index"
            done[kind] += 1
            yield op(number, pipelines, *kind, index)

    def shift(label, start, by):
        names = {}
        for kind in kinds:
            names[kind] = f"%{name[kind]}_at_{label}"
            yield f"{names[kind]} = arith.addi {start[kind]}, {by(kind)} : index"
        return names

    yield from block(BEFORE, dict.fromkeys(kinds, "%c0"))
    yield "scf.for %i = %c0 to %n step %c1 {"
    for kind in kinds:
        yield f"%{name[kind]}_i = arith.muli %i, %{name[kind]}_round : index"
    start = {kind: f"%{name[kind]}_i" for kind in kinds}
    start = yield from shift("outer", start, lambda kind: f"%c{count[kind][BEFORE]}")
    yield from block(FIRST, start)
    behind = yield from shift("first", start, lambda kind: f"%c{count[kind][FIRST]}")
    yield "scf.for %j = %c0 to %m step %c1 {"
    for kind in kinds:
        yield f"%{name[kind]}_j = arith.muli %j, %c{count[kind][INNER]} : index"
    yield from block(INNER, (yield from shift("inner", behind, lambda kind: f"%{name[kind]}_j")))
    yield "}"
    yield from block(LAST, (yield from shift("last", behind, lambda kind: f"%{name[kind]}_inner")))
    yield "}"
    start = {kind: f"%{name[kind]}_rounds" for kind in kinds}
    yield from block(
        AFTER, (yield from shift("after", start, lambda kind: f"%c{count[kind][BEFORE]}"))
    )


def random_program(seed):
    """Return the orders of partitions, and the pipelines."""
    draw = random.Random(seed)
    count = draw.randint(2, 3)
    pipelines = []
    for _ in range(draw.randint(2, 3)):
        outside = draw.randint(0, 1)
        inside = draw.randint(0, 1)
        inner = draw.randint(0, 1)
        sides = []
        for _ in range(2):
            before, first = draw.randint(0, outside), draw.randint(0, inside)
            sides.append((before, first, inner, inside - first, outside - before))
        pipelines.append(Pipeline(*draw.sample(range(count), 2), draw.randint(1, 3), tuple(sides)))
    orders = []
    for number in range(count):
        places = []
        for place in range(5):
            taken = []
            for i, pipeline in enumerate(pipelines):
                if number in (pipeline.producer, pipeline.consumer):
                    taken += [i] * pipeline.counts[number == pipeline.consumer][place]
            todo = draw.sample(taken * 2, len(taken) * 2)
            seen, order = [], []
            for i in todo:
                order.append(("arrive" if i in seen else "wait", i))
                seen.append(i)
            places.append(tuple(order))
        orders.append(tuple(places))
    return tuple(orders), tuple(pipelines)


def outcome(seed):
    orders, pipelines = random_program(seed)
    messages = messages_of(text_of(orders, pipelines))
    hangs = [nm for nm in product(TRIPS, TRIPS) if deadlocks(orders, pipelines, *nm)]
    return messages, hangs


@pytest.mark.parametrize("seed", range(15))
def test_what_is_proven_never_deadlocks(seed):
    messages, hangs = outcome(seed)
    assert messages or not hangs


def test_most_of_what_never_deadlocks_is_proven():
    right = [messages for messages, hangs in map(outcome, range(15, 35)) if not hangs]
    assert len(right) > 8
    assert sum(not messages for messages in right) > len(right) * 0.6
