"""CUDA's libdevice: the bitcode of the functions that upstream calls for math ops.

It is linked as LLVM documents it (`llvm.org/docs/NVPTXUsage.html`, "Linking with Libdevice"): only the
functions that are called, before optimization, with internal linkage. The pass `nvvm-reflect` then
selects among the variants of each function.
"""

import importlib.util
import os
import re
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from .errors import CompileError
from .nvptx import Nvptx

#: The prefix of its functions' names.
PREFIX = "__nv_"

#: Square roots of f32 are rounded to nearest, nvcc's default; LLVM 22 and 23 have no module flag for it.
PRECISE_ROOTS = "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"

_FILE = Path("nvvm", "libdevice", "libdevice.10.bc")

#: The first bytes of LLVM bitcode.
_MAGIC = b"BC\xc0\xde"

#: Where upstream's NVVM target looks for CUDA (`mlir::NVVM::getCUDAToolkitPath`).
TOOLKITS = ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")

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
        return _check_bitcode(Path(named))
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (spec.submodule_search_locations or [])] if spec else []
    candidates = [file for root in roots for file in sorted(root.glob(f"*/{_FILE}"), reverse=True)]
    candidates += [Path(os.environ[name], _FILE) for name in TOOLKITS if os.environ.get(name)]
    if ptxas := shutil.which("ptxas"):
        candidates.append(Path(ptxas).resolve().parents[1] / _FILE)
    for file in candidates:
        if file.is_file():
            return file
    raise CompileError(
        "CUDA's libdevice was not found; install nvidia-nvvm, set CUDA_HOME to a CUDA toolkit, or name "
        f"{_FILE.name} in MLIR_SMEM_LIBDEVICE"
    )


def _check_bitcode(file: Path) -> Path:
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


def signature(name: str, llvm: Nvptx) -> str | None:
    """Return the type of a function of libdevice in LLVM's notation, for example "float (float)"; None if
    libdevice has no such function.

    Args:
        name: the function's name.
        llvm: the LLVM that reads the library.

    Raises:
        CompileError: if there is no library, or LLVM cannot read it.
    """
    return signatures(find_libdevice(), llvm).get(name)


def signatures(file: Path, llvm: Nvptx) -> dict[str, str]:
    """Return the functions that a library defines, with their types in LLVM's notation.

    Raises:
        CompileError: if LLVM cannot read the library.
    """
    return _signatures(file, stamp(file), llvm)


@cache
def _signatures(file: Path, stamp: tuple[int, int], llvm: Nvptx) -> dict[str, str]:
    try:
        return llvm.functions(file.read_bytes())
    except (OSError, RuntimeError) as error:
        raise CompileError(f"{file} cannot be read as LLVM bitcode: {error}") from error


def check_functions(file: Path, called: set[str], llvm: Nvptx) -> None:
    """Check that a library defines the functions that a module calls.

    Raises:
        CompileError: if it lacks one, or LLVM cannot read it.
    """
    if missing := sorted(called - signatures(file, llvm).keys()):
        raise CompileError(f"{file} has no function '{missing[0]}'")


def in_llvm(function_type: Any) -> str:
    """Return an `!llvm.func` type of numbers and pointers in LLVM's notation."""
    inner = re.sub(r"\b(f32|f64)\b", lambda m: _TYPES[m[1]], str(function_type))
    return inner.removeprefix("!llvm.func<").removesuffix(">").replace("!llvm.", "")


def stamp(file: Path) -> tuple[int, int]:
    """Return a cache key that changes when the file does."""
    status = file.stat()
    return status.st_mtime_ns, status.st_size
