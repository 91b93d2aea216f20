"""Random programs of nested ifs and loops, against an interpreter that runs one thread at a time."""

from dataclasses import dataclass, field

import numpy as np
from emulated import run
from hypothesis import given, settings
from hypothesis import strategies as st

OPS = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "xori": lambda a, b: a ^ b,
    "subi": lambda a, b: a - b,
}

#: The number of values that every statement can use; a statement replaces one of them.
VALUES = 3


@dataclass(frozen=True)
class Compute:
    """`target = op(a, b)`."""

    op: str
    target: int
    a: int
    b: int


@dataclass(frozen=True)
class If:
    """Executes `then` where `value & mask` is below `bound`, else `otherwise`."""

    value: int
    mask: int
    bound: int
    then: list
    otherwise: list


@dataclass(frozen=True)
class For:
    """Executes `body` `value & mask` times."""

    value: int
    mask: int
    body: list


@dataclass(frozen=True)
class While:
    """Executes `body` until `value & mask`, which is halved each time, is zero."""

    value: int
    mask: int
    body: list


@dataclass(frozen=True)
class Barrier:
    """A barrier of the whole CTA; generated only where all threads reach it."""


values = st.integers(0, VALUES - 1)
masks = st.sampled_from([1, 2, 3, 5, 7, 32, 33, 64, 96])
computes = st.builds(Compute, st.sampled_from(sorted(OPS)), values, values, values)


def control_flow(bodies):
    return (
        st.builds(If, values, masks, st.integers(0, 40), bodies, bodies)
        | st.builds(For, values, st.sampled_from([1, 3, 4]), bodies)
        | st.builds(While, values, st.sampled_from([3, 7, 15]), bodies)
    )


statements = st.recursive(
    st.lists(computes, min_size=1, max_size=2),
    lambda bodies: st.lists(computes | control_flow(bodies), min_size=1, max_size=3),
    max_leaves=5,
)
programs = st.lists(statements.map(tuple) | st.just((Barrier(),)), min_size=1, max_size=3)


@dataclass
class Writer:
    """Writes a program as MLIR; every statement yields all values."""

    lines: list = field(default_factory=list)
    count: int = 0

    def new(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def constant(self, value):
        return self.new(f"arith.constant {value} : i32")

    def mask(self, value, mask):
        return self.new(f"arith.andi {value}, {self.constant(mask)} : i32")

    def write(self, body, state):
        for statement in body:
            state = getattr(self, f"write_{type(statement).__name__.lower()}")(statement, state)
        return state

    def write_compute(self, s, state):
        name = self.new(f"arith.{s.op} {state[s.a]}, {state[s.b]} : i32")
        return [*state[: s.target], name, *state[s.target + 1 :]]

    def write_barrier(self, s, state):
        self.lines.append("gpu.barrier")
        return state

    def types(self):
        return ", ".join(["i32"] * VALUES)

    def results(self):
        self.count += 1
        name = f"%v{self.count}"
        return name, [f"{name}#{i}" for i in range(VALUES)]

    def close(self, body, state):
        self.lines.append(f"scf.yield {', '.join(self.write(body, state))} : {self.types()}")

    def write_if(self, s, state):
        masked = self.mask(state[s.value], s.mask)
        condition = self.new(f"arith.cmpi slt, {masked}, {self.constant(s.bound)} : i32")
        name, results = self.results()
        self.lines.append(f"{name}:{VALUES} = scf.if {condition} -> ({self.types()}) {{")
        self.close(s.then, state)
        self.lines.append("} else {")
        self.close(s.otherwise, state)
        self.lines.append("}")
        return results

    def loop_arguments(self, state):
        inner = [f"%a{self.count}_{i}" for i in range(VALUES)]
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(inner, state, strict=True))
        return inner, pairs

    def write_for(self, s, state):
        trips, zero, one = self.mask(state[s.value], s.mask), self.constant(0), self.constant(1)
        name, results = self.results()
        inner, pairs = self.loop_arguments(state)
        self.lines.append(
            f"{name}:{VALUES} = scf.for %i{self.count} = {zero} to {trips} step {one} "
            f"iter_args({pairs}) -> ({self.types()}) : i32 {{"
        )
        self.close(s.body, inner)
        self.lines.append("}")
        return results

    def write_while(self, s, state):
        left, zero, one = self.mask(state[s.value], s.mask), self.constant(0), self.constant(1)
        name, _ = self.results()
        inner, pairs = self.loop_arguments(state)
        mark, types = self.count, f"i32, {self.types()}"
        self.lines.append(
            f"{name}:{VALUES + 1} = scf.while (%l{mark} = {left}, {pairs}) "
            f": ({types}) -> ({types}) {{"
        )
        go = self.new(f"arith.cmpi ne, %l{mark}, {zero} : i32")
        half = self.new(f"arith.shrui %l{mark}, {one} : i32")
        self.lines.append(f"scf.condition({go}) {half}, {', '.join(inner)} : {types}")
        again = [f"%b{mark}_{i}" for i in range(VALUES)]
        arguments = ", ".join(f"{name}: i32" for name in (f"%m{mark}", *again))
        self.lines.append(f"}} do {{\n^bb0({arguments}):")
        yielded = self.write(s.body, again)
        self.lines.append(f"scf.yield {', '.join([f'%m{mark}', *yielded])} : {types}\n}}")
        return [f"{name}#{i + 1}" for i in range(VALUES)]


def interpret(body, state):
    """Run a program for one thread; return its values."""
    for s in body:
        if isinstance(s, Compute):
            state[s.target] = OPS[s.op](state[s.a], state[s.b]) % 2**32
        elif isinstance(s, If):
            interpret(s.then if state[s.value] & s.mask < s.bound else s.otherwise, state)
        elif isinstance(s, For):
            for _ in range(state[s.value] & s.mask):
                interpret(s.body, state)
        elif isinstance(s, While):
            left = state[s.value] & s.mask
            while left:
                left >>= 1
                interpret(s.body, state)
    return state


def initial(thread):
    return [thread, thread * 2654435761 % 2**32, 7]


def write_program(program):
    """Write a program as the body of a kernel that stores all values of each thread."""
    writer = Writer()
    state = [
        "%t32",
        writer.new(f"arith.muli %t32, {writer.constant(2654435761 - 2**32)} : i32"),
        writer.constant(7),
    ]
    for section in program:
        state = writer.write(section, state)
    for i, value in enumerate(state):
        writer.lines.append(f"memref.store {value}, %A[%tid, %c{i}] : memref<SIZEx{VALUES}xi32>")
    return "\n".join(writer.lines)


@settings(max_examples=40)
@given(programs, st.sampled_from([1, 7, 33, 64, 96]))
def test_every_thread_computes_what_the_interpreter_does(program, block):
    out = np.zeros((block, VALUES), np.uint32)
    run(write_program(program).replace("SIZE", str(block)), out, block=block)
    expected = [
        interpret([s for section in program for s in section], initial(t)) for t in range(block)
    ]
    assert out.tolist() == expected


@settings(max_examples=40)
@given(statements, st.sampled_from([64, 96]))
def test_barriers_of_single_warps_anywhere(body, block):
    # Every body has a barrier of one warp, so that warps execute at different times.
    program = [tuple(body)]
    out = np.zeros((block, VALUES), np.uint32)
    lines = write_program(program).replace("SIZE", str(block)).replace("%t32", "%warp")
    lines = lines.replace("scf.yield", "nvvm.barrier id = %id number_of_threads = %all\nscf.yield")
    setup = """
    %five = arith.constant 5 : i32
    %all = arith.constant 32 : i32
    %id = arith.shrui %t32, %five : i32
    %warp = arith.muli %id, %five : i32
    """
    run(setup + lines, out, block=block)
    expected = [interpret(body, initial(t // 32 * 5)) for t in range(block)]
    assert out.tolist() == expected
