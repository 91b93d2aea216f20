"""`matmul(a, b)`: a GEMM on a GPU, by a kernel that is compiled when needed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....runtime import DeviceArray, Kernel, Prepared, cached_compile, device_array
from ....runtime.arguments import DTYPES
from ....runtime.streams import current_stream, finish, wait_for
from ..generator.config import Config, default_config
from ..generator.kernel import text
from ..generator.problem import Problem, ProblemError, results
from .device import gpu_name
from .libraries import assign, element_named, empty
from .operands import Operands, operands, whole_columns
from .transposing import k_major
from .tuning_cache import tuned_config

#: Numbers of launches whose arguments stay packed, and of kernels that stay loaded, for later calls.
_PREPARED, _KERNELS = 256, 64


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    out_dtype: Any = None,
    config: Config | None = None,
    stream: Any = None,
) -> Any:
    """Return `a @ b` of `a` (M, K) and `b` (K, N).

    Both are arrays of PyTorch, CuPy or JAX on one GPU; if `out` is given, any with DLPack or the CUDA
    array interface. Element types are those of `Problem`: bf16, f16, f32 (multiplied as tf32), e4m3,
    e5m2, int8, uint8. Either dimension of an operand is contiguous, and the stride of the other is a
    multiple of 16 bytes. If tensor cores read a type K-major only, an operand that is not K-major is
    first transposed into new memory. If the rows of a new result are not multiples of 16 bytes, its
    memory is padded, and the result is the view without the padding.

    Args:
        a, b: the operands.
        out: the result (M, N), with contiguous rows; None for a new array.
        out_dtype: the element type of a new array, of the library or by name; the first one of `results`
            if None.
        config: the kernel's configuration; if None, the one that `tune` found for this problem, or that
            of the package's table for this GPU, or the default. `MLIR_SMEM_TUNED=off` in the environment
            leaves the default alone, at the first call of a shape.
        stream: as for `Prepared.launch`; the library's current stream if None.

    Raises:
        ProblemError, ConfigError: if the arrays are not operands of a GEMM, or the configuration does not
            fit.
        LaunchError: without a GPU of the architecture, or for memory that TMA cannot read or write.

    Example:
        >>> import torch  # on a GPU
        >>> a, b = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "AB")  # on a GPU
        >>> float(matmul(a, b)[0, 0])  # on a GPU
        512.0
    """
    if out is not None and out_dtype is not None:
        raise ProblemError("out_dtype is the element type of a new array, but out is given")
    stream = current_stream(a) if stream is None else stream
    for each in (a, b):
        wait_for(each)
    # A transposed copy lives until the GEMM is enqueued after it.
    _a, first = k_major("A", a, device_array("A", a), 1, stream)
    _b, second = k_major("B", b, device_array("B", b), 0, stream)
    given = None if out is None else device_array("C", out)
    if given is not None and not _is_ragged(given):
        _prepared(first, second, given, config).launch(stream)
        finish(out)
        return out
    result, view = _new_result(a, first, second, given.element if given else out_dtype)
    _prepared(first, second, view, config).launch(stream)
    finish(result)
    if _is_ragged(view):
        result = result[:, : view.matrix.shape[1]]
    if out is None:
        return result
    assign(out, result)
    return out


def prepare(a: Any, b: Any, out: Any, config: Config | None = None) -> Prepared:
    """Return a GEMM to launch many times: it is checked, compiled and packed once.

    The elements of the arrays may change between launches; their addresses may not.

    Args:
        a, b: the operands, as for `matmul`.
        out: the result (M, N).
        config: the kernel's configuration, as for `matmul`.

    Raises:
        ProblemError, ConfigError, LaunchError: as in `matmul`.

    Example:
        >>> import torch  # on a GPU
        >>> a, b, c = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "ABC")  # on a GPU
        >>> prepare(a, b, c).launch()  # on a GPU
        >>> float(c[0, 0])  # on a GPU
        512.0
    """
    result = device_array("C", out)
    of = operands(device_array("A", a), device_array("B", b), result)
    if _is_ragged(result):
        raise ProblemError(
            f"the rows of C are {of.n * result.matrix.item_bytes} bytes, but TMA writes multiples of 16: "
            "it would write zeros after their ends; call matmul, which writes to a padded array first"
        )
    kernel, grid = _kernel_and_grid(of, config)
    return kernel.prepare(a, b, out, grid=grid)


@lru_cache(maxsize=_PREPARED)
def _prepared(a: DeviceArray, b: DeviceArray, out: DeviceArray, config: Config | None) -> Prepared:
    """Return a launch that holds no arrays: operands with equal addresses, shapes and types share it."""
    kernel, grid = _kernel_and_grid(operands(a, b, out), config)
    return kernel.prepare(a.matrix, b.matrix, out.matrix, grid=grid)


def clear_prepared() -> None:
    """Drop prepared launches, so that later calls use the configurations that `tune` has found since."""
    _prepared.cache_clear()


def _kernel_and_grid(of: Operands, config: Config | None) -> tuple[Kernel, tuple[int, int]]:
    gemm = of.problem, of.m, of.n, of.k
    config = config or tuned_config(gpu_name(of.device), *gemm) or default_config(*gemm)
    kernel = _kernel(of.problem, config, of.device)
    return kernel, config.grid(of.m, of.n, kernel.resident_blocks())


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """Return the loaded kernel; its machine code is cached on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)


def _is_ragged(out: DeviceArray) -> bool:
    """Return whether TMA would write beyond the ends of an array's rows."""
    shape, size = out.matrix.shape, out.matrix.item_bytes
    return len(shape) == 2 and size > 0 and whole_columns(shape[1], size) != shape[1]


def _new_result(like: Any, a: DeviceArray, b: DeviceArray, dtype: Any) -> tuple[Any, DeviceArray]:
    """Return a new array for the result, with rows that TMA can write, and its view without padding."""
    for name, each in (("A", a), ("B", b)):
        if len(each.matrix.shape) != 2:
            raise ProblemError(f"{name} has the shape {list(each.matrix.shape)}; expected a matrix")
    stored = results(a.element)
    element = stored[:1] if dtype is None else (element_named(dtype),)
    if not stored:
        raise ProblemError(f"there is no GEMM of {a.element}")
    if element[0] not in stored:
        raise ProblemError(
            f"a GEMM of {a.element} does not store {element[0]}; expected {' or '.join(stored)}"
        )
    m, n = a.matrix.shape[0], b.matrix.shape[1]
    array = empty(like, (m, whole_columns(n, DTYPES[element[0]].itemsize)), element[0])
    padded = device_array("C", array)
    return array, replace(padded, matrix=replace(padded.matrix, shape=(m, n)))
