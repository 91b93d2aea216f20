"""Reshapes by a tensor of extents, as reshapes by numbers; and casts to known extents, checked."""

from __future__ import annotations

from math import prod

from ...bindings.irtypes import Attribute, Module, Op, Type
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.walk import walk
from ..extents import index
from .generic import owner

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def reshape_by_numbers(module: Module) -> None:
    """Replace each `tensor.reshape` whose extents are numbers by a collapse and an expansion.

    The tensor of extents would be in memory, which is the GPU's.
    """
    for op in list(walk(module, "tensor.reshape")):
        shape = owner(op.operands[1])
        if shape is not None and shape.name == "tensor.from_elements" and list(shape.operands):
            with op.location, ir.InsertionPoint(op):
                _reshape(op, shape)


def check_casts(module: Module) -> None:
    """Assert that a tensor has the extents that a `tensor.cast` says; else the cast has no meaning."""
    for op in list(walk(module, "tensor.cast")):
        source, shape = op.operands[0], op.results[0].type.shape
        for dim, (before, after) in enumerate(zip(source.type.shape, shape, strict=True)):
            if before != _DYNAMIC or after == _DYNAMIC:
                continue
            with op.location, ir.InsertionPoint(op):
                extent = emit.value("tensor.dim", (source, index(dim)), ir.IndexType.get())
                message = f"dimension {dim} of a tensor has the extent {after}"
                emit.op(
                    "cf.assert",
                    (emit.compare("eq", extent, after),),
                    msg=ir.StringAttr.get(message),
                )


def _reshape(op: Op, shape: Op) -> None:
    source, type_ = op.operands[0], ir.RankedTensorType(op.results[0].type)
    flat_type = _flat_type(source.type)
    if source.type.rank != 1:
        source = emit.value(
            "tensor.collapse_shape",
            (source,),
            flat_type,
            reassociation=_one_group(source.type.rank),
        )
    extents = [
        emit.cast_index(extent, ir.IndexType.get())
        for extent, static in zip(shape.operands, type_.shape, strict=True)
        if static == _DYNAMIC
    ]
    expanded = emit.value(
        "tensor.expand_shape",
        (source, *extents),
        type_,
        reassociation=_one_group(type_.rank),
        static_output_shape=ir.DenseI64ArrayAttr.get(list(type_.shape)),
    )
    op.results[0].replace_all_uses_with(expanded)
    op.erase()


def _flat_type(type_: Type) -> Type:
    size = _DYNAMIC if _DYNAMIC in type_.shape else prod(type_.shape)
    return ir.RankedTensorType.get([size], type_.element_type)


def _one_group(rank: int) -> Attribute:
    """Return the reassociation of all dimensions with one."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in range(rank)])])
