"""Warpgroups that take indices of pipelines in turn, against runs: a proven program never deadlocks."""

from dataclasses import dataclass

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_check_async import messages_of

#: The warpgroups take turns at the tensor cores.
TURN = ("turn", 0, 0)

#: They wait for each other.
MEET = ("meet", 0, 0)

#: The numbers of iterations of runs.
TRIPS = range(5)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline that a partition of its own fills, and the warpgroups of another one read.

    Attributes:
        stages: how many it has.
        turns: who takes its indices: "parts", each warpgroup one in turn; "rows", each those of all parts
            in turn; "all", every warpgroup each of them.
        window: how many indices after one that is released the next one is committed, as by a thread that
            grants buffers; as many as there are stages if None.
    """

    stages: int
    turns: str
    window: int | None = None

    def index(self, trip, part, warpgroup, parts, warpgroups):
        """The index that a warpgroup takes; with text, its expression."""
        if self.turns == "parts":
            return (trip * parts + part) * warpgroups + warpgroup
        if self.turns == "rows":
            return (trip * warpgroups + warpgroup) * parts + part
        return trip * parts + part


@dataclass(frozen=True)
class Program:
    """What each warpgroup does in an iteration: ("wait" or "arrive", pipeline, part), in order; TURN, a
    turn of `smem.order_wait`, or MEET, a barrier of all of them."""

    body: tuple[tuple[str, int, int], ...]
    pipelines: tuple[Pipeline, ...]
    warpgroups: int
    parts: int

    def indices(self, pipeline, trips):
        """How many indices of a pipeline are taken."""
        taken = trips * self.parts
        return taken if pipeline.turns == "all" else taken * self.warpgroups


def deadlocks(program, trips):
    """Whether a run reaches a point where nobody can continue."""
    pipelines, parts, warpgroups = program.pipelines, program.parts, program.warpgroups
    remaining = [
        [
            (action, number, pipelines[number].index(trip, part, warpgroup, parts, warpgroups))
            for trip in range(trips)
            for action, number, part in program.body
        ]
        for warpgroup in range(warpgroups)
    ]
    committed = [0] * len(pipelines)
    released = [{} for _ in pipelines]
    turns = [0] * warpgroups
    # How often each has come to a barrier, and has passed one.
    came, met = [0] * warpgroups, [0] * warpgroups
    progress = True
    while progress:
        progress = False
        for number, pipeline in enumerate(pipelines):
            while committed[number] < program.indices(pipeline, trips):
                before = committed[number] - (pipeline.window or pipeline.stages)
                needed = warpgroups if pipeline.turns == "all" else 1
                if before >= 0 and released[number].get(before, 0) < needed:
                    break
                committed[number] += 1
                progress = True
        for warpgroup, todo in enumerate(remaining):
            while todo:
                action, number, index = todo[0]
                if action == "wait" and index >= committed[number]:
                    break
                if action == "turn":
                    # The one before has taken more turns, but the last one as many as the first.
                    if turns[warpgroup - 1] + (warpgroup == 0) <= turns[warpgroup]:
                        break
                    turns[warpgroup] += 1
                if action == "meet":
                    came[warpgroup] = met[warpgroup] + 1
                    if min(came) < came[warpgroup]:
                        break
                    met[warpgroup] += 1
                if action == "arrive":
                    released[number][index] = released[number].get(index, 0) + 1
                todo.pop(0)
                progress = True
    return any(remaining)


def text_of(program):
    parts, warpgroups, lines = program.parts, program.warpgroups, []
    for number, pipeline in enumerate(program.pipelines):
        consumers = warpgroups if pipeline.turns == "all" else 1
        lines.append(
            f'%pipeline{number} = "smem.create_pipeline"() {{stages = {pipeline.stages} : i32, '
            f"producers = 128 : i32, consumers = {consumers} : i32}} : () -> !smem.pipeline"
        )
    lines.append('"smem.warp_specialize"() ({')
    for number, pipeline in enumerate(program.pipelines):
        count = program.indices(pipeline, 1)
        early = "\n".join(
            f'"smem.producer_commit"(%pipeline{number}, %c{i}) : (!smem.pipeline, index) -> ()'
            for i in range(pipeline.window or 0)
        )
        lines.append(f""""smem.partition"() ({{
          {early}
          scf.for %i = %c0 to %n step %c1 {{
            %p = arith.muli %i, %c{count} : index""")
        for i in range(count):
            acquired, committed = (
                (i + pipeline.stages, i + pipeline.window) if pipeline.window else (i, i)
            )
            lines.append(f"""%a{i} = arith.addi %p, %c{acquired} : index
            %p{i} = arith.addi %p, %c{committed} : index
            %s{i} = "smem.producer_acquire"(%pipeline{number}, %a{i}) : (!smem.pipeline, index) -> index
            "smem.producer_commit"(%pipeline{number}, %p{i}) : (!smem.pipeline, index) -> ()""")
        lines.append("}\n}) {warpgroups = 1 : i32} : () -> ()")
    lines.append('"smem.partition"() ({\n^bb0(%g: index):\nscf.for %i = %c0 to %n step %c1 {')
    for number, (action, pipeline_number, part) in enumerate(program.body):
        if action == "turn":
            lines += ['"smem.order_wait"() : () -> ()', '"smem.order_arrive"() : () -> ()']
            continue
        if action == "meet":
            lines.append(
                f'"smem.warpgroup_barrier"() {{warpgroups = {warpgroups} : i32}} : () -> ()'
            )
            continue
        turns, x = program.pipelines[pipeline_number].turns, f"%x{number}"
        # The index as `Pipeline.index` has it: (first * times + second) * ... in ops.
        if turns == "rows":
            steps = [("%i", warpgroups, "%g"), (f"{x}_0", parts, f"%c{part}")]
        else:
            steps = [("%i", parts, f"%c{part}")]
            steps += [(f"{x}_0", warpgroups, "%g")] if turns == "parts" else []
        for step, (base, times, more) in enumerate(steps):
            lines.append(f"{x}_{step}m = arith.muli {base}, %c{times} : index")
            lines.append(f"{x}_{step} = arith.addi {x}_{step}m, {more} : index")
        name, result = ("wait", " -> index") if action == "wait" else ("release", " -> ()")
        lines.append(
            f'{f"%s{number} = " if action == "wait" else ""}"smem.consumer_{name}"'
            f"(%pipeline{pipeline_number}, {x}_{len(steps) - 1}) : (!smem.pipeline, index){result}"
        )
    lines.append(f"}}\n}}) {{warpgroups = {warpgroups} : i32}} : () -> ()\n}}) : () -> ()")
    body, threads = "\n".join(lines), 128 * (len(program.pipelines) + warpgroups)
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(40))
    return f"""func.func @f(%n: index) attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      {constants}
      {body}
      return }}"""


@st.composite
def programs(draw):
    warpgroups, parts = draw(st.integers(2, 3)), draw(st.integers(1, 4))
    pipelines = []
    for _ in range(draw(st.integers(1, 3))):
        turns = draw(st.sampled_from(["parts", "rows", "all"]))
        round_ = {"parts": warpgroups, "rows": warpgroups * parts, "all": 1}[turns]
        stages = draw(st.sampled_from([round_, 2 * round_]))
        pipelines.append(Pipeline(stages, turns, draw(st.none() | st.integers(1, stages))))
    sequences = []
    for number in range(len(pipelines)):
        # Waits and arrivals in order, each arrival at once or after the next wait.
        sequence, waiting = [], None
        for part in range(parts):
            sequence.append(("wait", number, part))
            if waiting is not None:
                sequence.append(("arrive", number, waiting))
            waiting = part
            if draw(st.booleans()) or part == parts - 1:
                sequence.append(("arrive", number, part))
                waiting = None
        sequences.append(sequence)
    order = draw(st.permutations([n for n, s in enumerate(sequences) for _ in s]))
    iterators = [iter(sequence) for sequence in sequences]
    body = [next(iterators[number]) for number in order]
    for _ in range(draw(st.integers(0, 2))):
        body.insert(draw(st.integers(0, len(body))), draw(st.sampled_from([TURN, TURN, MEET])))
    return Program(tuple(body), tuple(pipelines), warpgroups, parts)


@settings(max_examples=200)
@given(programs())
def test_a_proven_program_never_deadlocks(program):
    messages = messages_of(text_of(program))
    hangs = any(deadlocks(program, trips) for trips in TRIPS)
    shown = "not proven or wrong" if messages else "proven"
    turns = "with turns, " if TURN in program.body else ""
    turns += "with barriers, " if MEET in program.body else ""
    event(f"{turns}{shown}, {'deadlocks' if hangs else 'runs'}")
    if not messages:
        assert not hangs


def in_turn(*pipelines, parts=4):
    """Two warpgroups that take a part of each pipeline, one after the other."""
    numbers = range(len(pipelines))
    body = tuple(
        (action, number, part)
        for part in range(parts)
        for action, order in (("wait", numbers), ("arrive", reversed(numbers)))
        for number in order
    )
    return Program(body, pipelines, 2, parts)


PARTS, ROWS, ALL = Pipeline(4, "parts"), Pipeline(8, "rows"), Pipeline(1, "all")
GRANTED_PARTS, GRANTED_ROWS = Pipeline(8, "parts", 1), Pipeline(8, "rows", 1)


@pytest.mark.parametrize(
    "pipelines",
    [(PARTS, GRANTED_PARTS), (ROWS, GRANTED_ROWS), (PARTS, PARTS, PARTS), (GRANTED_ROWS,)],
)
def test_one_order_is_proven(pipelines):
    program = in_turn(*pipelines)
    assert messages_of(text_of(program)) == []
    assert not any(deadlocks(program, trips) for trips in TRIPS)


def test_two_orders_are_not_proven():
    # Buffers are granted by rows, and loads come by parts.
    program = in_turn(GRANTED_ROWS, PARTS)
    assert deadlocks(program, 1)
    (message,) = messages_of(text_of(program))
    assert "partitions may deadlock: the smem.partition" in message


def test_an_index_of_all_within_a_turn_is_not_proven():
    program = in_turn(GRANTED_ROWS, ALL)
    assert deadlocks(program, 1)
    message = messages_of(text_of(program))[-1]
    assert "partitions may deadlock: the smem.partition" in message


def test_what_is_held_at_an_index_of_all_is_held_by_all():
    # One warpgroup holds the only buffer, and waits for a load of both; the other one waits for a buffer.
    body = (
        *(("wait", 1, 0), ("wait", 0, 0), ("arrive", 1, 0), ("wait", 1, 1), ("arrive", 1, 1)),
        *(("arrive", 0, 0), ("wait", 0, 1), ("arrive", 0, 1)),
    )
    program = Program(body, (Pipeline(2, "parts", 1), ALL), 2, 2)
    assert deadlocks(program, 1)
    (message,) = messages_of(text_of(program))
    assert "partitions may deadlock: " in message
    program = Program(body, (PARTS, ALL), 2, 2)
    assert not any(deadlocks(program, trips) for trips in TRIPS)
    assert messages_of(text_of(program)) == []


def test_a_barrier_of_all_within_a_turn():
    """One holds all stages that the other one waits for before it comes to the barrier."""
    body = (("wait", 0, 0), ("wait", 0, 1), MEET, ("arrive", 0, 0), ("arrive", 0, 1))
    program = Program(body, (Pipeline(4, "rows", 3),), 2, 2)
    assert deadlocks(program, 1)
    (message,) = messages_of(text_of(program))
    assert "partitions may deadlock: " in message
    program = Program(body, (Pipeline(4, "rows", 4),), 2, 2)
    assert not any(deadlocks(program, trips) for trips in TRIPS)
    assert messages_of(text_of(program)) == []


def test_a_stage_that_is_held_until_the_next_turn_is_not_proven():
    body = (("wait", 0, 0), ("wait", 0, 1), ("arrive", 0, 0), ("arrive", 0, 1))
    program = Program(body, (Pipeline(2, "parts"),), 2, 2)
    assert deadlocks(program, 1)
    assert messages_of(text_of(program)) != []
