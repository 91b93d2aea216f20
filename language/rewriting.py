"""Functions whose `if`, `and`, `or`, `not` and conditional expressions work on values of the kernel.

Python asks each condition for its truth value, which a value of the running kernel does not have. So a
function is rewritten in its syntax tree before it is traced, as CuTe's DSL does: `if c: A` becomes

    branch = __smem_statements.branch(c)
    if branch.then(): A
    branch.end()

What the calls do is decided while the kernel is traced (`control/statements.py`): on Python's own values
what Python does, on conditions of the kernel an `scf.if`. A function whose source cannot be had is not
rewritten.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import itertools
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

from .jumps import JumpEliminator
from .locations import FOLDER

#: The name of `control.statements.Statements` in a rewritten function, and how names that it adds begin.
PREFIX = "__smem_"
HELPER = f"{PREFIX}statements"

#: Functions that look at the variables of their caller.
_LOOK_AT_CALLER = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}

#: Flags of code that `from __future__ import` sets.
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

_Function = ast.FunctionDef | ast.Lambda


def rewrite(function: FunctionType, helper: Any) -> FunctionType:
    """Return a function, rewritten to call `helper`; the function itself if nothing is to rewrite.

    Args:
        function: the author's function.
        helper: `control.statements.Statements`.
    """
    code = _rewritten_code(function.__code__, function.__code__.co_filename)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[HELPER] = CellType(helper)
    rewritten = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    rewritten.__kwdefaults__ = function.__kwdefaults__
    return rewritten


@lru_cache(maxsize=1024)
def _rewritten_code(code: CodeType, file: str) -> CodeType | None:
    """Return the code of a rewritten function; None if its source cannot be had, or needs no rewriting.

    Code of two files may be equal, so the file is a part of the key.
    """
    if file.startswith(FOLDER) or HELPER in code.co_freevars:
        return None
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    linecache.checkcache(file)
    node = _node_of(code, "".join(linecache.getlines(file)))
    if node is None or any(map(_is_mangled, _names(node))):
        return None
    rewriter = _Rewriter()
    rewritten = rewriter.rewrite_function(copy.deepcopy(node))
    if not rewriter.has_changed:
        return None
    return _compile(rewritten, code)


def _node_of(code: CodeType, source: str) -> _Function | None:
    """Return the syntax tree of a function's code; None if the source is not the one of this code."""
    tree, codes = _parse(source, code.co_filename)
    if (code.co_name, code.co_firstlineno, code.co_code) not in codes:
        return None
    is_lambda = code.co_name == "<lambda>"
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda if is_lambda else ast.FunctionDef)
        and getattr(node, "name", "<lambda>") == code.co_name
        and _first_line(node) == code.co_firstlineno
    ]
    if is_lambda:
        *_, end = code.co_positions()
        nodes = [node for node in nodes if _span(node.body) == end]
    return nodes[0] if len(nodes) == 1 else None


@lru_cache(maxsize=64)
def _parse(source: str, file: str) -> tuple[ast.AST, frozenset[tuple[str, int, bytes]]]:
    """Return the syntax tree of a file, and the name, first line and instructions of each function."""
    try:
        tree = ast.parse(source)
        left = [compile(tree, file, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ast.Module([], []), frozenset()
    codes = set()
    while left:
        code = left.pop()
        codes.add((code.co_name, code.co_firstlineno, code.co_code))
        left += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return tree, frozenset(codes)


def _first_line(node: _Function) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _span(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _compile(node: _Function, code: CodeType) -> CodeType:
    """Compile the syntax tree of a function for the globals and the closure of its code."""
    name = f"{PREFIX}function"
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Return(node)]
    else:
        function = ast.FunctionDef(**{field: getattr(node, field) for field in node._fields})
        # Decorators stay, for the first line of the code; they are not executed.
        function.name, function.returns = name, None
        function.args = _without_values(node.args)
        body = [ast.copy_location(function, node)]
    # Variables of functions around it are those of a function here, so that they are free in it, too.
    free = [ast.arg(name) for name in (*code.co_freevars, HELPER)]
    fields: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
    outer = ast.FunctionDef(
        name=f"{PREFIX}closure",
        args=ast.arguments([], free, None, [], [], None, []),
        body=body,
        decorator_list=[],
        **fields,
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = code.co_flags & _FUTURE
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    closure = next(x for x in compiled.co_consts if isinstance(x, CodeType))
    names = (name, "<lambda>")
    *_, rewritten = [x for x in closure.co_consts if isinstance(x, CodeType) and x.co_name in names]
    return rewritten.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def _without_values(arguments: ast.arguments) -> ast.arguments:
    """Return parameters without defaults, which the function keeps, and without annotations."""

    def bare(argument: ast.arg | None) -> ast.arg | None:
        return argument and ast.copy_location(ast.arg(argument.arg), argument)

    return ast.arguments(
        posonlyargs=[ast.arg(x.arg) for x in arguments.posonlyargs],
        args=[ast.arg(x.arg) for x in arguments.args],
        vararg=bare(arguments.vararg),
        kwonlyargs=[ast.arg(x.arg) for x in arguments.kwonlyargs],
        kw_defaults=[None] * len(arguments.kwonlyargs),
        kwarg=bare(arguments.kwarg),
        defaults=[],
    )


def _last_branches(body: list[ast.stmt]) -> set[ast.If]:
    """Return the `if` statements after which a function ends."""
    last = body[-1] if body else None
    if not isinstance(last, ast.If):
        return set()
    return {last} | _last_branches(last.body) | _last_branches(last.orelse)


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(part, field, None)
            if isinstance(name, str):
                yield name


def _is_mangled(name: str) -> bool:
    """Return whether a name gets another one within a class."""
    return name.startswith("__") and not name.endswith("__")


class _Rewriter(ast.NodeTransformer):
    """Rewrites the body of a function.

    Attributes:
        has_changed: whether something was rewritten.
    """

    def __init__(self) -> None:
        self.has_changed = False
        self._count = 0
        self._in_iterable = 0
        self._last: set[ast.If] = set()
        # The branches around a statement, and None for each loop.
        self._around: list[str | None] = []

    def rewrite_function(self, node: _Function) -> _Function:
        """Return a function with a rewritten body; defaults and decorators stay."""
        if isinstance(node, ast.Lambda):
            return ast.copy_location(ast.Lambda(node.args, self.visit(node.body)), node)
        fields = {field: getattr(node, field) for field in node._fields}
        body = JumpEliminator(HELPER).function_body(node.body)
        self._last = _last_branches(body)
        fields["body"] = self._block(body)
        return ast.copy_location(ast.FunctionDef(**fields), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        around, self._around = self._around, []
        node.body = JumpEliminator(HELPER).function_body(node.body)
        self.generic_visit(node)
        self._around = around
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self._around.append(None)
        self.generic_visit(node)
        self._around.pop()
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """Return a `for` statement around an `if` on the condition."""
        self._around.append(None)
        loop, branch = self._new_name(), self._new_name()
        test = self._at(self._method(loop, "goes_on", self._condition(node.test)), node.test)
        body = self._if(branch, test, node.body, [])
        self._around.pop()
        orelse = self._block(node.orelse)
        name = ast.Name(loop, ast.Store())
        new = ast.For(name, self._call("while_loop"), body, orelse)
        return ast.fix_missing_locations(ast.copy_location(new, node))

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        self.generic_visit(node)
        return [*self._leave("return", [name for name in self._around if name], node), node]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        return [*self._leave("break", self._around_in_loop(), node), node]

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        return [*self._leave("continue", self._around_in_loop(), node), node]

    def _around_in_loop(self) -> list[str]:
        """Return the branches around a statement that are in the same loop."""
        return [name for name in itertools.takewhile(bool, reversed(self._around)) if name]

    def _leave(self, word: str, branches: list[str], node: ast.stmt) -> list[ast.stmt]:
        statements = [ast.Expr(self._method(x, "leave", ast.Constant(word))) for x in branches]
        for statement in statements:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return list[ast.stmt](statements)

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        ends_function = node in self._last
        return self._if(
            self._new_name(), self._condition(node.test), node.body, node.orelse, ends_function
        )

    def _if(
        self,
        name: str,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        ends_function: bool = False,
    ) -> list[ast.stmt]:
        """Return an `if` statement on a rewritten condition.

        Args:
            name: of the variable with its `ChosenBranch`.
            test: the condition.
            body, orelse: its branches, which are not rewritten yet.
            ends_function: whether the function ends after it.
        """
        self._around.append(name)
        last = [ast.Constant(True)] if ends_function else []
        begin = ast.Assign([ast.Name(name, ast.Store())], self._call("branch", test, *last))
        then = ast.If(self._method(name, "then"), self._block(body), [])
        otherwise = ast.If(self._method(name, "otherwise"), self._block(orelse), [])
        end = ast.Expr(self._method(name, "end"))
        self._around.pop()
        statements = [begin, then, *([otherwise] if orelse else []), end]
        for statement in statements:
            ast.copy_location(statement, test)
            ast.fix_missing_locations(statement)
        return statements

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test, body, orelse = (
            self._condition(node.test),
            self.visit(node.body),
            self.visit(node.orelse),
        )
        first = ast.IfExp(self._call("begin_then", test), body, ast.Constant(None))
        second = ast.IfExp(self._call("begin_else"), orelse, ast.Constant(None))
        return self._at(self._call("end_choice", first, second), node)

    def _condition(self, node: ast.expr) -> ast.expr:
        """Return an expression of which only the truth value counts."""
        if isinstance(node, ast.BoolOp):
            return self._operands(node, [self._condition(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._at(self._call("negate", self._condition(node.operand)), node)
        return self._at(self._call("truth", self.visit(node)), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return self._operands(node, list(map(self.visit, node.values)))

    def _operands(self, node: ast.BoolOp, values: list[ast.expr]) -> Any:
        """Return `and` or `or` of rewritten operands."""
        name = "and" if isinstance(node.op, ast.And) else "or"
        result, *others = values
        for value in others:
            right = ast.IfExp(self._call(f"begin_{name}", result), value, ast.Constant(None))
            result = self._at(self._call(f"end_{name}", right), node)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            return self._condition(node)
        self.generic_visit(node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 or self._in_iterable:
            return node
        left, comparisons = node.left, []
        for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True), start=1):
            name = self._new_name()
            is_last = number == len(node.ops)
            # An operand between two comparisons is evaluated once.
            operand = right if is_last else ast.NamedExpr(ast.Name(name, ast.Store()), right)
            comparisons.append(self._at(ast.Compare(left, [op], [operand]), node))
            left = ast.Name(name, ast.Load())
        # The operand is used in the branch in which it is evaluated.
        *before, result = comparisons
        for comparison in reversed(before):
            then = ast.IfExp(self._call("begin_and", comparison), result, ast.Constant(None))
            result = self._at(self._call("end_and", then), node)
        return result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _LOOK_AT_CALLER | {HELPER}:
            return node
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == HELPER:
            return node
        called = self._at(self._call("callee", node.func), node.func)
        return ast.copy_location(ast.Call(called, node.args, node.keywords), node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self._in_iterable += 1
        iterable = self.visit(node.iter)
        self._in_iterable -= 1
        conditions = [self.visit(condition) for condition in node.ifs]
        return ast.comprehension(node.target, iterable, conditions, node.is_async)

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            rewritten += new if isinstance(new, list) else [new]
        return rewritten

    def _new_name(self) -> str:
        self._count += 1
        return f"{PREFIX}{self._count}"

    def _call(self, method: str, *arguments: ast.expr) -> ast.Call:
        self.has_changed = True
        return self._method(HELPER, method, *arguments)

    @staticmethod
    def _method(name: str, method: str, *arguments: ast.expr) -> ast.Call:
        attribute = ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load())
        return ast.Call(attribute, list(arguments), [])

    @staticmethod
    def _at(new: Any, node: ast.expr) -> Any:
        """Return a new node with the position of another one, also of its parts that have none."""
        return ast.fix_missing_locations(ast.copy_location(new, node))
