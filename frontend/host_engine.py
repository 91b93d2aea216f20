"""Functions of the host as machine code of this process."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvmlite

from ..codegen import CompileError

_OPT_LEVEL = 2

_CALLER = "smem_call"

_CONSTRUCTORS = "llvm.global_ctors"

#: Instructions that convert f32 to bf16, and make subnormals zeros (Intel's manual, VCVTNEPS2BF16).
_FLUSHES = {"avx512bf16", "avxneconvert", "avx10.2-256", "avx10.2-512"}

#: LLVM calls a function of compiler-rt on CPUs that have no bf16. It rounds to nearest, ties to even, and
#: keeps the sign and the upper bits of a NaN.
_BF16_OF_F32 = """
define weak bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %half = add i32 %odd, 32767
  %rounded = add i32 %bits, %half
  %number = lshr i32 %rounded, 16
  %quiet = or i32 %upper, 64
  %is_nan = fcmp uno float %x, %x
  %either = select i1 %is_nan, i32 %quiet, i32 %number
  %narrow = trunc i32 %either to i16
  %result = bitcast i16 %narrow to bfloat
  ret bfloat %result
}
"""


@dataclass(frozen=True)
class HostObject:
    """Object code of functions, for CPUs of one kind.

    Attributes:
        cpu: the kind, as `this_cpu` returns it.
        code: the object code.
        constructors: the names of functions to run before others.
        declared: the names of functions that the code calls and has not.
    """

    cpu: str
    code: bytes
    constructors: tuple[str, ...]
    declared: tuple[str, ...]


def this_cpu() -> str:
    """Return the name of this CPU, with the features that code may use."""
    return f"{llvmlite.get_host_cpu_name()} {_features()}"


def host_object(llvm_ir: str, entry: str) -> HostObject:
    """Compile functions for this CPU by llvmlite.

    No exception passes through them, so they are compiled without unwind tables: a process that
    registers and removes many has been seen to crash at a later C++ exception (libgcc 14).

    Args:
        llvm_ir: the functions.
        entry: the name of the function to call.

    Raises:
        CompileError: if LLVM refuses them.
    """
    try:
        return _compile(llvm_ir, entry, _machine())
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the functions of the host: {error}") from error


class HostEngine:
    """Object code as a part of this process.

    Args:
        host: the code, for this CPU; its constructors are run.
        functions: the addresses of functions that are only declared, by their names.

    Attributes:
        address: the address of a function that calls the entry. Its argument is the address of an array
            with the address of each argument, then of the result.

    Raises:
        CompileError: if the code calls a function that is not in this process.
    """

    def __init__(self, host: HostObject, functions: Mapping[str, int]) -> None:
        process = ctypes.CDLL(None)
        unknown = [
            name for name in host.declared if name not in functions and not hasattr(process, name)
        ]
        if unknown:
            raise CompileError(
                f"the functions of the host call {', '.join(unknown)}, which this process has not"
            )
        library = llvmlite.JITLibraryBuilder().add_object_img(host.code).add_current_process()
        for name, address in functions.items():
            library.import_symbol(name, address)
        for name in (_CALLER, *host.constructors):
            library.export_symbol(name)
        try:
            self._jit = llvmlite.create_lljit_compiler(_machine(), suppress_errors=True)
            self._library = library.link(self._jit, "host")
        except RuntimeError as error:
            raise CompileError(f"LLVM refuses the functions of the host: {error}") from error
        self.address = self._library[_CALLER]
        for name in host.constructors:
            ctypes.CFUNCTYPE(None)(self._library[name])()


def _features() -> str:
    features = llvmlite.get_host_cpu_features()
    features.update(dict.fromkeys(_FLUSHES & features.keys(), False))
    return str(features.flatten())


def _machine() -> Any:
    """Return llvmlite's machine for this CPU."""
    llvmlite.initialize_native_target()
    llvmlite.initialize_native_asmprinter()
    return llvmlite.Target.from_default_triple().create_target_machine(
        cpu=llvmlite.get_host_cpu_name(),
        features=_features(),
        opt=_OPT_LEVEL,
        # Functions of the runtime are anywhere in memory.
        codemodel="large",
        jit=True,
    )


def _compile(llvm_ir: str, entry: str, machine: Any) -> HostObject:
    """Compile the functions and the entry's caller.

    Raises:
        RuntimeError: if LLVM refuses the functions.
    """
    code = llvmlite.parse_assembly(llvm_ir)
    code.link_in(llvmlite.parse_assembly(_caller(code.get_function(entry))))
    code.link_in(llvmlite.parse_assembly(_BF16_OF_F32))
    code.verify()
    for function in code.functions:
        function.add_function_attribute("nounwind")
    constructors = []
    for variable in code.global_variables:
        if variable.name == _CONSTRUCTORS:
            constructors = re.findall(r"ptr @([\w.]+), ptr", str(variable))
    for name in constructors:
        code.get_function(name).linkage = "external"
    code.triple, code.data_layout = machine.triple, str(machine.target_data)
    builder = llvmlite.create_pass_builder(
        machine, llvmlite.create_pipeline_tuning_options(speed_level=_OPT_LEVEL)
    )
    builder.getModulePassManager().run(code, builder)
    declared = tuple(f.name for f in code.functions if f.is_declaration and "llvm." not in f.name)
    return HostObject(this_cpu(), machine.emit_object(code), tuple(constructors), declared)


def _caller(entry: Any) -> str:
    """Return the LLVM IR of a function that loads the entry's arguments from an array of addresses."""
    types = [str(argument.type) for argument in entry.arguments]
    result = str(entry.global_value_type).split(" (")[0]
    passed = ", ".join(f"{type_} %v{number}" for number, type_ in enumerate(types))
    call = f"call {result} @{entry.name}({passed})"
    lines: list[str] = []
    for number, type_ in enumerate(types):
        lines += [*_address(number), f"%v{number} = load {type_}, ptr %p{number}"]
    if result == "void":
        lines.append(call)
    else:
        lines += [f"%r = {call}", *_address(len(types)), f"store {result} %r, ptr %p{len(types)}"]
    return "\n".join(
        [
            f"declare {result} @{entry.name}({', '.join(types)})",
            f"define void @{_CALLER}(ptr %addresses) {{",
            *lines,
            "ret void",
            "}",
        ]
    )


def _address(number: int) -> tuple[str, str]:
    """Return the instructions that load one of the addresses."""
    return (
        f"%a{number} = getelementptr ptr, ptr %addresses, i64 {number}",
        f"%p{number} = load ptr, ptr %a{number}",
    )
