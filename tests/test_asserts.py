"""`python -O`, which drops asserts, changes nothing: they only tell the type checker what holds."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from mlir_smem import _FOLDERS

ROOT = Path(__file__).parents[1]


def narrows(test):
    """Return whether a condition only narrows types, and calls nothing but `isinstance`."""
    match test:
        case ast.BoolOp(op=ast.And()):
            return all(map(narrows, test.values))
        case ast.UnaryOp(op=ast.Not()):
            return narrows(test.operand)
        case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return not any(isinstance(node, ast.Call) for node in ast.walk(test.left))
        case ast.Call(func=ast.Name(id="isinstance")):
            return True
    return False


@pytest.mark.parametrize("folder", sorted({*_FOLDERS} - {"examples"}))
def test_asserts_only_narrow_types(folder):
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Assert):
                assert narrows(node.test), f"{file}:{node.lineno}: {ast.unparse(node)}"


def test_bad_input_is_refused_without_asserts():
    program = (
        "from mlir_smem.advisor import encode_chunks\n"
        "from mlir_smem.layout import Role, Swizzle, element, tile_of_atoms\n"
        "encode_chunks(tile_of_atoms(element('e2m1'), (128, 768), 1, Swizzle.B128), Role.A, start=8)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True, check=False
    )
    assert "LayoutError: " in done.stderr
