"""CUDA's libdevice: the bitcode of the functions that upstream calls for math ops.

It is linked as LLVM's users do (`llvm.org/docs/NVPTXUsage.html`, "Linking with Libdevice"): what is
called alone, before optimizing, as functions of the module's own. The pass `nvvm-reflect` then chooses
among the variants that each function has.
"""

import importlib.util
import os
import re
import shutil
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite.binding as llvmlite

from .errors import CompileError

#: What its functions are called.
PREFIX = "__nv_"

_FILE = Path("nvvm", "libdevice", "libdevice.10.bc")

#: What LLVM's bitcode begins with.
_MAGIC = b"BC\xc0\xde"

#: Where upstream's NVVM target looks for CUDA (`mlir::NVVM::getCUDAToolkitPath`).
_TOOLKITS = ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")

#: Subnormal f32 stay what they are (4: "override" another module's flag), as in PTX without `.ftz`.
_FLAGS = """
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
"""

#: Square roots of f32 are rounded to nearest, nvcc's default; LLVM 22 has no module flag that says it.
_PRECISE_ROOTS = "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"

#: MLIR's types in signatures of libdevice, as LLVM writes them.
_TYPES = {"f32": "float", "f64": "double"}


def find_libdevice() -> Path:
    """The library: `MLIR_SMEM_LIBDEVICE`, that of the nvidia-nvvm wheel, or that of a CUDA toolkit.

    Raises:
        CompileError: if there is none.
    """
    named = os.environ.get("MLIR_SMEM_LIBDEVICE")
    if named:
        return _named(Path(named))
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (spec.submodule_search_locations or [])] if spec else []
    found = [file for root in roots for file in sorted(root.glob(f"*/{_FILE}"), reverse=True)]
    found += [Path(os.environ[name], _FILE) for name in _TOOLKITS if os.environ.get(name)]
    if ptxas := shutil.which("ptxas"):
        found.append(Path(ptxas).resolve().parents[1] / _FILE)
    for file in found:
        if file.is_file():
            return file
    raise CompileError(
        "CUDA's libdevice was not found; install nvidia-nvvm, set CUDA_HOME to a CUDA toolkit, or name "
        f"{_FILE.name} in MLIR_SMEM_LIBDEVICE"
    )


def _named(file: Path) -> Path:
    try:
        with file.open("rb") as opened:
            begins = opened.read(len(_MAGIC))
    except OSError as error:
        raise CompileError(
            f"MLIR_SMEM_LIBDEVICE names '{file}', which cannot be read: {error.strerror}"
        ) from None
    if begins != _MAGIC:
        raise CompileError(f"MLIR_SMEM_LIBDEVICE names '{file}', which is no bitcode of LLVM")
    return file


def libdevice_version() -> str | None:
    """A digest of the library; None if there is none."""
    try:
        return sha256(find_libdevice().read_bytes()).hexdigest()
    except (CompileError, OSError):
        return None


def signature(name: str) -> str | None:
    """The type of a function of libdevice as LLVM writes it, for example "float (float)"; None if it
    has no such function.

    Raises:
        CompileError: if there is no library, or LLVM cannot read it.
    """
    file = find_libdevice()
    return _signatures(file, _stamp(file)).get(name)


def in_llvm(function_type: Any) -> str:
    """An `!llvm.func` type of numbers and pointers as LLVM writes it."""
    inner = re.sub(r"\b(f32|f64)\b", lambda m: _TYPES[m[1]], str(function_type))
    return inner.removeprefix("!llvm.func<").removesuffix(">").replace("!llvm.", "")


def link(module: Any, file: Path) -> None:
    """Adds to a module of LLVM what it declares of libdevice.

    Args:
        module: of llvmlite, with its triple and data layout, before it is optimized.
        file: the library.

    Raises:
        CompileError: if LLVM cannot read the library, or it lacks a function.
    """
    declared = {f.name for f in module.functions if f.is_declaration and f.name.startswith(PREFIX)}
    if not declared:
        return
    _ask_for_precise_roots()
    target = module.triple, module.data_layout
    library = llvmlite.parse_bitcode(_part(file, _stamp(file), frozenset(declared), target))
    if missing := sorted(declared - {f.name for f in library.functions if not f.is_declaration}):
        raise CompileError(f"{file} has no function '{missing[0]}'")
    try:
        module.link_in(library)
    except RuntimeError as error:
        raise CompileError(f"LLVM cannot link {file}: {error}") from error
    for name in declared:
        module.get_function(name).linkage = "internal"


@lru_cache
def _part(
    file: Path, stamp: tuple[int, int], names: frozenset[str], target: tuple[str, str]
) -> bytes:
    """The bitcode, for a triple and its data layout, of some functions of the library and of what these
    call; optimizing all of it would take longer than all else."""
    library = _read(file)
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
def _signatures(file: Path, stamp: tuple[int, int]) -> dict[str, str]:
    functions = _read(file).functions
    return {f.name: str(f.global_value_type) for f in functions if not f.is_declaration}


def _read(file: Path) -> Any:
    try:
        return llvmlite.parse_bitcode(file.read_bytes())
    except (OSError, RuntimeError) as error:
        raise CompileError(f"{file} cannot be read as LLVM bitcode: {error}") from error


def _stamp(file: Path) -> tuple[int, int]:
    """Changes when the file does."""
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _ask_for_precise_roots() -> None:
    llvmlite.set_option("mlir-smem", _PRECISE_ROOTS)
