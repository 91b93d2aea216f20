"""Rings that connect roles in circles, against runs of the same program: what is proven never waits for
ever."""

from dataclasses import dataclass

from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_check_async import said_of

#: Iterations that runs have.
TRIPS = range(6)


@dataclass(frozen=True)
class Ring:
    """A ring: who fills it and who reads it, and how many of its steps are done before the loop."""

    producer: int
    consumer: int
    stages: int
    early: bool


@dataclass(frozen=True)
class Role:
    """What a role does in each iteration: (wait or hand on, the ring's number), in order."""

    body: tuple[tuple[str, int], ...]


def steps(role, number, rings, trips):
    """What a role does in all: (wait or hand on, ring, step)."""

    def first(action, ring):
        # A producer does step 0 before the loop; a consumer waits for it there.
        waits_early = rings[ring].early and (action == "wait" or rings[ring].producer == number)
        return int(waits_early)

    for action, ring in role.body:
        if first(action, ring):
            yield action, ring, 0
    for i in range(trips):
        for action, ring in role.body:
            yield action, ring, i + first(action, ring)
    for action, ring in role.body:
        if rings[ring].early and not first(action, ring):
            yield action, ring, trips


def waits_for_ever(roles, rings, trips):
    """Whether a run comes to where no role can go on."""
    left = [list(steps(role, i, rings, trips)) for i, role in enumerate(roles)]
    committed, released = [0] * len(rings), [0] * len(rings)
    going = True
    while going and any(left):
        going = False
        for number, todo in enumerate(left):
            while todo:
                action, ring, step = todo[0]
                produces = rings[ring].producer == number
                if action == "hand":
                    (committed if produces else released)[ring] = step + 1
                elif step >= (released[ring] + rings[ring].stages if produces else committed[ring]):
                    break
                todo.pop(0)
                going = True
    return any(left)


def text_of(roles, rings):
    lines = [
        f'%r{i} = "smem.ring"() {{stages = {r.stages} : i32, producers = 128 : i32, '
        "consumers = 1 : i32} : () -> !smem.barriers"
        for i, r in enumerate(rings)
    ]
    lines.append('"smem.roles"() ({')
    for number, role in enumerate(roles):
        lines.append('"smem.role"() ({')
        before = list(steps(role, number, rings, 0))
        early = [s for s in before if s[0] == "wait" or rings[s[1]].producer == number]
        lines += [op(number, rings, action, ring, "%c0") for action, ring, _ in early]
        lines.append("scf.for %i = %c0 to %n step %c1 {")
        lines.append("%j = arith.addi %i, %c1 : index")
        for action, ring in role.body:
            ahead = (action, ring, 0) in early
            lines.append(op(number, rings, action, ring, "%j" if ahead else "%i"))
        lines.append("}")
        lines += [op(number, rings, *s[:2], "%n") for s in before if s not in early]
        lines.append("}) {warpgroups = 1 : i32} : () -> ()")
    lines.append("}) : () -> ()")
    body, threads = "\n".join(lines), 128 * len(roles)
    return f"""func.func @f(%n: index) attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {body}
      return }}"""


def op(number, rings, action, ring, step):
    produces = rings[ring].producer == number
    waits = "producer_acquire" if produces else "consumer_wait"
    hands = "producer_commit" if produces else "consumer_release"
    if action == "wait":
        return f'"smem.{waits}"(%r{ring}, {step}) : (!smem.barriers, index) -> index'
    return f'"smem.{hands}"(%r{ring}, {step}) : (!smem.barriers, index) -> ()'


@st.composite
def programs(draw):
    count = draw(st.integers(2, 3))
    ends = st.permutations(range(count)).map(lambda p: p[:2])
    rings = [
        Ring(*draw(ends), draw(st.integers(1, 3)), draw(st.booleans()))
        for _ in range(draw(st.integers(2, 4)))
    ]
    roles = []
    for number in range(count):
        own = [i for i, ring in enumerate(rings) if number in (ring.producer, ring.consumer)]
        order = draw(st.permutations([i for i in own for _ in range(2)]))
        seen, body = set(), []
        for ring in order:
            body.append(("hand" if ring in seen else "wait", ring))
            seen.add(ring)
        roles.append(Role(tuple(body)))
    return tuple(roles), tuple(rings)


@settings(max_examples=150)
@given(programs())
def test_what_is_proven_never_waits_for_ever(program):
    roles, rings = program
    said = said_of(text_of(roles, rings))
    hangs = any(waits_for_ever(roles, rings, trips) for trips in TRIPS)
    event(f"{'undecided or wrong' if said else 'proven'}, {'hangs' if hangs else 'runs'}")
    if not said:
        assert not hangs


#: Two rings of one stage from one role to another, taken in these orders.
SAME = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
TWISTED = Role((("wait", 1), ("hand", 1), ("wait", 0), ("hand", 0)))
FORWARD = (Ring(0, 1, 2, False), Ring(0, 1, 2, False))


def test_the_same_order_is_proven():
    assert said_of(text_of((SAME, SAME), FORWARD)) == []


def test_another_order_is_proven_as_nothing_is_held():
    assert said_of(text_of((SAME, TWISTED), FORWARD)) == []


def test_a_role_that_answers_another_is_proven():
    # The first role gives a step and waits for the second's; the second waits, then gives its own.
    asks = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    answers = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    rings = (Ring(0, 1, 1, False), Ring(1, 0, 1, False))
    assert not any(waits_for_ever((asks, answers), rings, n) for n in TRIPS)
    assert said_of(text_of((asks, answers), rings)) == []


def test_roles_that_wait_for_each_other_first_are_not_proven():
    asks = Role((("wait", 1), ("hand", 1), ("wait", 0), ("hand", 0)))
    answers = Role((("wait", 0), ("hand", 0), ("wait", 1), ("hand", 1)))
    rings = (Ring(0, 1, 1, False), Ring(1, 0, 1, False))
    assert waits_for_ever((asks, answers), rings, 1)
    (said,) = said_of(text_of((asks, answers), rings))
    assert said.endswith("one of them waits before it has handed on what another needs to go on")
