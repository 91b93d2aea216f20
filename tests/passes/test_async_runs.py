"""`smem-check-async` against runs of random programs: no message is a proof, an error is a wrong run."""

from dataclasses import dataclass, field
from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st
from programs import fragment, matrix, tile

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.dialect import new_context
from mlir_smem.passes import OpError
from mlir_smem.passes.check_async import CheckAsync

STAGES = 3
TILES, STAGE, IN_FLIGHT = tile(STAGES, 64, 64), tile(64, 64), fragment(64, 64)

# Programs: lists of steps. A stage is a number, or ("next", n): the loop's iteration plus n, modulo 3.


@dataclass
class Writer:
    """Writes a program as text."""

    lines: list = field(default_factory=list)
    names: int = 0

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def block(self, steps, count="%c0"):
        for name, *arguments in steps:
            getattr(self, name)(*arguments, count)

    def op(self, name, operands="", types="", results="", attributes=""):
        self.lines.append(f'"{name}"({operands}) {attributes} : ({types}) -> ({results})')

    def stage(self, stage, count):
        index = f"%c{stage}"
        if isinstance(stage, tuple):
            after, index = self.name(), self.name()
            self.lines.append(f"{after} = arith.addi {count}, %c{stage[1]} : index")
            self.lines.append(f"{index} = arith.remui {after}, %c{STAGES} : index")
        taken = self.name()
        self.lines.append(f"{taken} =")
        self.op("smem.stage", f"%t, {index}", f"{TILES}, index", STAGE)
        return taken

    def copy(self, stage, count, op="smem.copy"):
        self.op(op, f"%g, {self.stage(stage, count)}", f"{matrix(64, 64)}, {STAGE}")

    def copy_async(self, stage, count):
        self.copy(stage, count, "smem.copy_async")

    def copy_tile(self, source, target, count):
        taken = f"{self.stage(source, count)}, {self.stage(target, count)}"
        self.op("smem.copy", taken, f"{STAGE}, {STAGE}")

    def commit(self, _):
        self.op("smem.copy_commit")

    def copy_wait(self, pending, _):
        self.op("smem.copy_wait", attributes=f"{{pending = {pending} : i32}}")

    def fence(self, _):
        self.op("smem.fence")

    def barrier(self, _):
        self.lines.append("gpu.barrier")

    def mma(self, stage, count):
        taken = self.stage(stage, count)
        self.lines.append(f"{self.name()} =")
        self.op("smem.mma", f"{taken}, {taken}", f"{STAGE}, {STAGE}", IN_FLIGHT)

    def wait(self, pending, _):
        in_flight = self.name()
        self.lines.append(f'{in_flight} = "smem.fill"(%zero) : (f32) -> {IN_FLIGHT}')
        self.lines.append(f"{self.name()} =")
        self.op("smem.wait", in_flight, IN_FLIGHT, IN_FLIGHT, f"{{pending = {pending} : i32}}")

    def loop(self, steps, _):
        count = self.name()
        self.lines.append(f"scf.for {count} = %c0 to %n step %c1 {{")
        self.block(steps, count)
        self.lines.append("}")

    def branch(self, steps, count):
        self.lines.append("scf.if %c {")
        self.block(steps, count)
        self.lines.append("}")


def text_of(steps):
    writer = Writer()
    writer.block(steps)
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(STAGES + 1))
    body = "\n".join(writer.lines)
    return f"""func.func @f(%g: {matrix(64, 64)}, %n: index, %c: i1) {{
      {constants}
      %zero = arith.constant 0.0 : f32
      %t = "smem.alloc"() : () -> {TILES}
      {body}
      return }}"""


def evaluation(steps):
    """Return the result of the pass: "proven", "wrong" or "not proven"."""
    remarks = []
    with new_context():
        parsed = ir.Module.parse(text_of(steps))
        try:
            with remark_handler(lambda *remark: remarks.append(remark)):
                CheckAsync().run(parsed)
        except OpError:
            return "wrong"
    return "not proven" if remarks else "proven"


# Runs: the steps one after the other, and the rules that they break.


def trace(steps, trips, taken, count=0):
    """Yield the steps of a run; accesses with the number of their op."""
    for step in steps:
        name, *arguments = step
        if name == "loop":
            for i in range(trips):
                yield from trace(arguments[0], trips, taken, i)
        elif name == "branch":
            yield from trace(arguments[0], trips, taken, count) if taken else ()
        elif name == "copy_tile":
            source, target = arguments
            yield "load", stage_at(source, count), id(step)
            yield "copy", stage_at(target, count), id(step)
        elif name in ("copy", "copy_async", "mma"):
            yield name, stage_at(*arguments, count), id(step)
        else:
            yield name, *arguments


def stage_at(stage, count):
    """Return the number of a stage in an iteration of a loop."""
    return (count + stage[1]) % STAGES if isinstance(stage, tuple) else stage


def first(run, begin, *wanted):
    """Return the first step after `begin` that is wanted; the end if there is none."""
    return next((i for i in range(begin + 1, len(run)) if run[i][0] in wanted), len(run))


def completing_wait(run, begin, wait, group):
    """Return the wait that completes the group ending at `begin`; the end if there is none."""
    for i in range(begin + 1, len(run)):
        later = sum(step[0] == group for step in run[begin + 1 : i])
        if run[i][0] == wait and later >= run[i][1]:
            return i
    return len(run)


def completion(run, i, *by):
    """Return the step that completes a copy and is not before any of the steps `by` after it."""
    if run[i][0] == "copy_async":
        i = completing_wait(run, first(run, i, "commit"), "copy_wait", "commit")
    return max((first(run, i, name) for name in by), default=i)


def is_wrong(run):
    """Whether some step of a run begins before it may."""
    for i, (name, *arguments) in enumerate(run):
        if name in ("copy", "copy_async"):
            early = steps_on({"mma"}, arguments[0], run[i : completion(run, i, "fence", "barrier")])
            early += steps_on({"load"}, arguments[0], run[i : completion(run, i, "barrier")])
            early += steps_on(WRITES, arguments[0], run[i + 1 : completion(run, i)])
        elif name in ("mma", "load"):
            over = first(
                run, completing_wait(run, i, "wait", "mma") if name == "mma" else i, "barrier"
            )
            early = steps_on(WRITES, arguments[0], run[i:over])
        else:
            continue
        if early:
            return True
    return False


def may_be_wrong(run):
    """Whether two ops may write the same bytes by different threads, without a barrier in between."""
    return any(
        op != arguments[1]
        for i, (name, *arguments) in enumerate(run)
        if name in WRITES
        for _, _, op in steps_on(WRITES, arguments[0], run[i + 1 : completion(run, i, "barrier")])
    )


WRITES = {"copy", "copy_async"}


def steps_on(names, stage, steps):
    """Return the steps with these names that access a stage."""
    return [step for step in steps if step[0] in names and step[1] == stage]


def runs(steps):
    return [list(trace(steps, trips, taken)) for trips, taken in product(range(9), (False, True))]


stages = st.one_of(
    st.integers(0, STAGES - 1), st.tuples(st.just("next"), st.integers(0, STAGES - 1))
)
pending = st.sampled_from([0, 0, 1, 2])
simple = st.one_of(
    st.tuples(st.sampled_from(["copy", "copy_async", "mma"]), stages),
    st.tuples(st.just("copy_tile"), stages, stages),
    st.tuples(st.sampled_from(["copy_wait", "wait"]), pending),
    st.sampled_from([("commit",), ("fence",), ("barrier",)]),
)
copies_complete = st.tuples(pending).map(lambda p: [("copy_wait", *p), ("fence",), ("barrier",)])
mma_complete = st.tuples(pending).map(lambda p: [("wait", *p), ("barrier",)])
several = st.one_of(
    simple.map(lambda s: [s]),
    copies_complete,
    mma_complete,
    stages.map(lambda s: [("copy_async", s), ("commit",)]),
)


def flat(lists):
    return [step for steps in lists for step in steps]


def within(region):
    body = st.lists(several, min_size=1, max_size=6).map(flat)
    return body.map(lambda steps: [(region, steps)])


programs = st.lists(
    st.one_of(several, within("loop"), within("loop"), within("branch")), min_size=2, max_size=7
).map(flat)


@given(programs)
def test_no_message_is_a_proof_and_an_error_is_a_wrong_run(steps):
    result = evaluation(steps)
    wrong = [run for run in runs(steps) if is_wrong(run)]
    nothing_written = "copy" not in str(steps).replace("copy_wait", "")
    event(f"{result}, {'wrong' if wrong else 'right'}")
    if result == "proven":
        assert not wrong
        assert not any(map(may_be_wrong, runs(steps)))
    if result == "wrong":
        assert wrong or nothing_written
