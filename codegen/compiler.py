"""From a module with `smem` ops to a cubin, in stages whose code is kept."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..bindings.mlir import bytecode_of, ir, is_dialect_loaded, passmanager
from ..bindings.packages import is_foreign
from ..bindings.parsing import parse_module, parse_printed
from ..dialect import register
from ..dialect.arguments import wrong_argument
from ..dialect.registration import shared_context
from ..dialect.smem import Smem
from ..interop.exchange import BindingsContext, exchange, is_module
from ..ir.errors import OpError
from ..ir.module_checks import check_nesting
from ..ir.walk import holds
from ..layout.arch import Arch
from ..passes import add_passes
from ..passes.assert_bounds import erase_assertions
from .back_end import Refusal, locate_refusal, request_of, run_llvm
from .errors import error_at
from .line_tables import add_line_tables
from .llvm_dialect import device_module, lower_to_llvm_dialect
from .llvm_process import prepare
from .manifest import manifest_of
from .nvgpu import lower_nvgpu
from .ptxas import Report, assemble
from .targets import target

#: Stages in their order; each is made from the one before.
STAGES = ("nvvm", "llvm", "ptx", "cubin")

#: What the code tells debuggers and profilers: nothing, or the source line of each instruction.
DEBUG_INFO = ("none", "lines")


@dataclass(frozen=True, repr=False)
class Compiled:
    """A compiled module; stages after the last one requested are None.

    Attributes:
        manifest: what a host needs to launch the kernels (see `codegen.manifest`).
        nvvm: the module after `smem-to-nvvm`, as MLIR text.
        bytecode: the same with source locations, and with assertions about run-time positions in tiles,
            for the emulator, which reads MLIR bytecode faster; None unless `nvvm` is the last stage.
        llvm: LLVM IR.
        ptx: PTX.
        cubin: machine code.
        report: registers, spills and warnings that ptxas reports.

    Example:
        >>> compiled = compile(mlir_smem.examples.path("mma.mlir").read_text())
        >>> compiled.report.spill_bytes, len(compiled.cubin) > 0
        (0, True)
        >>> compiled.manifest["kernels"][0]["entry"]
        'mma'
    """

    manifest: dict[str, Any]
    nvvm: str | None = None
    llvm: str | None = None
    ptx: str | None = None
    cubin: bytes | None = None
    report: Report | None = None
    bytecode: bytes | None = None

    def __repr__(self) -> str:
        """Return the kernels, the stages and the report; not the code, which has thousands of lines."""
        names = ", ".join(kernel["entry"] for kernel in self.manifest["kernels"])
        stages = ", ".join(stage for stage in STAGES if getattr(self, stage) is not None)
        report = f"; {self.report}" if self.report else ""
        return f"<{names} for {self.manifest['arch']}: {stages}{report}>"

    @cached_property
    def located(self) -> str | None:
        """`bytecode` as text."""
        if self.bytecode is None:
            return None
        with ir.Context(load_on_create_dialects=[]):
            return parse_printed(self.bytecode).operation.get_asm(enable_debug_info=True)

    def stage(self, name: str) -> str | bytes:
        """Return the code of a stage.

        Raises:
            ValueError: if the stage is unknown, or was not compiled.
        """
        code = getattr(self, name) if name in STAGES else None
        if code is None:
            raise ValueError(f"no stage '{name}' was compiled; expected one of {', '.join(STAGES)}")
        return code


def compile(
    module: Any,
    arch: str = "sm_90a",
    emit: str = "cubin",
    *,
    debug_info: str = "none",
    source_name: str | None = None,
    **options: Any,
) -> Compiled:
    """Compile a module: `smem-to-nvvm`, upstream's lowering, LLVM, ptxas.

    `nvgpu` ops beside those of the dialect are lowered, too (`convert-nvgpu-to-nvvm`). Functions of the
    host that launch kernels are no part of the result; the manifest says how a kernel is launched.

    Args:
        module: an `ir.Module` of the bindings or of another bindings package, which is not changed, or
            MLIR text, or bytecode.
        arch: the architecture.
        emit: the last stage: "nvvm", "llvm", "ptx" or "cubin".
        debug_info: "lines" for the source line of each instruction in the code, which stays the same;
            "none" for no debug information.
        source_name: with lines, the file that text was read from; "<string>" if None.
        options: options of `smem-to-nvvm`, dashes as underscores.

    Returns:
        The code of each stage, the manifest and ptxas's report.

    Raises:
        MLIRError: with located diagnostics, if the module cannot be lowered.
        ExchangeError: if the module of another bindings package cannot be read without a loss.
        CompileError: for an unknown architecture, a module without a kernel, or a module that LLVM or
            ptxas refuses.
        OptionError: for an unknown option.
        ValueError: for an unknown stage or debug information.
        TypeError: for a module of another type, or another parameter that is not text.

    Example:
        >>> compiled = compile(mlir_smem.examples.path("mma.mlir").read_text(), emit="ptx")
        >>> compiled.ptx.count("wgmma.mma_async")
        4
        >>> [(kernel["entry"], kernel["shared_bytes"]) for kernel in compiled.manifest["kernels"]]
        [('mma', 16384)]
    """
    # A context without the dialect holds ops of it as unregistered ones; registering it is too late.
    foreign = is_module(module) and (
        is_foreign(module) or not is_dialect_loaded(module.context, Smem.DIALECT_NAMESPACE)
    )
    if not foreign and not isinstance(module, str | bytes | ir.Module | ir.Operation | ir.OpView):
        expected = "an ir.Module, MLIR text or bytecode"
        raise wrong_argument("mlir_smem.compile", "module", module, expected)
    texts = {"arch": arch, "emit": emit, "debug_info": debug_info}
    if source_name is not None:
        texts["source_name"] = source_name
    for parameter, argument in texts.items():
        if not isinstance(argument, str):
            raise wrong_argument("mlir_smem.compile", parameter, argument, "text")
    if emit not in STAGES:
        raise ValueError(f"unknown stage '{emit}'; expected one of {', '.join(STAGES)}")
    if debug_info not in DEBUG_INFO:
        raise ValueError(f"unknown debug_info '{debug_info}'; expected {' or '.join(DEBUG_INFO)}")
    options |= {"debug_info": debug_info, "source_name": source_name}
    if foreign or isinstance(module, str | bytes):
        with shared_context() as context:
            ours = (
                exchange(module, BindingsContext.ours(context)) if foreign else parse_module(module)
            )
            return compile_in_place(ours, arch, emit, **options)
    register(module.context)
    try:
        check_nesting(module)
    except OpError as error:
        raise error_at(error.op, error.message) from None
    # Printing verifies, and verifiers make types in the current context.
    with module.context, module.operation.location:
        text = module.operation.get_asm(enable_debug_info=True)
        return compile_in_place(parse_module(text), arch, emit, **options)


def _erase_launches(module: Any) -> None:
    """Erase the functions that launch kernels. A launch by the manifest replaces them: kernels with
    tensor maps have other parameters than `gpu.launch_func` passes."""
    for op in list(module.body.operations):
        if op.operation.name != "gpu.module" and holds(op.operation, "gpu.launch_func"):
            op.operation.erase()


def _text(module: Any) -> str:
    # The passes have verified it.
    return module.operation.get_asm(assume_verified=True)


def compile_in_place(
    module: Any,
    arch: str,
    emit: str,
    *,
    debug_info: str = "none",
    source_name: str | None = None,
    **options: Any,
) -> Compiled:
    """Compile a module in place, in the current context; see `compile`.

    Args:
        module: an `ir.Module` of the current context; it is the lowered module afterwards.
        arch: the architecture.
        emit: the last stage.
        debug_info: "lines" or "none".
        source_name: with lines, the file that text was read from.
        options: options of `smem-to-nvvm`, dashes as underscores.

    Returns:
        The code of each stage, and the manifest.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.bindings import ir
        >>> with new_context():
        ...     module = ir.Module.parse(mlir_smem.examples.path("mma.mlir").read_text())
        ...     compiled = compile_in_place(module, "sm_90a", "nvvm")
        >>> "nvvm.wgmma.mma_async" in str(module)
        True
    """
    _erase_launches(module)
    lower(module, arch, emit, options)
    lowered = LoweredKernels(
        module,
        arch,
        emit,
        keeps_assertions="assert_bounds" in options,
        debug_info=debug_info,
        source_name=source_name,
    )
    return lowered.code(lowered.run)


def lower(module: Any, arch: str, emit: str, options: Mapping[str, Any]) -> None:
    """Run `smem-to-nvvm` with its options, in place.

    The emulator checks assertions about positions in tiles; the code of other stages has none.
    """
    device = target(arch)
    if emit != "nvvm":
        prepare()
    for_emulator = {"assert_bounds": True} if emit == "nvvm" else {}
    pm = passmanager.PassManager("builtin.module")
    add_passes(pm, "smem-to-nvvm", arch=Arch.parse(device.arch), **for_emulator | dict(options))
    pm.run(module.operation)


class LoweredKernels:
    """A module after `lower`, in the current context, on its way to code.

    Args:
        module: the module, with one gpu.module; it is changed.
        arch: the architecture.
        emit: the last stage.
        keeps_assertions: whether the text of "nvvm" has the assertions of `lower`.
        debug_info, source_name: as for `compile`.

    Raises:
        MLIRError, CompileError: if a kernel cannot be lowered to the LLVM dialect.
    """

    def __init__(
        self,
        module: Any,
        arch: str,
        emit: str,
        *,
        keeps_assertions: bool = False,
        debug_info: str = "none",
        source_name: str | None = None,
    ) -> None:
        self._kernels, self._target = device_module(module), target(arch)
        lower_nvgpu(self._kernels)
        self._manifest = manifest_of(self._kernels, arch)
        self._is_for_emulator = emit == "nvvm"
        if self._is_for_emulator:
            self._bytecode = bytecode_of(module)
            if not keeps_assertions:
                erase_assertions(module)
        self._nvvm = _text(module)
        if self._is_for_emulator:
            return
        lower_to_llvm_dialect(module)
        self._lines = debug_info == "lines"
        if self._lines:
            add_line_tables(self._kernels, source_name)
        self._llvm_target = None if emit == "llvm" else self._target
        self._request = request_of(self._kernels, self._llvm_target)
        self._has_cubin = emit == "cubin"

    def run(self, llvm_turn: AbstractContextManager[Any] | None = None) -> Compiled:
        """Run LLVM and ptxas, and return the code. Any thread can call it, for it needs no MLIR.

        Args:
            llvm_turn: held while LLVM runs.

        Raises:
            Refusal: if LLVM refuses the kernels.
            CompileError: if ptxas does.
        """
        if self._is_for_emulator:
            return Compiled(self._manifest, self._nvvm, bytecode=self._bytecode)
        with llvm_turn or nullcontext():
            llvm_ir, ptx = run_llvm(self._request)
        code = Compiled(self._manifest, self._nvvm, llvm_ir, ptx)
        if ptx is None or not self._has_cubin:
            return code
        cubin, report = assemble(ptx, self._target.arch, lines=self._lines)
        return replace(code, cubin=cubin, report=report)

    def code(self, run: Callable[[], Compiled]) -> Compiled:
        """Return what a call of `run` returns.

        Args:
            run: `run`, or what waits for it in another thread.

        Raises:
            CompileError: if LLVM or ptxas refuses the kernels; with a located diagnostic, where the op is
                known.
        """
        try:
            return run()
        except Refusal as refusal:
            raise locate_refusal(self._kernels, self._llvm_target, refusal) from None
