"""Lower a module from the output of `smem-to-nvvm` to the LLVM dialect, by upstream's passes."""

from typing import Any

from ..bindings.mlir import PACKAGE, ir, passmanager
from ..dialect.build import i64
from ..ir.kernel import parameter_attributes
from ..ir.launch_attributes import TENSOR_MAP
from ..ir.loops import LOOP_ANNOTATION
from ..ir.tensor_map_parameters import pass_by_value
from ..ir.view_memory import DYNAMIC_ALIGNMENT
from ..ir.walk import walk, walk_dialects
from .back_end import TRANSLATED
from .errors import CompileError, error_at
from .libdevice import PREFIX, find_libdevice, in_llvm, signature
from .limits import check_limits
from .math_ops import lower_math
from .nvptx_choice import nvptx_for

#: Run on each gpu.module. `convert-gpu-to-nvvm` also converts memref, arith and cf, and most math ops
#: to calls of libdevice; the remaining math ops have intrinsics of LLVM.
PIPELINE = (
    "canonicalize,cse,expand-strided-metadata,lower-affine,math-expand-ops{ops=clampf},"
    "convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=64},convert-vector-to-llvm,convert-ub-to-llvm,"
    "convert-math-to-llvm,convert-nvvm-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)

#: Functions that the CUDA driver defines (system calls of the PTX interoperability guide).
DRIVER_FUNCTIONS = {"vprintf", "malloc", "free", "__assertfail"}


def lower_to_llvm_dialect(module: Any) -> None:
    """Lower the kernels of a module in place.

    Raises:
        MLIRError, CompileError: with a located diagnostic, if an op has no lowering.
    """
    lower_math(device_module(module))
    check_limits(device_module(module))
    # Functions of libdevice that upstream declares later have the right signature.
    declared = {_name(op) for op in walk(device_module(module), "llvm.func", "func.func")}
    pm = passmanager.PassManager("builtin.module")
    pm.add(f"gpu.module({PIPELINE})")
    maps = _tensor_maps(device_module(module))
    pm.run(module.operation)
    _declare_dynamic_memory(device_module(module))
    _pass_by_value(device_module(module), maps)
    _annotate_loops(device_module(module))
    # The translation to LLVM IR crashes on ops of other dialects.
    unlowered = walk_dialects(device_module(module), lambda dialect: dialect not in TRANSLATED)
    # Upstream puts casts around an op that it cannot lower; the op itself is reported first.
    unlowered.sort(key=lambda op: op.name == "builtin.unrealized_conversion_cast")
    if unlowered:
        raise error_at(unlowered[0], "has no lowering to LLVM")
    _check_calls(device_module(module), declared)


def _declare_dynamic_memory(kernels: Any) -> None:
    """Declare the variable of `gpu.dynamic_shared_memory` as the CTA's dynamic shared memory, aligned
    for any tile of an `smem.view`. Upstream makes it a static variable of size 0, aligned to 16 bytes,
    which the dynamic shared memory follows."""
    for variable in walk(kernels, "llvm.mlir.global"):
        if _name(variable).startswith("__dynamic_shmem__"):
            variable.attributes["alignment"] = i64(DYNAMIC_ALIGNMENT)
            variable.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")


def _annotate_loops(kernels: Any) -> None:
    """Give the branches of loops the annotation that these had: the translation to LLVM IR takes it under
    another name than `convert-scf-to-cf` gives it."""
    for branch in walk(kernels, "llvm.br", "llvm.cond_br"):
        if LOOP_ANNOTATION in branch.attributes:
            branch.attributes["loop_annotation"] = branch.attributes[LOOP_ANNOTATION]
            del branch.attributes[LOOP_ANNOTATION]


def _tensor_maps(kernels: Any) -> dict[str, int]:
    """Return the number of tensor maps at the end of each function's parameters; the lowering drops their
    attributes."""
    counts = {}
    for function in walk(kernels, "gpu.func"):
        counts[_name(function)] = sum(
            TENSOR_MAP in attributes for attributes in parameter_attributes(function, 0)
        )
    return counts


def _pass_by_value(kernels: Any, counts: dict[str, int]) -> None:
    """Pass the tensor maps of each function by value."""
    for function in walk(kernels, "llvm.func"):
        if count := counts.get(_name(function), 0):
            pass_by_value(function, count)


def _name(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _check_calls(kernels: Any, declared: set[str]) -> None:
    """Check that every called function is defined, that libdevice is found where it is called, and that
    the module's own declarations (`declared`) of its functions have the right type. Later errors would
    not name the call."""
    declarations = {
        _name(function): function
        for function in walk(kernels, "llvm.func")
        if not len(function.regions[0].blocks)
    }
    for name, function in declarations.items():
        if name.startswith(PREFIX) and name in declared:
            _check_signature(function, name)
    for call in walk(kernels, "llvm.call"):
        if "callee" not in call.attributes:
            continue
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if callee not in declarations or callee in DRIVER_FUNCTIONS:
            continue
        if not callee.startswith(PREFIX):
            raise error_at(call, f"calls '{callee}', which nothing defines")
        try:
            find_libdevice()
        except CompileError as error:
            raise error_at(call, f"calls '{callee}': {error}") from None


def _check_signature(function: Any, name: str) -> None:
    try:
        actual = signature(name, nvptx_for(PACKAGE))
    except CompileError as error:
        raise error_at(function, f"declares '{name}': {error}") from None
    if actual is None:
        raise error_at(function, f"declares '{name}', which CUDA's libdevice does not have")
    declared_type = in_llvm(function.attributes["function_type"])
    if declared_type != actual:
        raise error_at(
            function, f"declares '{name}' as {declared_type}; CUDA's libdevice has it as {actual}"
        )


def device_module(module: Any) -> Any:
    """Return the `gpu.module` that holds a module's kernels.

    Raises:
        CompileError: if there is none, or more than one.
    """
    modules = [op for op in module.body.operations if op.operation.name == "gpu.module"]
    if len(modules) != 1:
        raise CompileError(f"expected one gpu.module that holds the kernels, found {len(modules)}")
    return modules[0]
