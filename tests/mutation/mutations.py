"""The mutants of a file: single edits of the arithmetic in its syntax tree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: The replacement of each operator and comparison.
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitXor: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
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
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}

#: Nodes, types and methods that are not edited: messages, and what only the type checker reads.
_NOT_EDITED = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)
_TYPES = {"tuple", "dict", "list", "Mapping", "Callable", "ClassVar"}
_NOT_EDITED_IN = {"__str__", "__repr__", "__hash__", "__getstate__"}

#: Canonical forms in the notation of the ISA.
_FORM = re.compile(r"\(\(.*\)\):\(\(.*\)\)")


@dataclass(frozen=True)
class Mutant:
    """An edit of one place of a file.

    Attributes:
        file: relative to the repository.
        place: the classes and the function around it, or the name that is assigned.
        change: the original text, and its replacement.
        nth: the number of the edit among those of the same place with the same text.
        line: the line of the node.
        node: the number of the node in the tree, in the order of `ast.walk`.
        choice: the number of the edit among those of the node.
    """

    file: str
    place: str
    change: str
    nth: int
    line: int
    node: int
    choice: int

    @property
    def name(self) -> str:
        """A unique name, which does not depend on the rest of the file."""
        number = f" [{self.nth}]" if self.nth else ""
        return f"{self.file}: {self.place}: {self.change}{number}"

    def tree(self) -> ast.Module:
        """The file's tree with the edit."""
        tree = parse_file(self.file)
        nodes = list(ast.walk(tree))
        edited = nodes[self.node]
        new = _edits(edited, self.file)[self.choice]()
        for parent in nodes:
            for field, value in ast.iter_fields(parent):
                if value is edited:
                    setattr(parent, field, new)
                elif isinstance(value, list) and any(child is edited for child in value):
                    value[[child is edited for child in value].index(True)] = new
        return ast.fix_missing_locations(tree)

    def code(self):
        """The file's compiled code with the edit."""
        return compile(self.tree(), str(ROOT / self.file), "exec")


def mutants_of(file: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    tree = parse_file(file)
    nodes = list(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    edits = []
    for i, node in enumerate(nodes):
        ancestors = list(_ancestors(node, parents))
        if not hasattr(node, "lineno") or _is_excluded(node, ancestors):
            continue
        for choice, edit in enumerate(_edits(node, file)):
            change = f"{_text(node)} -> {_text(edit())}"
            edits.append((node.lineno, i, choice, _place(ancestors), change))
    seen: Counter[tuple[str, str]] = Counter()
    mutants = []
    for line, i, choice, place, change in sorted(edits):
        mutants.append(Mutant(file, place, change, seen[place, change], line, i, choice))
        seen[place, change] += 1
    return mutants


def parse_file(file: str) -> ast.Module:
    """The tree of a file of the repository."""
    return ast.parse((ROOT / file).read_text())


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _ancestors(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _place(ancestors: list[ast.AST]) -> str:
    """Return the names of the classes and functions around a node, and the name that is assigned."""
    names = []
    for node in reversed(ancestors):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.append(name)
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                if not any(isinstance(ancestor, ast.FunctionDef) for ancestor in ancestors):
                    names.append(_text(target).strip("()"))
    return ".".join(names)


def _is_excluded(node: ast.AST, ancestors: list[ast.AST]) -> bool:
    """Return whether a node is not edited: a message, an annotation, or not within a body."""
    inner = node
    for outer in ancestors:
        types = isinstance(outer, ast.Subscript) and _text(outer.value) in _TYPES
        if types or isinstance(outer, _NOT_EDITED) or inner is getattr(outer, "annotation", None):
            return True
        if isinstance(outer, ast.FunctionDef) and (
            outer.name in _NOT_EDITED_IN or inner is outer.returns or inner in outer.decorator_list
        ):
            return True
        if isinstance(outer, ast.ClassDef) and inner not in outer.body:
            return True
        inner = outer
    return False


def _edits(node: ast.AST, file: str) -> list[Callable[[], ast.AST]]:
    """Return functions that make the replacements of a node."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            others = (value + 1, value - 1) if value else (1,)
            return [lambda other=other: ast.Constant(other) for other in others]
        case ast.Constant(value=str() as text) if _FORM.fullmatch(text):
            return [lambda form=form: ast.Constant(form) for form in _other_forms(text)]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            if not _is_text(left):
                return [lambda: ast.BinOp(left, _OPERATORS[type(op)](), right)]
        case ast.Compare(left=left, ops=[op], comparators=compared):
            return [lambda: ast.Compare(left, [_OPERATORS[type(op)]()], compared)]
        case ast.BoolOp(op=op, values=values):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            return [lambda: ast.BoolOp(other(), values)]
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            return [lambda: operand]
        case ast.IfExp(body=body, orelse=orelse) if not (_is_text(body) or _is_text(orelse)):
            return [lambda: body, lambda: orelse]
        case ast.Tuple(elts=[first, second], ctx=ast.Load()) if _differ(first, second):
            return [lambda: ast.Tuple([second, first], ast.Load())]
        case ast.Call(func=ast.Attribute(value=descriptor, attr="encode"), args=[]) if (
            _text(descriptor) != "self"
        ):
            return _bits(descriptor, file)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in _FUNCTIONS:
            return [lambda: ast.Call(ast.Name(_FUNCTIONS[name], ast.Load()), args, keywords)]
        case ast.Call(func=function, args=args, keywords=keywords):
            return [
                lambda i=i: ast.Call(
                    function, [*args[:i], args[i + 1], args[i], *args[i + 2 :]], keywords
                )
                for i in range(len(args) - 1)
                if _differ(args[i], args[i + 1]) and _text(function) != "TypeVar"
            ]
    return []


def _other_forms(text: str) -> Iterator[str]:
    """Yield a form with one factor or stride doubled, and with LBO and SBO exchanged."""
    for number in re.finditer(r"\d+", text):
        yield text[: number.start()] + str(2 * int(number[0])) + text[number.end() :]
    if "LBO" in text and "SBO" in text:
        yield text.replace("LBO", "?").replace("SBO", "LBO").replace("?", "SBO")


def _bits(descriptor: ast.expr, file: str) -> list[Callable[[], ast.AST]]:
    """Return the edits that flip one bit of an encoded descriptor where it is emitted."""
    expression, folder = _text(descriptor), file.partition("/")[0]
    matrices = {"WgmmaDescriptor": 64, "Tcgen05Descriptor": 64}
    widths = {"ir": matrices, "passes": {"InstructionDescriptor": 32}}.get(folder, {})
    return [
        lambda class_=class_, bit=bit: (
            ast.parse(
                f"(lambda d: d.encode() ^ (type(d).__name__ == {class_!r}) << {bit})({expression})",
                mode="eval",
            ).body
        )
        for class_, width in widths.items()
        for bit in range(width)
    ]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _differ(one: ast.AST, other: ast.AST) -> bool:
    """Return whether two expressions are different quantities, which an edit may exchange."""
    return all(map(_is_quantity, (one, other))) and ast.dump(one) != ast.dump(other)


def _is_quantity(node: ast.AST) -> bool:
    """Return whether a node is a name, or an attribute of anything but a class."""
    if isinstance(node, ast.Attribute):
        return not (isinstance(node.value, ast.Name) and node.value.id[:1].isupper())
    return isinstance(node, ast.Name)
