"""The mutants of a file: edits of its arithmetic, one at a time, in its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_BINARY: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitXor: (ast.BitOr, ast.Add),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}
_COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}

#: What says something to people, and what only the type checker reads.
_NOT_EDITED = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)
_NOT_EDITED_IN = {"__str__", "__repr__"}


@dataclass(frozen=True)
class Mutant:
    """An edit of one place of a file.

    Attributes:
        file: relative to the repository.
        line: of the place.
        what: what was there, and what is there instead.
        node: the place among the nodes of the tree, in the order of `ast.walk`.
        choice: which of the place's edits.
        function: name and line of the outermost function around it; None if it runs while modules are
            imported.
        statement: first and last line of the statement around it.
    """

    file: str
    line: int
    what: str
    node: int
    choice: int
    function: tuple[str, int] | None
    statement: tuple[int, int]

    @property
    def name(self) -> str:
        """A name that is unique."""
        return f"{self.file}:{self.line}: {self.what} [{self.node}.{self.choice}]"

    def tree(self) -> ast.Module:
        """The file's tree with the edit."""
        tree = _parsed(self.file)
        nodes = list(ast.walk(tree))
        place = nodes[self.node]
        new = _edits(place, _parents(nodes).get(place), self.file)[self.choice]()
        for parent in nodes:
            for field, value in ast.iter_fields(parent):
                if value is place:
                    setattr(parent, field, new)
                elif isinstance(value, list) and any(each is place for each in value):
                    value[[each is place for each in value].index(True)] = new
        return ast.fix_missing_locations(tree)

    def code(self):
        """The file's compiled code with the edit."""
        return compile(self.tree(), str(ROOT / self.file), "exec")


def mutants_of(file: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    tree = _parsed(file)
    nodes = list(ast.walk(tree))
    parents = _parents(nodes)
    found = []
    for i, node in enumerate(nodes):
        above = list(_above(node, parents))
        if not hasattr(node, "lineno") or _is_left_alone(node, above):
            continue
        statement = next(n for n in (node, *above) if isinstance(n, ast.stmt))
        for choice, edit in enumerate(_edits(node, parents.get(node), file)):
            what = f"{_text(node)} -> {_text(edit())}"
            lines = (statement.lineno, _last_line(statement))
            found.append(Mutant(file, node.lineno, what, i, choice, _function(node, above), lines))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.node, mutant.choice))


@cache
def _source(file: str) -> str:
    return (ROOT / file).read_text()


def _parsed(file: str) -> ast.Module:
    return ast.parse(_source(file))


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _parents(nodes: list[ast.AST]) -> dict[ast.AST, ast.AST]:
    return {child: node for node in nodes for child in ast.iter_child_nodes(node)}


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _last_line(statement: ast.stmt) -> int:
    """The last line of a statement without those it holds."""
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or 0


def _is_left_alone(node: ast.AST, above: list[ast.AST]) -> bool:
    """Whether a place is no arithmetic."""
    inner = node
    for outer in above:
        if isinstance(outer, _NOT_EDITED) or inner is getattr(outer, "annotation", None):
            return True
        if isinstance(outer, ast.FunctionDef) and (
            outer.name in _NOT_EDITED_IN or inner is outer.returns or inner in outer.decorator_list
        ):
            return True
        if isinstance(outer, ast.ClassDef) and inner not in outer.body:
            return True
        inner = outer
    return False


def _function(node: ast.AST, above: list[ast.AST]) -> tuple[str, int] | None:
    """Name and line of the outermost function whose body a place is in."""
    path = [node, *above]
    for i in range(len(path) - 1, 0, -1):
        outer = path[i]
        if isinstance(outer, ast.FunctionDef):
            if path[i - 1] not in outer.body:
                return None
            names = [each.name for each in path[i:] if isinstance(each, ast.ClassDef)]
            lines = [outer.lineno, *(each.lineno for each in outer.decorator_list)]
            return ".".join([*reversed(names), outer.name]), min(lines)
    return None


def _edits(node: ast.AST, parent: ast.AST | None, file: str) -> list[Callable[[], ast.AST]]:
    """What a place may be replaced by."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            others = dict.fromkeys((value + 1, value - 1, 2 * value, 0))
            return [
                lambda other=other: ast.Constant(other)
                for other in others
                if other != value and other >= 0
            ]
        case ast.BinOp(left=left, op=op, right=right) if not _is_text(left):
            return [
                lambda new=new: ast.BinOp(left, new(), right) for new in _BINARY.get(type(op), ())
            ]
        case ast.Compare(left=left, ops=[op], comparators=compared) if type(op) in _COMPARED:
            return [lambda: ast.Compare(left, [_COMPARED[type(op)]()], compared)]
        case ast.BoolOp(op=op, values=values):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            return [lambda: ast.BoolOp(other(), values)]
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            return [lambda: operand]
        case ast.IfExp(body=body, orelse=orelse) if not (_is_text(body) or _is_text(orelse)):
            return [lambda: body, lambda: orelse]
        case ast.Tuple(elts=[first, second], ctx=ast.Load()) if _differ(first, second):
            return [lambda: ast.Tuple([second, first], ast.Load())]
        case ast.Call(func=ast.Attribute(attr="encode"), args=[]):
            # Each bit of a descriptor.
            width = 32 if "instruction" in file or "lower_mma" in file else 64
            return [lambda bit=bit: _flipped(node, bit) for bit in range(width)]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in _CALLED:
            return [lambda: ast.Call(ast.Name(_CALLED[name], ast.Load()), args, keywords)]
        case ast.Call(func=function, args=args, keywords=keywords):
            return [
                lambda i=i: ast.Call(
                    function, [*args[:i], args[i + 1], args[i], *args[i + 2 :]], keywords
                )
                for i in range(len(args) - 1)
                if _differ(args[i], args[i + 1])
            ]
    return []


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _differ(one: ast.AST, other: ast.AST) -> bool:
    """Whether two quantities that are told apart by their places alone may be exchanged."""
    plain = (ast.Name, ast.Attribute)
    return isinstance(one, plain) and isinstance(other, plain) and ast.dump(one) != ast.dump(other)


def _flipped(node: ast.expr, bit: int) -> ast.expr:
    return ast.BinOp(node, ast.BitXor(), ast.Constant(1 << bit))
