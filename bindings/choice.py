"""Which MLIR Python bindings this process uses.

The same modules ship under several package names. The package is the one that `MLIR_SMEM_BINDINGS`
names; without it, the one that the host process has already imported, so that contexts and ops can be
shared with it; else the installed one.
"""

import importlib.util
import os
import sys

#: Packages that contain the complete upstream bindings, in the order of choice. `numba_cuda_mlir` is the
#: last, because it is imported with the whole of the package around its bindings.
PACKAGES = ("mlir", "torch_mlir", "numba_cuda_mlir._mlir")


def _package() -> str:
    named = os.environ.get("MLIR_SMEM_BINDINGS")
    if named:
        if not _exists(named):
            raise ImportError(
                f"MLIR_SMEM_BINDINGS names the package '{named}', which is not installed"
            )
        if not _exists(f"{named}.ir"):
            raise ImportError(
                f"MLIR_SMEM_BINDINGS names the package '{named}', which holds no MLIR bindings"
            )
        return named
    for name in PACKAGES:
        if f"{name}.ir" in sys.modules:
            return name
    for name in PACKAGES:
        # The registry has empty placeholder packages under some of these names.
        if _exists(name) and _exists(f"{name}.ir"):
            return name
    raise ImportError(
        "no MLIR Python bindings found; install torch-mlir or numba-cuda-mlir, or name a package in "
        "MLIR_SMEM_BINDINGS"
    )


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        return False


#: The name of the package in use.
PACKAGE = _package()
