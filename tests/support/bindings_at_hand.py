"""What tests expect where it depends on the bindings; `docs/hosts.md` lists the differences."""

from typing import TypeVar

import pytest

from mlir_smem.bindings import PACKAGE, gpu
from mlir_smem.codegen.nvptx_choice import nvptx_for
from mlir_smem.codegen.nvptx_of_bindings import has_nvptx

T = TypeVar("T")

#: The package and version of the LLVM that writes PTX.
NVPTX = nvptx_for(PACKAGE).name

#: Whether the package of the bindings imports CUDA's bindings for Python.
IMPORTS_CUDA = PACKAGE.startswith("numba_cuda_mlir.")

#: Marks for cases with IR that is newer than LLVM 23.
needs_barrier_scopes = pytest.mark.skipif(
    not hasattr(gpu, "BarrierScope"), reason="gpu.barrier has scopes from LLVM 24 on"
)


def by_nvptx(*, llvmlite: T, bindings: T) -> T:
    """Return what is expected of llvmlite's NVPTX target, or what is of the bindings' own."""
    return bindings if has_nvptx(PACKAGE) else llvmlite
