"""Ops of linalg that upstream's passes do not bufferize or lower to loops, as ops that they do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...bindings.irtypes import Module
from ...bindings.mlir import PACKAGE, ir
from ...ir.walk import walk

_ANY = "!transform.any_op"


def _handle(name: str) -> str:
    return f'!transform.op<"{name}">'


#: Ops, and upstream's ops of the transform dialect that replace them, with the types of their results.
_REPLACEMENTS = {
    "linalg.softmax": ("decompose_interface", [_ANY]),
    "linalg.pack": (
        "lower_pack",
        [_handle("tensor.pad"), _handle("tensor.expand_shape"), _handle("linalg.transpose")],
    ),
    "linalg.unpack": (
        "lower_unpack",
        [
            *(_handle("tensor.empty"), _handle("linalg.transpose")),
            *(_handle("tensor.collapse_shape"), _handle("tensor.extract_slice")),
            _handle("linalg.copy"),
        ],
    ),
}


def decompose(module: Module) -> None:
    """Replace softmaxes, and packed layouts, by element-wise ops, reductions, moves and reshapes."""
    names = {op.name for op in walk(module, *_REPLACEMENTS)}
    if not names:
        return
    interpreter: Any = import_module(f"{PACKAGE}.dialects.transform.interpreter")
    steps = "".join(_step(number, name) for number, name in enumerate(sorted(names)))
    script = ir.Module.parse(
        "module attributes {transform.with_named_sequence} {"
        f"transform.named_sequence @main(%module: {_ANY}) {{ {steps} transform.yield }} }}"
    )
    (sequence,) = script.body.operations
    interpreter.apply_named_sequence(module.operation, sequence, script)


def _step(number: int, name: str) -> str:
    op, results = _REPLACEMENTS[name]
    payload = _handle(name)
    return (
        f'%{number} = transform.structured.match ops{{["{name}"]}} in %module '
        f": ({_ANY}) -> {payload} transform.foreach %{number} : {payload} {{ ^bb0(%one: {payload}): "
        f"%made:{len(results)} = transform.structured.{op} %one : ({payload}) -> ({', '.join(results)}) "
        "transform.yield } "
    )
