"""The manifest: what a host needs to launch a kernel.

It is computed from the kernel after `smem-to-nvvm`. Optional attributes of the kernel and its arguments
add what types do not express:

- `smem.name`: the name of an argument;
- `smem.shape`: names (or numbers) of a matrix's extents; extents with the same name are equal;
- `smem.grid`: for x, y, z, the name of an extent and the elements of it that a thread block covers;
- `smem.multiples`: a number that divides an extent.

The rest comes from the kernel's code. The "alignment" of a matrix is the kernel's widest access to it, in
bytes: its address is a multiple of it, and its strides except the contiguous one are multiples of it or
of 16, whichever is smaller. Parameters with `smem.tensor_map`, which the lowering of TMA appends to the
arguments, become the entries of "tensor_maps". `known_cluster_size` becomes "cluster", thread blocks
along x, y, z, or null. "programmatic" is true for a kernel that waits for earlier kernels with
`nvvm.griddepcontrol wait`: it may start before they end (programmatic dependent launch).
"""

from typing import Any

from ..bindings.diagnostics import UNREADABLE, Invalid, format_location
from ..bindings.mlir import ir
from ..dialect.memrefs import is_dynamic, strides_of
from ..ir.cluster import cluster_size
from ..ir.errors import OpError
from ..ir.kernel import block_size, parameter_attributes
from ..ir.launch_attributes import MULTIPLES, SHARED_BYTES, TENSOR_MAP
from ..ir.walk import walk
from ..layout.elements import NARROW, UNIT_BYTES
from ..layout.lines import unaligned_dim
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import PADDED_ALIGNMENT
from .alignment import MatrixAccess, element_bytes, widest_access
from .errors import CompileError, LocatedError, error_at, unreadable_error

VERSION = 1

#: Supported ranks of a tensor map: boxes are matrices, or have more dimensions.
_TENSOR_MAP_RANKS = range(2, 6)

#: The optional keys of a tensor map, of upstream's type, and their values; without them, L2 promotion is
#: to 256 bytes, and elements outside of the matrix are zero.
FURTHER = {"l2_promotion": ("none", "64B", "128B", "256B"), "oob": ("zero", "nan")}

#: Attributes that mark a gpu.func as a kernel; the bindings' builder writes the second.
_KERNEL_MARKS = ("kernel", "gpu.kernel")

#: The keys of a kernel in a manifest, and of an argument by its "kind".
_KERNEL_KEYS = {
    *("entry", "arguments", "extents", "block", "cluster", "grid", "multiples", "programmatic"),
    *("shared_bytes", "tensor_maps"),
}
_ARGUMENT_KEYS = {
    "memref": {"name", "kind", "element", "shape", "strides", "alignment"},
    "scalar": {"name", "kind", "type"},
}


def is_manifest(data: Any) -> bool:
    """Return whether JSON data is a manifest of this version; only the keys are checked.

    Example:
        >>> compiled = compile(mlir_smem.examples.path("mma.mlir").read_text(), emit="nvvm")
        >>> is_manifest(compiled.manifest), is_manifest({})
        (True, False)
    """
    match data:
        case {"version": version, "arch": str(), "kernels": [_, *_] as kernels}:
            return version == VERSION and all(map(_is_kernel, kernels))
        case _:
            return False


def _is_kernel(data: Any) -> bool:
    if (
        not isinstance(data, dict)
        or set(data) != _KERNEL_KEYS
        or not isinstance(data["arguments"], list)
    ):
        return False
    return all(
        isinstance(a, dict) and set(a) == _ARGUMENT_KEYS.get(str(a.get("kind")))
        for a in data["arguments"]
    )


def manifest_of(device_module: Any, arch: str) -> dict[str, Any]:
    """Return the manifest of the kernels in a gpu.module, as JSON data.

    Raises:
        CompileError: if there is no kernel; with a located diagnostic, if a host cannot pass an
            argument's type, or an attribute does not have the form above.
    """
    kernels = [
        _located_kernel(op)
        for op in device_module.regions[0].blocks[0].operations
        if op.operation.name == "gpu.func" and any(mark in op.attributes for mark in _KERNEL_MARKS)
    ]
    if not kernels:
        raise CompileError("the gpu.module holds no kernel: no gpu.func is marked `kernel`")
    return {"version": VERSION, "arch": arch, "kernels": kernels}


def _located_kernel(function: Any) -> dict[str, Any]:
    """Return the entry of a kernel; an error becomes a diagnostic at its location."""
    try:
        return _kernel(function)
    except LocatedError:
        raise
    except CompileError as error:
        function.location.emit_error(str(error))
        position = format_location(function.location)
        raise LocatedError(f"{position}: {error}") from None
    except OpError as error:
        raise error_at(error.op, error.message) from None
    except UNREADABLE:
        if (error := unreadable_error(function, "the kernel")) is None:
            raise
        raise error from None


def _kernel(function: Any) -> dict[str, Any]:
    attributes = function.attributes
    inputs = ir.TypeAttr(attributes["function_type"]).value.inputs
    parameters = list(zip(inputs, parameter_attributes(function, len(inputs)), strict=True))
    argument_parameters = [(t, a) for t, a in parameters if TENSOR_MAP not in a]
    if any(TENSOR_MAP in a for _, a in parameters[: len(argument_parameters)]):
        raise CompileError(f"parameters with {TENSOR_MAP} must follow the kernel's own arguments")
    values = function.regions[0].blocks[0].arguments
    arguments = [_argument(i, t, a, values[i]) for i, (t, a) in enumerate(argument_parameters)]
    maps = [_tensor_map(t, a, arguments) for t, a in parameters[len(argument_parameters) :]]
    for tensor_map in maps:
        padded = tensor_map["element"] in NARROW and NARROW[tensor_map["element"]].padding
        matrix = next(a for a in arguments if a["name"] == tensor_map["argument"])
        needed_alignment = PADDED_ALIGNMENT if padded else UNIT_BYTES
        matrix["alignment"] = max(matrix["alignment"], needed_alignment)
    names = [a["name"] for a in arguments]
    for name in names:
        if names.count(name) > 1:
            raise CompileError(f"{names.count(name)} arguments have the name {name}")
    extents = _known_extents(arguments)
    named = {e for a in arguments for e in a.get("shape", ()) if isinstance(e, str)} | set(extents)
    size, cluster = block_size(function), cluster_size(function)
    return {
        "entry": ir.StringAttr(attributes["sym_name"]).value,
        "arguments": [{k: v for k, v in a.items() if k != "names"} for a in arguments],
        "extents": extents,
        "block": list(size) if size else None,
        "cluster": list(cluster) if cluster != (1, 1, 1) else None,
        "grid": _grid(_attribute(attributes, "smem.grid"), named),
        "multiples": _multiples(_attribute(attributes, MULTIPLES), named),
        "programmatic": any(map(_waits, walk(function, "nvvm.griddepcontrol"))),
        "shared_bytes": attributes[SHARED_BYTES].value if SHARED_BYTES in attributes else 0,
        "tensor_maps": maps,
    }


def _waits(control: Any) -> bool:
    """Return whether an `nvvm.griddepcontrol` waits for earlier kernels."""
    return "wait" in str(control.attributes["kind"])


def _argument(index: int, type_: Any, attributes: Any, value: Any) -> dict[str, Any]:
    name = _attribute(attributes, "smem.name")
    if name is None:
        name = f"arg{index}"
    if not isinstance(name, str) or not name:
        raise CompileError(f'smem.name is a string such as "A", not {name!r}')
    if not isinstance(type_, ir.MemRefType):
        if isinstance(type_, ir.ShapedType):
            raise CompileError(f"{name} is of type {type_}, which no host can pass to a kernel")
        return {"name": name, "kind": "scalar", "type": str(type_)}
    dynamic = ir.ShapedType.get_dynamic_size()
    try:
        strides, offset = strides_of(type_)
    except Invalid as error:
        raise CompileError(f"the kernel {error}") from None
    if offset and not is_dynamic(offset):
        raise error_at(
            value.owner.owner,
            f"takes {name} of type {type_}, which begins {offset} elements after its address; hosts "
            "pass the address of the first element: expected offset: ?, or none",
        )
    names = _shape(name, type_, _attribute(attributes, "smem.shape"))
    static_strides = [None if is_dynamic(s) else s for s in strides]
    return {
        "name": name,
        "kind": "memref",
        "element": str(type_.element_type),
        "shape": [n if e == dynamic else e for e, n in zip(type_.shape, names, strict=True)],
        "names": names,
        "strides": static_strides,
        "alignment": _alignment(name, type_, static_strides, widest_access(value)),
    }


def _alignment(name: str, type_: Any, strides: list[int | None], widest: MatrixAccess) -> int:
    """Return the alignment in bytes of a matrix and of its lines.

    Raises:
        CompileError: if the type's strides contradict it.
    """
    shape = [None if type_.is_dynamic_dim(dim) else e for dim, e in enumerate(type_.shape)]
    size = element_bytes(type_)
    across = [None if stride == 1 else stride for stride in strides]
    dim = unaligned_dim(shape, across, size, widest.size)
    if dim is not None:
        stride = strides[dim]
        assert stride is not None
        raise error_at(
            widest.op,
            f"accesses {widest.size} bytes of {name} at a time, but {type_} has the stride "
            f"{stride * size} bytes along dimension {dim}; expected a multiple of {widest.size}",
        )
    return widest.size


def _shape(name: str, type_: Any, names: Any) -> list[Any]:
    """Return the names of a matrix's extents; None for extents without a name."""
    if names is None:
        return [None] * type_.rank
    if not isinstance(names, list) or not all(
        (isinstance(e, str) and e) or (isinstance(e, int) and e > 0) for e in names
    ):
        raise CompileError(
            f'smem.shape of {name} is an array of names or extents such as ["M", "K"], not {names!r}'
        )
    if len(names) != type_.rank:
        raise CompileError(
            f"smem.shape of {name} names {len(names)} extents, but {type_} has {type_.rank}"
        )
    return names


def _known_extents(arguments: list[dict[str, Any]]) -> dict[str, int]:
    """Return the values of named extents that are static in the types."""
    extents: dict[str, int] = {}
    for argument in arguments:
        for extent, name in zip(argument.get("shape", ()), argument.get("names", ()), strict=True):
            if not isinstance(extent, int):
                continue
            known_extent = (
                extents.setdefault(name, extent) if isinstance(name, str) else name or extent
            )
            if known_extent != extent:
                raise CompileError(
                    f"smem.shape of {argument['name']} has {name}, which is {known_extent}, for an "
                    f"extent that is {extent} in its type"
                )
    return extents


def _tensor_map(type_: Any, attributes: Any, arguments: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a parameter's `smem.tensor_map` as data, with the name of the argument that it describes."""
    if str(type_) != "!llvm.ptr":
        raise CompileError(f"a parameter with {TENSOR_MAP} is of type !llvm.ptr, not {type_}")
    tensor_map = _attribute(attributes, TENSOR_MAP)
    match tensor_map:
        case {
            "argument": int() as index,
            "box": [*box],
            "contiguous": int() as contiguous,
            "element": str() as element,
            "swizzle": str() as swizzle,
            **options,
        } if _has_known_options(options) and swizzle in map(str, Swizzle):
            pass
        case _:
            raise CompileError(
                f"{TENSOR_MAP} is a dictionary such as {{argument = 0 : i64, box = array<i64: 128, 64>, "
                f'contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}, not {tensor_map!r}'
            )
    if not 0 <= index < len(arguments) or arguments[index]["kind"] != "memref":
        raise CompileError(
            f"{TENSOR_MAP} describes argument {index}, which is not a matrix; there are "
            f"{', '.join(a['name'] for a in arguments) or 'none'}"
        )
    name, rank = arguments[index]["name"], len(arguments[index]["shape"])
    if len(box) != rank or rank not in _TENSOR_MAP_RANKS:
        raise CompileError(
            f"{TENSOR_MAP} has the box {box} for {name} of rank {rank}; "
            "expected one extent a dimension, 2 to 5"
        )
    if not 0 <= contiguous < rank:
        raise CompileError(
            f"{TENSOR_MAP} has the contiguous dimension {contiguous}, but {name} has {rank} dimensions"
        )
    return {
        "argument": name,
        "box": box,
        "contiguous": contiguous,
        "element": element,
        "swizzle": swizzle,
        **options,
    }


def _has_known_options(options: dict[str, Any]) -> bool:
    """Whether the values of a tensor map's optional keys are known."""
    return all(key in FURTHER and value in FURTHER[key] for key, value in options.items())


def _grid(grid: Any, named: set[str]) -> Any:
    if grid is None:
        return None
    if not isinstance(grid, list) or not 1 <= len(grid) <= 3:
        raise CompileError(f"smem.grid has an entry for each of x, y, z, not {grid!r}")
    for entry in grid:
        match entry:
            case [str() as extent, int() as covered] if covered > 0:
                _check_named("smem.grid", extent, named)
            case _:
                raise CompileError(
                    "an entry of smem.grid is an extent and how many of its elements a block covers, "
                    f'such as ["N", 256], not {entry!r}'
                )
    return grid


def _multiples(multiples: Any, named: set[str]) -> Any:
    if multiples is None:
        return {}
    if not isinstance(multiples, dict) or not all(
        isinstance(n, int) and n > 0 for n in multiples.values()
    ):
        raise CompileError(
            f"{MULTIPLES} is a dictionary of positive numbers such as {{K = 64}}, not {multiples!r}"
        )
    for extent in multiples:
        _check_named(MULTIPLES, extent, named)
    return multiples


def _check_named(attribute: str, extent: str, named: set[str]) -> None:
    if extent not in named:
        raise CompileError(
            f"{attribute} names the extent {extent}, which no smem.shape has; there are "
            f"{', '.join(sorted(named)) or 'none'}"
        )


def _attribute(attributes: Any, name: str) -> Any:
    """Return an attribute as Python data; None if it is missing."""
    return _plain(attributes[name].maybe_downcast()) if name in attributes else None


def _plain(attribute: Any) -> Any:
    if isinstance(attribute, ir.StringAttr | ir.IntegerAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(a.maybe_downcast()) for a in attribute]
    if isinstance(attribute, ir.DictAttr):
        # Iteration's `each.attr` ends the process on attributes without a class in the bindings.
        return {entry.name: _plain(attribute[entry.name].maybe_downcast()) for entry in attribute}
    raise CompileError(f"expected strings, integers and arrays of them, not {attribute}")
