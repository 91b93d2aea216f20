"""What surrounds the body of a random kernel: what it begins with, and what it stores at its end."""

import ast
import re

#: The module of the kernel.
MODULE = """\
import contextlib, itertools
from dataclasses import dataclass
class State:
    pass
class Pair:
    __slots__ = ("a", "n")
@dataclass
class Record:
    n: int
    values: list
shared = {"n": 1, "list": []}
total_calls = 0
def note(by):
    global total_calls
    total_calls = total_calls + by
    shared["n"] = (shared["n"] + by) % 7
def counted(stop):
    for k in sl.range(stop):
        yield k
def twice(stop):
    for j in range(stop):
        yield j
def powers():
    power = 1
    while True:
        yield power
        power = power * 2 % 7
"""

#: The first lines of the kernel.
PROLOGUE = """\
x = sl.load(A)
y, z, i, n, s = x + 1.0, sl.zeros((64, 16), sl.f32), 0, 2, sl.signed(1)
both, counts, log, seen, flag, mode = [x, y], [1, 2], [], set(), True, "a"
state, pair, record = State(), Pair(), Record(2, [1, x])
state.x, state.n, pair.a, pair.n, alias = y, 1, x, 3, state
table, numbers, walk = {"x": x, "n": 1}, itertools.count(1), powers()
def bump(by):
    nonlocal x, n
    x, n = sl.maximum(x, by) + 1.0, n + 1
def tally(by):
    state.n = (state.n + by) % 5
def push(by):
    nonlocal log
    log = log + [by]
"""

#: The last lines of the kernel: everything that the body may have changed is in the result.
EPILOGUE = """\
total = x + y * 2.0 + z * 3.0 + both[0] * 5.0 + both[1] * 7.0 + state.x * 11.0 + pair.a * 13.0
total = bounded(total + table["x"] * 17.0 + table.get("k", x) * 19.0 + record.values[1] * 23.0)
ends = (i, n, s, state.n, pair.n, alias.n, table["n"], counts[0], counts[1], len(log), len(seen))
lengths, places = (1 if flag else 0) + len(mode + "a" * len(counts)), next(numbers) + next(walk)
more = (record.n, record.values[0], shared["n"], lengths, places)
for position, number in enumerate((*ends, *more)):
    total = sl.where(sl.iota(1) == position, (sl.iota(0) * 0 + number).to(sl.f32) + total * 0.0, total)
sl.store(total, D[sl.block_id(0), 0:64, 0:16])
"""

#: What a body may hold beyond variables, loops, branches and functions, and how it looks.
CONSTRUCTS = {
    "attribute": r"\b(state|pair|alias|record)\.\w+(, \w+\.\w+)? (=|\+=)|\btally\(",
    "element": r"\b(both|table|counts|shared|values)\[[^\]]*\](, \w+\[\d\])? (=|\+=)|\bnote\(",
    "structure": r"\.(append|add|pop|clear|extend)\(|table\[\"k\"\] =|\bpush\(|log = ",
    "iterator": r"\bnext\(",
    "generator": r"in counted\(",
    "comprehension": r"for \w+ in sl\.range\([^)]*\)\]|zip\(sl\.range",
    "constant": r"\bmode = |\bflag = (?!not \()",
    "new name": r"\bfresh\b",
    "finally": r"\b(try|finally|nullcontext)\b",
}

#: The constructs that `docs/language.md` says are supported.
SUPPORTED = frozenset({"attribute", "element", "generator", "comprehension", "finally", "new name"})


def constructs(body: str) -> tuple[str, ...]:
    """Return the constructs of a body, of those in `CONSTRUCTS`, and "exit of a with statement"."""
    present = [name for name, look in CONSTRUCTS.items() if re.search(look, body)]
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    leaves = any(_leaves_with(statement, False, False) for statement in _statements(lines))
    return (*present, *(["exit of a with statement"] if leaves else []))


def _statements(lines: str) -> list[ast.stmt]:
    (function,) = ast.parse(f"def kernel():\n{lines}").body
    assert isinstance(function, ast.FunctionDef)
    return function.body


def _leaves_with(node: ast.AST, in_function: bool, in_loop: bool) -> bool:
    """Return whether a jump in a statement leaves a `with` or `try` statement.

    Args:
        node: the statement.
        in_function: whether such a statement is around it, in its function.
        in_loop: whether one is around it, in its loop.
    """
    if isinstance(node, ast.Return):
        return in_function
    if isinstance(node, ast.Break | ast.Continue):
        return in_loop
    if isinstance(node, ast.FunctionDef):
        in_function = in_loop = False
    if isinstance(node, ast.With | ast.Try):
        in_function = in_loop = True
    body_in_loop = in_loop and not isinstance(node, ast.For | ast.While)
    return any(
        _leaves_with(child, in_function, body_in_loop) for child in ast.iter_child_nodes(node)
    )
