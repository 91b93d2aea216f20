"""CUDA's libdevice: the bitcode of the functions that upstream calls for math ops.

It is linked as LLVM documents it (`llvm.org/docs/NVPTXUsage.html`, "Linking with Libdevice"): only the
functions that are called, before optimization, with internal linkage. The pass `nvvm-reflect` then
selects among the variants of each function.
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

#: The prefix of its functions' names.
PREFIX = "__nv_"

_FILE = Path("nvvm", "libdevice", "libdevice.10.bc")

#: The first bytes of LLVM bitcode.
_MAGIC = b"BC\xc0\xde"

#: Where upstream's NVVM target looks for CUDA (`mlir::NVVM::getCUDAToolkitPath`).
_TOOLKITS = ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")

#: Subnormal f32 are kept, as in PTX without `.ftz` (4: "override" the flag of another module).
_FLAGS = """
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
"""

#: Square roots of f32 are rounded to nearest, nvcc's default; LLVM 22 has no module flag for it.
_PRECISE_ROOTS = "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"

#: MLIR's types in signatures of libdevice, in LLVM's notation.
_TYPES = {"f32": "float", "f64": "double"}


def find_libdevice() -> Path:
    """Return the library: `MLIR_SMEM_LIBDEVICE`, that of the nvidia-nvvm wheel, or that of a CUDA
    toolkit.

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
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        raise CompileError(
            f"MLIR_SMEM_LIBDEVICE names '{file}', which cannot be read: {error.strerror}"
        ) from None
    if magic != _MAGIC:
        raise CompileError(f"MLIR_SMEM_LIBDEVICE names '{file}', which is not LLVM bitcode")
    return file


def libdevice_version() -> str | None:
    """Return a digest of the library; None if there is no library."""
    try:
        return sha256(find_libdevice().read_bytes()).hexdigest()
    except (CompileError, OSError):
        return None


def signature(name: str) -> str | None:
    """Return the type of a function of libdevice in LLVM's notation, for example "float (float)"; None if
    libdevice has no such function.

    Raises:
        CompileError: if there is no library, or LLVM cannot read it.
    """
    file = find_libdevice()
    return _signatures(file, _stamp(file)).get(name)


def in_llvm(function_type: Any) -> str:
    """Return an `!llvm.func` type of numbers and pointers in LLVM's notation."""
    inner = re.sub(r"\b(f32|f64)\b", lambda m: _TYPES[m[1]], str(function_type))
    return inner.removeprefix("!llvm.func<").removesuffix(">").replace("!llvm.", "")


def link(module: Any, file: Path) -> None:
    """Link the functions of libdevice that an LLVM module declares into it.

    Args:
        module: llvmlite's module, with triple and data layout, before optimization.
        file: the library.

    Raises:
        CompileError: if LLVM cannot read the library, or it lacks a function.
    """
    declared = {f.name for f in module.functions if f.is_declaration and f.name.startswith(PREFIX)}
    if not declared:
        return
    _request_precise_roots()
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
    """Return the bitcode of some functions of the library and of their callees, for a triple and its data
    layout. To optimize the whole library would take longer than all other steps together."""
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
    """Return a cache key that changes when the file does."""
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _request_precise_roots() -> None:
    llvmlite.set_option("mlir-smem", _PRECISE_ROOTS)
