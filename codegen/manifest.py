"""The manifest: what a host must know to launch a kernel.

It is read off the kernel after `smem-to-nvvm`. Attributes of the kernel and its arguments, all
optional, say what types cannot:

- `smem.name`: an argument's name;
- `smem.shape`: names (or numbers) of a matrix's extents; extents of one name must be equal;
- `smem.grid`: for x, y, z, an extent's name and the elements of it that a block covers;
- `smem.multiples`: what an extent must be a multiple of.
"""

from typing import Any

from ..dialect.bindings import ir
from ..passes.allocate import SHARED_BYTES
from ..passes.kernel import block_size
from .errors import CompileError

VERSION = 1

#: Bytes that pointers and rows of matrices must be aligned to: copies move 16 bytes at a time.
ALIGNMENT = 16


#: How a gpu.func says that it is a kernel; the bindings' builder writes the second.
_KERNEL_MARKS = ("kernel", "gpu.kernel")


def manifest_of(device_module: Any, arch: str) -> dict[str, Any]:
    """The manifest of the kernels in a gpu.module, ready for JSON.

    Raises:
        CompileError: if there is no kernel, or an attribute is not of the form above.
    """
    kernels = [
        _kernel(op)
        for op in device_module.regions[0].blocks[0].operations
        if op.operation.name == "gpu.func" and any(mark in op.attributes for mark in _KERNEL_MARKS)
    ]
    if not kernels:
        raise CompileError("the gpu.module holds no kernel: no gpu.func is marked `kernel`")
    return {"version": VERSION, "arch": arch, "kernels": kernels}


def _kernel(function: Any) -> dict[str, Any]:
    attributes = function.attributes
    name = ir.StringAttr(attributes["sym_name"]).value
    inputs = ir.TypeAttr(attributes["function_type"]).value.inputs
    given = list(attributes["arg_attrs"]) if "arg_attrs" in attributes else [{}] * len(inputs)
    size = block_size(function)
    shared = attributes[SHARED_BYTES].value if SHARED_BYTES in attributes else 0
    return {
        "entry": name,
        "arguments": [
            _argument(i, t, a) for i, (t, a) in enumerate(zip(inputs, given, strict=True))
        ],
        "block": list(size) if size else None,
        "grid": _plain(attributes["smem.grid"]) if "smem.grid" in attributes else None,
        "multiples": _plain(attributes["smem.multiples"]) if "smem.multiples" in attributes else {},
        "shared_bytes": shared,
        "tensor_maps": [],
    }


def _argument(index: int, type_: Any, attributes: Any) -> dict[str, Any]:
    name = _plain(attributes["smem.name"]) if "smem.name" in attributes else f"arg{index}"
    if not isinstance(type_, ir.MemRefType):
        return {"name": name, "kind": "scalar", "type": str(type_)}
    dynamic = ir.ShapedType.get_dynamic_size()
    shape: list[Any] = [None if extent == dynamic else extent for extent in type_.shape]
    if "smem.shape" in attributes:
        names = _plain(attributes["smem.shape"])
        if len(names) != len(shape):
            raise CompileError(
                f"smem.shape of {name} names {len(names)} extents, but {type_} has {len(shape)}"
            )
        shape = [
            extent if extent is not None else n for extent, n in zip(shape, names, strict=True)
        ]
    strides, _ = type_.get_strides_and_offset()
    dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
    return {
        "name": name,
        "kind": "memref",
        "element": str(type_.element_type),
        "shape": shape,
        "strides": [None if s == dynamic_stride else s for s in strides],
        "alignment": ALIGNMENT,
    }


def _plain(attribute: Any) -> Any:
    """An attribute as Python data."""
    if isinstance(attribute, ir.StringAttr | ir.IntegerAttr):
        return attribute.value
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(a.maybe_downcast()) for a in attribute]
    if isinstance(attribute, ir.DictAttr):
        return {named.name: _plain(named.attr.maybe_downcast()) for named in attribute}
    raise CompileError(f"expected strings, integers and arrays of them, not {attribute}")
