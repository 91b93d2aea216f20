"""Equal kernels of a program, such as those of a model's layers, become one, which is compiled once."""

from __future__ import annotations

from ..bindings.irtypes import Attribute, Module, Op
from ..bindings.mlir import ir
from ..ir.launches import LAUNCH
from ..ir.walk import walk

_NAME = "sym_name"


def merge_equal_kernels(module: Module) -> None:
    """Replace each `gpu.module` that equals an earlier one but for names; each has one kernel."""
    first: dict[str, Op] = {}
    replaced: dict[Attribute, Attribute] = {}
    for kernels in [op.operation for op in module.body.operations]:
        if kernels.name != "gpu.module" or len(kernels.regions[0].blocks[0].operations) != 1:
            continue
        earlier = first.setdefault(_text(kernels), kernels)
        if earlier != kernels:
            replaced[_symbol(kernels)] = _symbol(earlier)
            kernels.erase()
    for launch in walk(module, LAUNCH):
        symbol = launch.attributes["kernel"]
        launch.attributes["kernel"] = replaced.get(symbol, symbol)


def _text(kernels: Op) -> str:
    """Return a `gpu.module` as text, without its name and that of its kernel."""
    copy = kernels.clone(ip=False).operation
    for op in (copy, _kernel(copy)):
        op.attributes[_NAME] = ir.StringAttr.get("kernel")
    return str(copy)


def _symbol(kernels: Op) -> Attribute:
    """Return the reference to a `gpu.module`'s kernel."""
    names = (ir.StringAttr(op.attributes[_NAME]).value for op in (kernels, _kernel(kernels)))
    return ir.SymbolRefAttr.get(list(names))


def _kernel(kernels: Op) -> Op:
    return kernels.regions[0].blocks[0].operations[0].operation
