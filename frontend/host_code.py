"""The code of a host program: its functions in LLVM IR, and its compiled kernels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ..bindings.irtypes import Module, Op
from ..bindings.mlir import PACKAGE, ir, passmanager
from ..codegen import Compiled, CompileError
from ..codegen.compiler import LoweredKernels, lower
from ..codegen.errors import error_at
from ..codegen.literals import portable_literals
from ..codegen.ptx import to_llvm_ir
from ..passes import add_passes
from .equal_kernels import merge_equal_kernels
from .float8 import convert_by_integers
from .generic_launches import generalize, launch_generics, launch_stores
from .host_fallback import run_on_host, upload_globals
from .host_functions import check_host_functions, host_ops, move_strided, use_device_memory
from .host_signature import Slot, slots

_OUTLINING = "builtin.module(gpu-launch-sink-index-computations,gpu-kernel-outlining)"

#: Upstream's passes for kernels with empty bodies, of which the host needs only the parameters.
_STUBS = "builtin.module(gpu.module(convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts))"

#: Upstream's passes for the host's functions, after `smem-lower-launches`.
_HOST = (
    "builtin.module(func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,convert-func-to-llvm,lower-affine,"
    "arith-expand,convert-arith-to-llvm,convert-index-to-llvm,convert-math-to-llvm,convert-math-to-libm,gpu-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts)"
)

#: Ops of other dialects that LLVM's translation knows.
_TRANSLATED = ("builtin.module", "gpu.launch_func")

#: Makes upstream emit `_mlir_ciface_NAME`, which takes memrefs by the address of their descriptors.
_C_INTERFACE = "llvm.emit_c_interface"


@dataclass(frozen=True)
class HostCode:
    """A host program, ready to be compiled for the CPU.

    Attributes:
        llvm_ir: its functions. In the place of the code of a `gpu.module` is the module's name.
        kernels: the code of each `gpu.module`, by its name.
        entry: the name of the function to call.
        inputs: the types of its arguments.
        results: the types of its results.
        assertions: the messages of the program's `cf.assert`, by their numbers.
    """

    llvm_ir: str
    kernels: dict[str, Compiled]
    entry: str
    inputs: list[Slot]
    results: list[Slot]
    assertions: list[str]

    @property
    def function(self) -> str:
        """The name of the entry in `llvm_ir`, which takes arrays by the addresses of descriptors."""
        return f"_mlir_ciface_{self.entry}"


def host_code(
    module: Module, entry: str | None, *, arch: str, emit: str, mixed: bool, options: dict[str, Any]
) -> HostCode:
    """Compile the kernels of a host program, and lower its functions, in place.

    Args:
        module: the program, in the current context.
        entry: the name of a public function with a body; None if there is only one.
        arch: the architecture of the kernels.
        emit: the last stage of the kernels' code: "nvvm" for the emulator, or "cubin".
        mixed: whether the host runs what only a CPU can.
        options: of `smem-to-nvvm`.

    Raises:
        MLIRError, CompileError: if the program cannot be lowered.
        LaunchError: for an argument or a result that no array or number fits.
    """
    move_strided(module)
    generalize(module)
    launch_generics(module)
    launch_stores(module)
    _run(module, _OUTLINING)
    merge_equal_kernels(module)
    function = _function(module, entry)
    check_host_functions(module, mixed)
    if mixed:
        run_on_host(host_ops(module))
    upload_globals(host_ops(module))
    convert_by_integers(host_ops(module))
    assertions = use_device_memory(module)
    function.attributes[_C_INTERFACE] = ir.UnitAttr.get()
    type_ = ir.TypeAttr(function.attributes["function_type"]).value
    name, inputs, results = _name(function), list(type_.inputs), list(type_.results)
    lower(module, arch, emit, options)
    kernels = _compiled_kernels(module, arch, emit)
    _run(module, _STUBS)
    manager = passmanager.PassManager("builtin.module")
    add_passes(manager, "smem-lower-launches", memory="host")
    manager.run(module.operation)
    for kernel_module in _kernel_modules(module):
        _leave_binary(kernel_module, arch)
    _run(module, _HOST)
    _check_lowered(module)
    llvm_ir = portable_literals(to_llvm_ir(module.operation, PACKAGE))
    return HostCode(
        llvm_ir, kernels, name, slots(inputs, "argument"), slots(results, "result"), assertions
    )


def _compiled_kernels(module: Module, arch: str, emit: str) -> dict[str, Compiled]:
    """Compile the lowered kernels of a module, and leave them with empty bodies.

    LLVM and ptxas run while the next kernel is lowered: one kernel at a time in LLVM, whose process takes
    longer to start than to compile most of them, and as many in ptxas as there are processors.

    Returns:
        The code of each `gpu.module`, by its name.
    """
    llvm_turn, kernels = Lock(), {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for kernel_module in _kernel_modules(module):
            lowered = LoweredKernels(_alone(kernel_module), arch, emit)
            kernels[_name(kernel_module)] = lowered, pool.submit(lowered.run, llvm_turn)
            _leave_stubs(kernel_module)
        codes = {name: kernel.code(run.result) for name, (kernel, run) in kernels.items()}
    if emit != "cubin":
        return codes
    return {
        name: Compiled(code.manifest, cubin=code.cubin, report=code.report)
        for name, code in codes.items()
    }


def _run(module: Module, pipeline: str) -> None:
    passmanager.PassManager.parse(pipeline).run(module.operation)


def _function(module: Module, entry: str | None) -> Op:
    """Return the function to call.

    Raises:
        CompileError: if there is none of that name, or none is named and there are several.
    """
    functions = {_name(op): op for op in _public_functions(module)}
    if entry is None and len(functions) == 1:
        return next(iter(functions.values()))
    if entry in functions:
        return functions[entry]
    reason = f"no public function with a body is named '{entry}'" if entry else "name a function"
    raise CompileError(f"{reason}; the program has {', '.join(functions) or 'none'}")


def _public_functions(module: Module) -> Iterator[Op]:
    for op in module.body.operations:
        if op.operation.name != "func.func" or not len(op.regions[0].blocks):
            continue
        attributes = op.operation.attributes
        if "sym_visibility" not in attributes or str(attributes["sym_visibility"]) == '"public"':
            yield op.operation


def _kernel_modules(module: Module) -> list[Op]:
    return [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]


def _name(op: Op) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _alone(kernels: Op) -> Module:
    """Return a module with only a copy of a `gpu.module`."""
    copy = ir.Module.create(kernels.location)
    copy.body.append(kernels.clone())
    return copy


def _leave_stubs(kernels: Op) -> None:
    """Replace the kernels of a `gpu.module` by kernels with empty bodies.

    The host's lowering needs only their parameters; the kernels are compiled before.
    """
    functions = []
    for op in list(kernels.regions[0].blocks[0].operations):
        if op.operation.name == "gpu.func":
            functions.append(op.operation)
        else:
            op.operation.erase()
    for function in functions:
        type_ = ir.TypeAttr(function.attributes["function_type"]).value
        attributes = {
            name: function.attributes[name]
            for name in function.attributes
            if name
            not in ("workgroup_attributions", "workgroup_attrib_attrs", "private_attrib_attrs")
        }
        with ir.InsertionPoint(function), function.location:
            stub = ir.Operation.create("gpu.func", attributes=attributes, regions=1)
            block = stub.regions[0].blocks.append(*type_.inputs)
            with ir.InsertionPoint(block):
                ir.Operation.create("gpu.return")
        function.erase()


def _leave_binary(kernels: Op, arch: str) -> None:
    """Replace a `gpu.module` by a `gpu.binary` whose object is the module's name."""
    name = _name(kernels)
    quoted = ir.StringAttr.get(name)
    with ir.InsertionPoint(kernels), kernels.location:
        gpu_object = ir.Attribute.parse(f'#gpu.object<#nvvm.target<chip = "{arch}">, {quoted}>')
        ir.Operation.create(
            "gpu.binary",
            attributes={
                "sym_name": quoted,
                "objects": ir.ArrayAttr.get([gpu_object]),
                "offloadingHandler": ir.Attribute.parse("#gpu.select_object"),
            },
        )
    kernels.erase()


def _check_lowered(module: Module) -> None:
    """Check that LLVM's translation knows all ops: an unknown op would end the process.

    Raises:
        LocatedError: for an op that upstream's passes did not lower.
    """
    for op in host_ops(module):
        if not op.name.startswith("llvm.") and op.name not in _TRANSLATED:
            types = [str(value.type) for value in (*op.operands, *op.results)]
            if "function_type" in op.attributes:
                types.append(str(op.attributes["function_type"]))
            raise error_at(op, f"is of types that no CPU computes with: {', '.join(types)}")
