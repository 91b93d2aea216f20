"""From a module with `smem` ops to a cubin, in stages whose code is kept."""

from dataclasses import dataclass, field
from typing import Any

from ..dialect import new_context, register
from ..dialect.arguments import wrong_argument
from ..dialect.bindings import ir, passmanager
from ..dialect.packages import is_foreign
from ..dialect.parsing import parse_module
from ..dialect.smem import Smem
from ..interop.exchange import Side, exchange, is_module
from ..ir.errors import OpError
from ..ir.nesting import check_nesting
from ..layout.arch import Arch
from ..passes import add_passes
from .back_end import to_llvm
from .errors import located
from .llvm_dialect import device_module, lower_to_llvm_dialect
from .llvm_process import prepare
from .manifest import manifest_of
from .ptxas import Report, assemble
from .targets import target

#: Stages in their order; each is made from the one before.
STAGES = ("nvvm", "llvm", "ptx", "cubin")


@dataclass(frozen=True)
class Compiled:
    """A compiled module; stages after the last one requested are None.

    Attributes:
        manifest: what a host needs to launch the kernels (see `codegen.manifest`).
        nvvm: the module after `smem-to-nvvm`, as MLIR text.
        located: the same text with source locations; None unless `nvvm` is the last stage.
        llvm: LLVM IR.
        ptx: PTX.
        cubin: machine code.
        report: registers, spills and warnings that ptxas reports.
    """

    manifest: dict[str, Any]
    nvvm: str | None = None
    llvm: str | None = None
    ptx: str | None = None
    cubin: bytes | None = None
    report: Report | None = field(default=None)
    located: str | None = field(default=None, repr=False)

    def stage(self, name: str) -> str | bytes:
        """Return the code of a stage.

        Raises:
            ValueError: if the stage is unknown, or was not compiled.
        """
        code = getattr(self, name) if name in STAGES else None
        if code is None:
            raise ValueError(f"no stage '{name}' was compiled; expected one of {', '.join(STAGES)}")
        return code


def compile(module: Any, arch: str = "sm_90a", emit: str = "cubin", **options: Any) -> Compiled:
    """Compile a module: `smem-to-nvvm`, upstream's lowering, LLVM, ptxas.

    Args:
        module: an `ir.Module` of the bindings or of another bindings package, which is not changed, or
            MLIR text, or bytecode.
        arch: the architecture.
        emit: the last stage: "nvvm", "llvm", "ptx" or "cubin".
        options: options of `smem-to-nvvm`, dashes as underscores.

    Raises:
        MLIRError: with located diagnostics, if the module cannot be lowered.
        ExchangeError: if the module of another bindings package cannot be read without a loss.
        CompileError: for an unknown architecture, a module without a kernel, or a module that LLVM or
            ptxas refuses.
        OptionError: for an unknown option.
        ValueError: for an unknown stage.
        TypeError: for a module of another type, or an architecture or stage that is not text.
    """
    # A context without the dialect holds ops of it as unregistered ones; registering it is too late.
    foreign = is_module(module) and (
        is_foreign(module) or not module.context.is_dialect_loaded(Smem.DIALECT_NAMESPACE)
    )
    if not foreign and not isinstance(module, str | bytes | ir.Module | ir.Operation | ir.OpView):
        expected = "an ir.Module, MLIR text or bytecode"
        raise wrong_argument("mlir_smem.compile", "module", module, expected)
    for parameter, given in {"arch": arch, "emit": emit}.items():
        if not isinstance(given, str):
            raise wrong_argument("mlir_smem.compile", parameter, given, "text")
    if emit not in STAGES:
        raise ValueError(f"unknown stage '{emit}'; expected one of {', '.join(STAGES)}")
    if foreign or isinstance(module, str | bytes):
        with new_context() as context:
            ours = exchange(module, Side.ours(context)) if foreign else parse_module(module)
            return compile_in_place(ours, arch, emit, **options)
    register(module.context)
    try:
        check_nesting(module)
    except OpError as error:
        raise located(error.op, error.message) from None
    text = module.operation.get_asm(enable_debug_info=True)
    with module.context, module.operation.location:
        return compile_in_place(parse_module(text), arch, emit, **options)


def compile_in_place(module: Any, arch: str, emit: str, **options: Any) -> Compiled:
    """Compile a module in place, in the current context; see `compile`."""
    to = target(arch)
    if emit != "nvvm":
        prepare()
    pm = passmanager.PassManager("builtin.module")
    add_passes(pm, "smem-to-nvvm", arch=Arch.parse(to.arch), **options)
    pm.run(module.operation)
    kernels = device_module(module)
    manifest = manifest_of(kernels, arch)
    nvvm = str(module)
    if emit == "nvvm":
        located = module.operation.get_asm(enable_debug_info=True)
        return Compiled(manifest, nvvm, located=located)
    lower_to_llvm_dialect(module)
    llvm_ir, ptx = to_llvm(kernels, None if emit == "llvm" else to)
    if ptx is None or emit == "ptx":
        return Compiled(manifest, nvvm, llvm_ir, ptx)
    cubin, report = assemble(ptx, to.arch)
    return Compiled(manifest, nvvm, llvm_ir, ptx, cubin, report)
