"""The NVPTX target of the bindings' own LLVM, which MLIR drives by `gpu-module-to-binary`.

MLIR's pass has no option of LLVM and reads no library's functions; LLVM's C API, which the library of the
bindings exports, has both.
"""

import ctypes
import os
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import CompileError
from .libdevice import PRECISE_ROOTS, PREFIX, TOOLKITS, check_functions
from .nvptx import TRIPLE
from .package_versions import version_of
from .targets import Target

#: A function that LLVM has if it was built with the NVPTX target, and those used here.
_NEEDED = ("LLVMInitializeNVPTXTarget", "LLVMParseCommandLineOptions", "LLVMParseIRInContext")

#: Options of LLVM. Loops whose trip count is not known stay as they are, as with llvmlite: unrolled, the
#: producer of a GEMM would hold each of its copies three times.
_OPTIONS = ("-unroll-runtime=false", PRECISE_ROOTS)

#: An inline assembly in PTX. LLVM 23 counts its lines on from the line of the op, which is that of all.
_ASSEMBLY = re.compile(r"// begin inline asm.*?// end inline asm", re.S)
_LOC = re.compile(r"^\s*\.loc\s.*\n", re.M)

_FLUSH = re.compile(r'"nvvm-reflect-ftz", (-?\d+)')


@dataclass(frozen=True)
class BindingsNvptx:
    """See `codegen.nvptx.Nvptx`.

    Attributes:
        bindings: the name of the bindings' package.
    """

    bindings: str

    @property
    def name(self) -> str:
        return f"{self.bindings} {version_of(self.bindings)}"

    def functions(self, bitcode: bytes) -> dict[str, str]:
        return _functions(_llvm(self.bindings), bitcode)

    def ptx(self, kernels: Any, llvm_ir: str, target: Target, library: Path | None) -> str:
        ir = import_module(f"{self.bindings}.ir")
        gpu = import_module(f"{self.bindings}.dialects.gpu")
        passmanager = import_module(f"{self.bindings}.passmanager")
        _forget_toolkits()
        _set_options(self.bindings)
        if library is not None:
            check_functions(library, _declared_functions(kernels, ir), self)
            _check_flags(kernels, library)
        attribute = ir.Attribute.parse(_target(target, library, ir))
        kernels.attributes["targets"] = ir.ArrayAttr.get([attribute])
        module = kernels.parent
        pm = passmanager.PassManager.parse("builtin.module(gpu-module-to-binary{format=isa})")
        pm.run(module)
        (binary,) = module.regions[0].blocks[0].operations
        ptx = gpu.ObjectAttr(binary.attributes["objects"][0]).object.decode()
        return _ASSEMBLY.sub(lambda assembly: _LOC.sub("", assembly[0]), ptx)


def has_nvptx(bindings: str) -> bool:
    """Return whether the LLVM of bindings has the NVPTX target, and the functions that are needed."""
    llvm = _llvm(bindings)
    return llvm is not None and all(hasattr(llvm, name) for name in _NEEDED)


def _target(target: Target, library: Path | None, ir: Any) -> str:
    link = "" if library is None else f", link = [{ir.StringAttr.get(str(library))}]"
    return (
        f'#nvvm.target<O = 3, triple = "{TRIPLE}", chip = "{target.arch}", '
        f'features = "+{target.ptx}"{link}>'
    )


def _declared_functions(kernels: Any, ir: Any) -> set[str]:
    """Return the functions of libdevice that a gpu.module declares."""
    functions = [op for op in kernels.regions[0].blocks[0].operations if op.name == "llvm.func"]
    names = {
        ir.StringAttr(op.attributes["sym_name"]).value
        for op in functions
        if not len(op.regions[0].blocks)
    }
    return {name for name in names if name.startswith(PREFIX)}


def _check_flags(kernels: Any, library: Path) -> None:
    """Check that a gpu.module does not ask libdevice to flush subnormals; MLIR links it without flags."""
    for op in kernels.regions[0].blocks[0].operations:
        flag = _FLUSH.search(str(op)) if op.name == "llvm.module_flags" else None
        if flag and flag[1] != "0":
            raise CompileError(
                f"LLVM cannot link {library}: 'nvvm-reflect-ftz': IDs have conflicting override "
                f"values ({flag[1]} in the module, 0 for the library)"
            )


@cache
def _llvm(bindings: str) -> Any:
    """Return the library of the bindings that holds LLVM, already loaded; None if there is none."""
    folder = Path(str(import_module(f"{bindings}.ir").__file__)).parent / "_mlir_libs"
    for file in sorted(folder.glob("lib*CAPI*")):
        try:
            return ctypes.CDLL(str(file))
        except OSError:
            continue
    return None


@cache
def _set_options(bindings: str) -> None:
    words = [word.encode() for word in ("mlir-smem", *_OPTIONS)]
    options = (ctypes.c_char_p * len(words))(*words)
    _llvm(bindings).LLVMParseCommandLineOptions(len(words), options, None)


@cache
def _forget_toolkits() -> None:
    """Hide CUDA toolkits from MLIR, which would link their libdevice, or complain that there is none."""
    for name in TOOLKITS:
        os.environ.pop(name, None)


def _functions(llvm: Any, bitcode: bytes) -> dict[str, str]:
    pointers = (
        "LLVMContextCreate",
        "LLVMCreateMemoryBufferWithMemoryRangeCopy",
        "LLVMGetFirstFunction",
        "LLVMGetNextFunction",
        "LLVMGlobalGetValueType",
        "LLVMPrintTypeToString",
    )
    for name in pointers:
        getattr(llvm, name).restype = ctypes.c_void_p
    llvm.LLVMGetValueName2.restype = ctypes.c_char_p
    context = ctypes.c_void_p(llvm.LLVMContextCreate())
    try:
        module = _parse_bitcode(llvm, context, bitcode)
        try:
            return _types(llvm, module)
        finally:
            llvm.LLVMDisposeModule(module)
    finally:
        llvm.LLVMContextDispose(context)


def _parse_bitcode(llvm: Any, context: Any, bitcode: bytes) -> Any:
    buffer = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(
        bitcode, ctypes.c_size_t(len(bitcode)), b"bitcode"
    )
    module, message = ctypes.c_void_p(), ctypes.c_char_p()
    # The buffer belongs to the parser.
    if llvm.LLVMParseIRInContext(
        context, ctypes.c_void_p(buffer), ctypes.byref(module), ctypes.byref(message)
    ):
        problem = (message.value or b"").decode(errors="replace").strip()
        llvm.LLVMDisposeMessage(message)
        raise RuntimeError(problem)
    return module


def _types(llvm: Any, module: Any) -> dict[str, str]:
    types = {}
    function = llvm.LLVMGetFirstFunction(module)
    while function:
        function_pointer = ctypes.c_void_p(function)
        if not llvm.LLVMIsDeclaration(function_pointer):
            name = llvm.LLVMGetValueName2(
                function_pointer, ctypes.byref(ctypes.c_size_t())
            ).decode()
            text = ctypes.c_void_p(
                llvm.LLVMPrintTypeToString(
                    ctypes.c_void_p(llvm.LLVMGlobalGetValueType(function_pointer))
                )
            )
            types[name] = (ctypes.cast(text, ctypes.c_char_p).value or b"").decode()
            llvm.LLVMDisposeMessage(text)
        function = llvm.LLVMGetNextFunction(function_pointer)
    return types
