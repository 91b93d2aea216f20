"""`smem-allocate` against a model of a machine that tracks which bytes are in use."""

import re
from dataclasses import dataclass, field

import pytest
from bindings_at_hand import needs_barrier_scopes
from hypothesis import given
from hypothesis import strategies as st
from programs import fragment, matrix, tile

import mlir_smem
from mlir_smem.bindings import passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context

FORCED = '#smem.swizzle<"128B", "row-major">'
ROWS = (64, 128, 192)
ROW_BYTES = 64 * 2


def type_of(rows):
    return tile(rows, 64, layout=FORCED)


# A program is a list of steps on tiles 0, 1, 2, ...; tile t has rows[t] x 64 elements.


@dataclass
class Writer:
    """Writes the steps of a program as MLIR text."""

    rows: list
    lines: list = field(default_factory=list)
    in_flight: list = field(default_factory=list)
    names: int = 0

    def write(self, steps):
        for t, rows in enumerate(self.rows):
            self.lines.append(f'%t{t} = "smem.alloc"() {{tile = {t}}} : () -> {type_of(rows)}')
        for name, *arguments in steps:
            getattr(self, name)(*arguments)
        arguments = ", ".join(f"%g{rows}: {matrix(rows, 64)}" for rows in ROWS)
        body = "\n".join(self.lines)
        return (
            f"gpu.module @kernels {{ gpu.func @f({arguments}) kernel attributes "
            f"{{known_block_size = array<i32: 256, 1, 1>}} {{\n{body}\ngpu.return }} }}"
        )

    def op(self, name, operands="", types="", results="", attributes=""):
        self.lines.append(f'"{name}"({operands}) {attributes} : ({types}) -> ({results})')

    def copy(self, t, name="smem.copy"):
        rows = self.rows[t]
        self.op(name, f"%g{rows}, %t{t}", f"{matrix(rows, 64)}, {type_of(rows)}")

    def copy_async(self, t):
        self.copy(t, "smem.copy_async")

    def commit(self):
        self.op("smem.copy_commit")

    def copy_wait(self, pending):
        self.op("smem.copy_wait", attributes=f"{{pending = {pending} : i32}}")

    def barrier(self):
        self.lines.append("gpu.barrier")

    def mma(self, a, b):
        in_flight = fragment(self.rows[a], 64)
        self.lines.append(f"%f{self.names} =")
        self.op("smem.mma", f"%t{a}, %t{b}", f"{type_of(self.rows[a])}, {type_of(64)}", in_flight)
        self.in_flight.append((f"%f{self.names}", in_flight))
        self.names += 1

    def mma_wait(self, pending):
        if not self.in_flight:
            return
        name, type_ = self.in_flight.pop()
        self.lines.append(f"%f{self.names} =")
        self.op("smem.wait", name, type_, type_, f"{{pending = {pending} : i32}}")
        self.in_flight.append((f"%f{self.names}", type_))
        self.names += 1


class Machine:
    """Runs a program as one of many threads that only barriers synchronize.

    The bytes of a tile are in use while an access is incomplete in this thread, or may be incomplete in
    another thread: until the barrier after it.
    """

    def __init__(self, rows, offsets):
        spans = [(o, o + r * ROW_BYTES) for o, r in zip(offsets, rows, strict=True)]
        self.overlaps = [[a < d and c < b for c, d in spans] for a, b in spans]
        self.started, self.groups, self.mmas = [], [], []
        self.unsettled = set()
        self.filled, self.lost = set(), set()

    def run(self, steps):
        for name, *arguments in steps:
            getattr(self, name)(*arguments)

    def touch(self, t):
        """Begin an access of a tile: all accesses of other tiles with the same bytes are complete."""
        busy = {*self.started, *self.unsettled}
        busy.update(*self.groups, *self.mmas)
        assert not [o for o in busy if o != t and self.overlaps[o][t]], f"tile {t} begins too early"

    def fill(self, t):
        self.touch(t)
        self.lost |= {o for o in self.filled if self.overlaps[o][t]}
        self.lost.discard(t)
        self.filled.add(t)

    def copy(self, t):
        self.fill(t)
        self.unsettled.add(t)

    def copy_async(self, t):
        self.fill(t)
        self.started.append(t)

    def commit(self):
        self.groups.append(self.started)
        self.started = []

    def copy_wait(self, pending):
        done = self.groups[: max(0, len(self.groups) - pending)]
        self.groups = self.groups[len(done) :]
        self.unsettled.update(*done)

    def mma(self, *tiles):
        for t in tiles:
            self.touch(t)
            assert t not in self.lost, f"tile {t} is overwritten before it is read"
        self.mmas.append(tiles)

    def mma_wait(self, pending):
        done = self.mmas[: max(0, len(self.mmas) - pending)]
        self.mmas = self.mmas[len(done) :]
        self.unsettled.update(*done)

    def barrier(self):
        self.unsettled.clear()


def allocate(rows, steps):
    """Return the offset of each tile, and the bytes that the kernel needs."""
    with new_context():
        parsed = parse_module(Writer(rows).write(steps))
        pm = passmanager.PassManager("builtin.module")
        mlir_smem.parse_pipeline("smem-assign-layouts,smem-allocate", pm).run(parsed.operation)
        text = str(parsed)
    offsets = {
        int(t): int(offset) for offset, t in re.findall(r"offset = (\d+) : i64, tile = (\d+)", text)
    }
    return [offsets[t] for t in range(len(rows))], int(re.search(r"shared_bytes = (\d+)", text)[1])


@st.composite
def programs(draw):
    """Draw tiles and steps; every asynchronous copy is committed, alone or with those that follow it."""
    rows = draw(st.lists(st.sampled_from(ROWS), min_size=2, max_size=5))
    small = [t for t, r in enumerate(rows) if r == 64]
    tiles = st.integers(0, len(rows) - 1)
    pending = st.sampled_from([0, 0, 1, 2])
    step = st.one_of(
        st.tuples(st.just("copy"), tiles).map(lambda s: [s]),
        st.lists(tiles, min_size=1, max_size=2).map(
            lambda ts: [*(("copy_async", t) for t in ts), ("commit",)]
        ),
        st.just([("commit",)]),
        st.tuples(st.just("copy_wait"), pending).map(lambda s: [s]),
        st.just([("barrier",)]),
        st.just([("barrier",)]),
        *(
            [st.tuples(st.just("mma"), tiles, st.sampled_from(small)).map(lambda s: [s])]
            * bool(small)
        ),
        st.tuples(st.just("mma_wait"), pending).map(lambda s: [s]),
    )
    return rows, [s for steps in draw(st.lists(step, min_size=2, max_size=16)) for s in steps]


@given(programs())
def test_no_bytes_are_shared_by_tiles_that_are_live_together(program):
    rows, steps = program
    offsets, size = allocate(rows, steps)
    Machine(rows, offsets).run(steps)
    assert size == max(o + r * ROW_BYTES for o, r in zip(offsets, rows, strict=True))
    assert all(offset % 1024 == 0 for offset in offsets)


# Whether two tiles share bytes.

A, B = 0, 1
BARRIER = ("barrier",)
COMMIT = ("commit",)
FREE = {
    "a copy": [("copy", A), BARRIER, ("copy", B)],
    "a later barrier": [("copy", A), ("copy_wait", 0), BARRIER, BARRIER, ("copy", B)],
    "an asynchronous copy": [("copy_async", A), COMMIT, ("copy_wait", 0), BARRIER, ("copy", B)],
    "an mma": [("mma", A, A), ("mma_wait", 0), BARRIER, ("mma", B, B)],
    "the second tile first": [("copy", B), BARRIER, ("copy", A)],
}
TAKEN = {
    "no barrier": [("copy", A), ("copy", B)],
    "a barrier before": [BARRIER, ("copy", A), ("copy", B)],
    "a copy that is not waited for": [("copy_async", A), COMMIT, BARRIER, ("copy", B)],
    "a copy that is waited for after the barrier": [
        ("copy_async", A),
        COMMIT,
        BARRIER,
        ("copy_wait", 0),
        ("copy", B),
    ],
    "a copy that may be pending": [
        ("copy_async", A),
        COMMIT,
        ("copy_wait", 1),
        BARRIER,
        ("copy", B),
    ],
    "an mma that is not waited for": [("mma", A, A), BARRIER, ("copy", B)],
    "an mma that may be pending": [("mma", A, A), ("mma_wait", 1), BARRIER, ("copy", B)],
    "no barrier after the wait": [("mma", A, A), ("mma_wait", 0), ("copy", B)],
    "a wait that comes too early": [
        ("mma", A, A),
        ("mma_wait", 0),
        ("mma", A, A),
        BARRIER,
        ("copy", B),
    ],
    "data that is read later": [("copy", A), BARRIER, ("copy", B), BARRIER, ("mma", A, A)],
}


@pytest.mark.parametrize("steps", FREE.values(), ids=FREE)
def test_bytes_are_free_after(steps):
    offsets, size = allocate([64, 64], steps)
    Machine([64, 64], offsets).run(steps)
    assert (offsets, size) == ([0, 0], 64 * ROW_BYTES)


@pytest.mark.parametrize("steps", TAKEN.values(), ids=TAKEN)
def test_bytes_are_taken_with(steps):
    assert allocate([64, 64], steps)[1] == 2 * 64 * ROW_BYTES


@pytest.mark.parametrize("steps", TAKEN.values(), ids=TAKEN)
def test_the_model_finds_tiles_that_must_not_share_bytes(steps):
    with pytest.raises(AssertionError, match=r"too early|before it is read"):
        Machine([64, 64], [0, 0]).run(steps)


def test_a_wait_does_not_complete_a_copy_that_is_in_no_group():
    steps = [("copy_async", A), ("copy_wait", 0), BARRIER, ("copy", B)]
    assert allocate([64, 64], steps)[1] == 2 * 64 * ROW_BYTES


def test_tiles_that_are_used_one_after_the_other_take_the_space_of_the_largest():
    steps = [s for t in range(4) for s in (("copy", t), BARRIER)]
    assert allocate([64, 192, 128, 64], steps)[1] == 192 * ROW_BYTES


def test_an_unused_tile_has_an_offset():
    assert allocate([64, 64], [("copy", A)])[0][1] % 1024 == 0


# Barriers and loops as text.


def shared_bytes(body):
    """Return the bytes that a kernel with the tiles %a and %b needs."""
    text = f"""gpu.module @kernels {{
      gpu.func @f(%g: {matrix(64, 64)}, %n: index)
          kernel attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %i1 = arith.constant 1 : i32
        %i128 = arith.constant 128 : i32
        %a = "smem.alloc"() : () -> {type_of(64)}
        %b = "smem.alloc"() : () -> {type_of(64)}
        {body}
        gpu.return }} }}"""
    with new_context():
        parsed = parse_module(text)
        pm = passmanager.PassManager("builtin.module")
        mlir_smem.parse_pipeline("smem-assign-layouts,smem-allocate", pm).run(parsed.operation)
        return int(re.search(r"shared_bytes = (\d+)", str(parsed))[1])


def copy(name):
    return f'"smem.copy"(%g, {name}) : ({matrix(64, 64)}, {type_of(64)}) -> ()\n'


def loop(body):
    return f"scf.for %i = %c0 to %n step %c1 {{ {body} }}\n"


ONE, TWO = 64 * ROW_BYTES, 2 * 64 * ROW_BYTES


@pytest.mark.parametrize(
    "barrier",
    ["gpu.barrier", "nvvm.barrier", "gpu.barrier memfence [#gpu.address_space<workgroup>]"],
)
def test_bytes_are_free_after_a_barrier_of_the_cta(barrier):
    assert shared_bytes(f"{copy('%a')} {barrier} {copy('%b')}") == ONE


@pytest.mark.parametrize(
    "barrier",
    [
        "nvvm.barrier id = %i1 number_of_threads = %i128\n",
        pytest.param("gpu.barrier scope <subgroup>", marks=needs_barrier_scopes),
        "gpu.barrier memfence [#gpu.address_space<global>]",
    ],
)
def test_a_barrier_of_some_threads_frees_no_bytes(barrier):
    assert shared_bytes(f"{copy('%a')} {barrier} {copy('%b')}") == TWO


def test_a_barrier_that_may_not_be_reached_frees_no_bytes():
    assert shared_bytes(f"{copy('%a')} {loop('gpu.barrier')} {copy('%b')}") == TWO


def test_tiles_of_a_loop_are_live_in_the_whole_loop():
    assert shared_bytes(loop(f"{copy('%a')} gpu.barrier {copy('%b')} gpu.barrier")) == TWO


def test_tiles_of_two_loops_share_bytes_with_a_barrier_between():
    assert shared_bytes(f"{loop(copy('%a'))} gpu.barrier {loop(copy('%b'))}") == ONE


def test_tiles_of_two_loops_share_no_bytes_without_a_barrier():
    assert shared_bytes(f"{loop(copy('%a'))} {loop(copy('%b'))}") == TWO


def test_a_use_of_a_subtile_is_a_use_of_the_tile():
    half = "memref<32x64xbf16, strided<[64, 1]>>"
    subtile = f"""
      %p = "smem.subtile"(%a) {{static_offsets = array<i64: 0, 0>}} :
        ({type_of(64)}) -> {tile(32, 64)}
      %h = memref.subview %g[0, 0] [32, 64] [1, 1] : {matrix(64, 64)} to {half}
    """
    use = f'"smem.copy"(%h, %p) : ({half}, {tile(32, 64)}) -> ()'
    assert shared_bytes(f"{subtile} {use} {copy('%b')}") == TWO
    assert shared_bytes(f"{subtile} {use} gpu.barrier {copy('%b')}") == ONE


def test_tiles_of_a_function_of_several_basic_blocks_share_no_bytes():
    body = f"{copy('%a')} gpu.barrier cf.br ^next ^next: {copy('%b')}"
    assert shared_bytes(body) == TWO


def test_a_copy_from_a_tile_is_a_use_of_the_tile():
    # %a is read after %b was written for the first time.
    read = f'"smem.copy"(%a, %b) : ({type_of(64)}, {type_of(64)}) -> ()'
    assert shared_bytes(f"{copy('%a')} gpu.barrier {copy('%b')}") == ONE
    assert shared_bytes(f"{copy('%a')} gpu.barrier {copy('%b')} gpu.barrier {read}") == TWO
    assert shared_bytes(f"{copy('%a')} gpu.barrier {read}") == TWO
