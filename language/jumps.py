"""`return`, `break` and `continue` out of an `if`, in the syntax tree of a function, as assignments.

A branch of the running kernel has no jumps. What follows an `if` whose branch ends by a jump becomes the
other branch; where a branch only may jump, a flag says so, and what follows is done if it is not set:

    for x in xs:                    breaks = False
        if c:                       for x in xs:
            break                       if goes_on(breaks):
        f(x)                                if c: breaks = True
                                            else: f(x)
                                        if is_over(xs, breaks): break

Flags of Python's values are Python's truth values, so that such code does what it did.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

#: Variables that are added: whether the function has returned, what it returns, and whether a loop or an
#: iteration has ended. No author's variable has such names, and messages can have them.
_RETURNS, _VALUE = "the return", "what the function returns"
_BREAKS, _CONTINUES = "the break of loop {}", "the continue of loop {}"

_JUMPS = (ast.Return, ast.Break, ast.Continue)
_LOOPS = (ast.For, ast.While)
_WITH = (ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class _Flags:
    """The names of the flags that stand for jumps; None where a jump stays.

    Attributes:
        returns: of the function.
        breaks, continues: of the loop around.
        are_noted: whether jumps stay, and only set their flags: in the block of a `with` statement, which
            Python's jumps leave, and where the kernel's own statements refuse them.
    """

    returns: str | None = None
    breaks: str | None = None
    continues: str | None = None
    are_noted: bool = False

    def of(self, jump: ast.stmt) -> str | None:
        """Return the flag for a jump."""
        if isinstance(jump, ast.Return):
            return self.returns
        return self.breaks if isinstance(jump, ast.Break) else self.continues


class JumpEliminator:
    """Replaces the jumps out of branches of one function.

    Args:
        helper: the name of the object with `goes_on`, `is_over` and `no_value`.
    """

    def __init__(self, helper: str) -> None:
        self._helper = helper
        self._loops = 0
        self._has_value = False

    def function_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body of a function without jumps out of branches."""
        if not any(isinstance(jump, ast.Return) for jump in _jumps_in_branches(body)):
            return self._block(body, _Flags())
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and body[1:]:
            return [first, *self.function_body(body[1:])]  # a docstring
        flags = _Flags(returns=_RETURNS)
        begin = [_assign(_RETURNS, ast.Constant(False), body[0])]
        returns = [jump for statement in body for jump in _jumps_of(statement)]
        if not any(isinstance(jump, ast.Return) and jump.value for jump in returns):
            return [*begin, *self._block(body, flags)]
        self._has_value = True
        begin.append(_assign(_VALUE, self._call("no_value", []), body[0]))
        if not _ends_by_jump(body, flags):
            body = [*body, _at(ast.Return(ast.Constant(None)), body[-1])]
        end = ast.Return(ast.Name(_VALUE, ast.Load()))
        return [*begin, *self._block(body, flags), _at(end, body[-1])]

    def _block(self, statements: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            rest = list(statements[number + 1 :])
            if isinstance(statement, _JUMPS) and flags.of(statement):
                jump = [statement] if flags.are_noted else []
                return [*new, *self._jump(statement, flags), *jump]
            if isinstance(statement, ast.If) and rest:
                body_ends, else_ends = (
                    _ends_by_jump(branch, flags) for branch in (statement.body, statement.orelse)
                )
                if body_ends or else_ends:
                    statement.body += [] if body_ends else rest
                    statement.orelse += [] if else_ends else rest
                    return [*new, *self._statement(statement, flags)]
            # Rewriting a statement replaces its jumps.
            names = list(dict.fromkeys(filter(None, map(flags.of, _jumps_of(statement)))))
            new += self._statement(statement, flags)
            if names and rest:
                guard = ast.If(self._call("goes_on", names), self._block(rest, flags), [])
                return [*new, _at(guard, rest[0])]
        return new

    def _statement(self, statement: ast.stmt, flags: _Flags) -> list[ast.stmt]:
        if isinstance(statement, _LOOPS):
            return self._loop(statement, flags)
        if isinstance(statement, _FUNCTIONS):
            return [statement]
        if isinstance(statement, _WITH):
            statement.body = self._block(
                statement.body, _Flags(breaks=flags.breaks, are_noted=True)
            )
            return [statement]
        for _, statements in _blocks(statement):
            statements[:] = self._block(statements, flags)
        return [statement]

    def _jump(self, jump: ast.stmt, flags: _Flags) -> list[ast.stmt]:
        name = flags.of(jump)
        assert name is not None
        new = [_assign(name, ast.Constant(True), jump)]
        if isinstance(jump, ast.Return) and self._has_value:
            new.insert(0, _assign(_VALUE, jump.value or ast.Constant(None), jump))
        return new

    def _loop(self, loop: ast.For | ast.While, flags: _Flags) -> list[ast.stmt]:
        """Return a loop without jumps out of branches, with the statements around it."""
        jumps = [jump for statement in loop.body for jump in _jumps_of(statement)]
        kinds = {type(jump) for jump in jumps}
        returns = flags.returns if ast.Return in kinds else None
        if jumps and loop.orelse and any(isinstance(part, _WITH) for part in ast.walk(loop)):
            kinds.add(ast.Break)
        self._loops += 1
        number = self._loops
        inner = replace(
            flags,
            breaks=_BREAKS.format(number) if ast.Break in kinds else None,
            continues=_CONTINUES.format(number) if ast.Continue in kinds else None,
            are_noted=False,
        )
        leaves = [name for name in (inner.breaks, returns) if name]
        body = self._block(loop.body, inner)
        goes_on = self._call("goes_on", leaves)
        before: list[ast.stmt] = []
        if leaves and isinstance(loop, ast.While):
            test = ast.BoolOp(ast.And(), [goes_on, loop.test])
            loop.test = ast.fix_missing_locations(ast.copy_location(test, loop.test))
        elif leaves and isinstance(loop, ast.For):
            # A loop of the kernel is told by what it iterates over.
            iterable = f"{self._helper}_{number}"
            before.append(_assign(iterable, loop.iter, loop))
            loop.iter = ast.copy_location(ast.Name(iterable, ast.Load()), loop.iter)
            is_over = self._call("is_over", [iterable, *leaves])
            body = [
                _at(ast.If(goes_on, body, []), loop.body[0]),
                _at(ast.If(is_over, [ast.Break()], []), loop.body[-1]),
            ]
        if inner.continues:
            body.insert(0, _assign(inner.continues, ast.Constant(False), loop.body[0]))
        if inner.breaks:
            before.append(_assign(inner.breaks, ast.Constant(False), loop))
        new: list[ast.stmt] = [*before, loop]
        orelse = self._block(loop.orelse, flags)
        if orelse and leaves:
            # The loop ends by its flags, which Python's `else` does not see.
            new.append(_at(ast.If(self._call("goes_on", leaves), orelse, []), orelse[0]))
            orelse = []
        loop.body, loop.orelse = body, orelse
        return new

    def _call(self, method: str, names: Sequence[str]) -> ast.expr:
        attribute = ast.Attribute(ast.Name(self._helper, ast.Load()), method, ast.Load())
        return ast.Call(attribute, [ast.Name(name, ast.Load()) for name in names], [])


def _jumps_of(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the jumps in a statement that leave it."""
    if isinstance(statement, _JUMPS):
        yield statement
    for name, statements in _blocks(statement):
        for jump in itertools.chain.from_iterable(map(_jumps_of, statements)):
            if _leaves(jump, statement, name):
                yield jump


def _jumps_in_branches(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the jumps in an `if` or a loop that leave some statements."""
    for statement in statements:
        if isinstance(statement, (ast.If, *_LOOPS)):
            yield from _jumps_of(statement)
            continue
        for name, block in _blocks(statement):
            for jump in _jumps_in_branches(block):
                if _leaves(jump, statement, name):
                    yield jump


def _blocks(statement: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield the blocks of a statement whose jumps are replaced, each with its name."""
    if isinstance(statement, (*_FUNCTIONS, *_WITH)):
        return
    for name in ("body", "orelse", "finalbody"):
        if statements := getattr(statement, name, None):
            yield name, statements
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield "body", part.body


def _leaves(jump: ast.stmt, statement: ast.stmt, block: str) -> bool:
    """Return whether a jump in a block of a statement leaves the statement."""
    return isinstance(jump, ast.Return) or not isinstance(statement, _LOOPS) or block == "orelse"


def _ends_by_jump(statements: Sequence[ast.stmt], flags: _Flags) -> bool:
    """Return whether the last statement is a jump that is replaced, on all paths."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _ends_by_jump(last.body, flags) and _ends_by_jump(last.orelse, flags)
    return isinstance(last, _JUMPS) and flags.of(last) is not None


def _assign(name: str, value: ast.expr, node: ast.stmt) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), node)


def _at(new: ast.stmt, node: ast.stmt) -> ast.stmt:
    """Return a new statement at the position of another one."""
    return ast.fix_missing_locations(ast.copy_location(new, node))
