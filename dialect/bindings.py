"""The former name of `mlir_smem.bindings`, for scripts that import it from here."""

from ..bindings.mlir import *  # noqa: F403
