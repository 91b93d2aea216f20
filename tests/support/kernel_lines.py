"""The lines of a kernel, as docs/language_compared.md counts them."""

import ast


def kernel_lines(source: str, name: str) -> list[str]:
    """Return the lines of a function with its decorators, without docstring, blank lines and lines that
    are comments."""
    (function,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    first = min(node.lineno for node in (function, *function.decorator_list))
    described = ast.get_docstring(function) is not None
    text = (
        range(function.body[0].lineno, (function.body[0].end_lineno or 0) + 1) if described else ()
    )
    lines = list(enumerate(source.splitlines(), 1))[first - 1 : function.end_lineno]
    return [
        line
        for number, line in lines
        if number not in text and line.strip() and not line.lstrip().startswith("#")
    ]
