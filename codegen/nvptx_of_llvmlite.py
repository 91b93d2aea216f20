"""The NVPTX target of llvmlite, for bindings that were built without one."""

from collections.abc import Set
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvmlite
from llvmlite import __version__ as version

from .errors import CompileError, LLVMRefusal
from .inlined_calls import InlinedCalls
from .libdevice import PRECISE_ROOTS, PREFIX, check_functions, stamp
from .literals import portable_literals
from .nvptx import TRIPLE
from .targets import Target

#: Subnormal f32 are kept, as in PTX without `.ftz` (4: "override" the flag of another module).
_FLAGS = """
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
"""


@dataclass(frozen=True)
class LlvmliteNvptx:
    """See `codegen.nvptx.Nvptx`."""

    @property
    def name(self) -> str:
        return f"llvmlite {version}"

    def functions(self, bitcode: bytes) -> dict[str, str]:
        functions = llvmlite.parse_bitcode(bitcode).functions
        return {f.name: str(f.global_value_type) for f in functions if not f.is_declaration}

    def ptx(self, kernels: Any, llvm_ir: str, target: Target, library: Path | None) -> str:
        _initialize()
        try:
            calls = InlinedCalls(llvm_ir)
            module = llvmlite.parse_assembly(portable_literals(calls.llvm_ir))
            module.verify()
        except RuntimeError as error:
            raise LLVMRefusal(f"LLVM refuses the module: {error}") from error
        machine = llvmlite.Target.from_triple(TRIPLE).create_target_machine(
            cpu=target.arch, features=f"+{target.ptx}", opt=3
        )
        module.triple = TRIPLE
        module.data_layout = str(machine.target_data)
        if library is not None:
            self._link(module, library)
        builder = llvmlite.create_pass_builder(
            machine, llvmlite.create_pipeline_tuning_options(speed_level=3)
        )
        builder.getModulePassManager().run(module, builder)
        return calls.in_ptx(machine.emit_assembly(module))

    def _link(self, module: Any, file: Path) -> None:
        """Link the functions of libdevice that an LLVM module declares into it.

        Args:
            module: llvmlite's module, with triple and data layout, before optimization.
            file: the library.

        Raises:
            CompileError: if LLVM cannot read the library, or it lacks a function.
        """
        declared = {
            f.name for f in module.functions if f.is_declaration and f.name.startswith(PREFIX)
        }
        if not declared:
            return
        check_functions(file, declared, self)
        _request_precise_roots()
        target = module.triple, module.data_layout
        try:
            module.link_in(
                llvmlite.parse_bitcode(
                    _extract_functions(file, stamp(file), frozenset(declared), target)
                )
            )
        except RuntimeError as error:
            raise CompileError(f"LLVM cannot link {file}: {error}") from error
        for name in declared:
            module.get_function(name).linkage = "internal"


@lru_cache
def _extract_functions(
    file: Path, stamp: tuple[int, int], names: Set[str], target: tuple[str, str]
) -> bytes:
    """Return the bitcode of some functions of the library and of their callees, for a triple and its data
    layout. To optimize the whole library would take longer than all other steps together."""
    library = llvmlite.parse_bitcode(file.read_bytes())
    library.triple, library.data_layout = target
    for function in library.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    machine = llvmlite.Target.from_triple(library.triple).create_target_machine()
    builder = llvmlite.create_pass_builder(machine, llvmlite.create_pipeline_tuning_options())
    unused = llvmlite.create_new_module_pass_manager()
    unused.add_global_dead_code_eliminate_pass()
    unused.run(library, builder)
    flags = llvmlite.parse_assembly(_FLAGS)
    flags.triple, flags.data_layout = target
    library.link_in(flags)
    return library.as_bitcode()


@cache
def _request_precise_roots() -> None:
    llvmlite.set_option("mlir-smem", PRECISE_ROOTS)


@cache
def _initialize() -> None:
    llvmlite.initialize_all_targets()
    llvmlite.initialize_all_asmprinters()
