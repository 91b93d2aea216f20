"""Programs of the host, compiled: plain data, kept on disk by what they were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..bindings.diagnostics import file_position, remark, remark_handler
from ..bindings.irtypes import Location
from ..bindings.mlir import PACKAGE, ir
from ..bindings.parsing import parse_module
from ..codegen import CompileError, toolchain
from ..codegen.package_versions import installed_version, version_of
from ..dialect import new_context
from .host_code import HostCode, host_code
from .host_engine import HostObject, host_object, this_cpu
from .linalg.linalg_to_smem import STAYS
from .linalg.lowering import lower_linalg
from .program_cache import CachedFile


@dataclass(frozen=True)
class HostProgram:
    """A compiled program of the host.

    Attributes:
        code: its functions and kernels.
        host: its functions, compiled for a CPU.
        remarks: the passes' remarks, with file, line and column; None for a place that is in no file.
    """

    code: HostCode
    host: HostObject
    remarks: tuple[tuple[tuple[str, int, int] | None, str], ...]

    def for_this_cpu(self) -> HostProgram:
        """Return the program with code for this CPU."""
        if self.host.cpu == this_cpu():
            return self
        return replace(self, host=host_object(self.code.llvm_ir, self.code.function))


def compile_program(
    module: str | bytes,
    entry: str | None,
    *,
    on: str,
    arch: str = "sm_90a",
    mixed: bool = False,
    options: Mapping[str, Any] | None = None,
    linalg: Mapping[str, Any] | None = None,
    only_kernels: bool = False,
) -> HostProgram:
    """Compile a program of the host, or read it from the cache; its remarks are emitted in both cases.

    Args:
        module: MLIR text or bytecode.
        entry: the name of a public function; None if there is only one.
        on, arch, mixed, options: as `Executable` has them; with `explain`, the passes always run.
        linalg: options of `lower_linalg`, which runs first; None if it does not.
        only_kernels: whether to refuse ops that `linalg-to-smem` leaves.

    Raises:
        MLIRError, CompileError, LaunchError, OptionError: as `Executable` has them; CompileError also for
            an op that `only_kernels` refuses.
    """
    lowering = linalg if linalg is None else sorted(linalg.items())
    settings = (arch, mixed, sorted((options or {}).items()), lowering, only_kernels)
    file = CachedFile("program", partial(_versions, on), on, module, entry, *settings)
    explain = any(passes and passes.get("explain") for passes in (options, linalg))
    cached: HostProgram | None = None if explain else file.read()
    if cached is not None:
        _repeat_remarks(cached)
        return cached.for_this_cpu()
    remarks: list[tuple[Location, str]] = []
    with new_context():
        try:
            with remark_handler(lambda location, message: remarks.append((location, message))):
                parsed = parse_module(module)
                if linalg is not None:
                    remarked = {"remarks": "all"} if only_kernels else {}
                    lower_linalg(parsed, **remarked | dict(linalg))
                if only_kernels:
                    _check_no_op_stays([message for _, message in remarks])
                emit = "nvvm" if on == "cpu" else "cubin"
                code = host_code(
                    parsed, entry, arch=arch, emit=emit, mixed=mixed, options=dict(options or {})
                )
        finally:
            for location, message in remarks:
                remark(location, message)
        noted = tuple((file_position(location), message) for location, message in remarks)
    program = HostProgram(code, host_object(code.llvm_ir, code.function), noted)
    file.write(program)
    return program


def _versions(on: str) -> tuple[Any, ...]:
    """Return the versions of the tools that make a program."""
    tools = toolchain() if on == "gpu" else version_of(PACKAGE)
    return tools, installed_version("llvmlite")


def _check_no_op_stays(remarks: Sequence[str]) -> None:
    """Check that `linalg-to-smem` has taken all ops.

    Raises:
        CompileError: if it has not.
    """
    stays = [remark for remark in remarks if STAYS in remark]
    if stays:
        raise CompileError(min(stays, key=lambda remark: remark.endswith("is no contraction")))


def _repeat_remarks(program: HostProgram) -> None:
    """Emit the remarks of a program that was read from the cache."""
    if not program.remarks:
        return
    with ir.Context(load_on_create_dialects=[]):
        for position, message in program.remarks:
            location = ir.Location.file(*position) if position else ir.Location.unknown()
            remark(location, message)
