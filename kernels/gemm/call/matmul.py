"""`matmul(a, b)`: the product of two matrices on a GPU, by a kernel that is compiled when needed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....runtime import DeviceArray, Kernel, Prepared, cached_compile, device_array
from ....runtime.arguments import DTYPES
from ..generator.config import Config, default_config
from ..generator.kernel import text
from ..generator.problem import Problem, ProblemError, results
from .device import gpu_name
from .libraries import assign, current_stream, element_named, empty, finish, wait_for
from .operands import Operands, operands, whole_columns
from .transposing import k_major
from .tuning_cache import tuned_config

#: Products whose arguments stay packed, and kernels that stay loaded, so that calling again costs little.
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
    """The product of `a` (M, K) and `b` (K, N), arrays of PyTorch, CuPy or JAX on one GPU, or any others
    with DLPack or the CUDA array interface if `out` is given.

    Element types are those of `Problem`: bf16, f16, f32 (multiplied as tf32), e4m3, e5m2, int8, uint8.
    One dimension of each is contiguous, either one; rows (or columns) begin at multiples of 16 bytes. Of
    types that tensor cores read K-major only, another operand is transposed first, in new memory. Of
    a new array whose rows are no multiples of 16 bytes, the result is the part without the padding.

    Args:
        a, b: the operands.
        out: where to put the product (M, N), its rows contiguous; a new array if left out.
        out_dtype: the element type of a new array, of the library or by name; the usual one if left out.
        config: the kernel's shape; what `tune` found for this problem, or a good guess, if left out.
        stream: as `Prepared.launch` takes it; the library's current stream if left out.

    Raises:
        ProblemError, ConfigError: if the arrays are no operands of a product, or the configuration does
            not fit.
        LaunchError: without a GPU of the architecture, or for memory that TMA cannot take.
    """
    if out is not None and out_dtype is not None:
        raise ProblemError("out_dtype says what a new array is to hold, but out is given")
    stream = current_stream(a) if stream is None else stream
    for each in (a, b):
        wait_for(each)
    # What is transposed lives until the product is enqueued behind it.
    _a, first = k_major("A", a, device_array("A", a), 1, stream)
    _b, second = k_major("B", b, device_array("B", b), 0, stream)
    given = None if out is None else device_array("C", out)
    if given is not None and not _is_ragged(given):
        _prepared(first, second, given, config).launch(stream)
        finish(out)
        return out
    made, to = _new_result(a, first, second, given.element if given else out_dtype)
    _prepared(first, second, to, config).launch(stream)
    finish(made)
    if _is_ragged(to):
        made = made[:, : to.matrix.shape[1]]
    if out is None:
        return made
    assign(out, made)
    return out


def prepare(a: Any, b: Any, out: Any, config: Config | None = None) -> Prepared:
    """A product to launch many times: everything is checked, compiled and packed once.

    What the arrays hold may change between launches; where they lie must not.

    Raises:
        ProblemError, ConfigError, LaunchError: as `matmul`.
    """
    to = device_array("C", out)
    of = operands(device_array("A", a), device_array("B", b), to)
    if _is_ragged(to):
        raise ProblemError(
            f"the rows of C are {of.n * to.matrix.item_bytes} bytes, but TMA writes multiples of 16: it "
            "would write zeros behind them; call matmul, which writes to an array of its own first"
        )
    kernel, grid = _kernel_and_grid(of, config)
    return kernel.prepare(a, b, out, grid=grid)


@lru_cache(maxsize=_PREPARED)
def _prepared(a: DeviceArray, b: DeviceArray, out: DeviceArray, config: Config | None) -> Prepared:
    """A launch that does not keep the arrays: operands that lie in the same place are the same."""
    kernel, grid = _kernel_and_grid(operands(a, b, out), config)
    return kernel.prepare(a.matrix, b.matrix, out.matrix, grid=grid)


def clear_prepared() -> None:
    """Has later calls look for what `tune` has found since."""
    _prepared.cache_clear()


def _kernel_and_grid(of: Operands, config: Config | None) -> tuple[Kernel, tuple[int, int]]:
    product = of.problem, of.m, of.n, of.k
    config = config or tuned_config(gpu_name(of.device), *product) or default_config(*product)
    kernel = _kernel(of.problem, config, of.device)
    return kernel, config.grid(of.m, of.n, kernel.resident_blocks())


@lru_cache(maxsize=_KERNELS)
def _kernel(problem: Problem, config: Config, device: int) -> Kernel:
    """The kernel, loaded; its machine code is kept on disk."""
    return Kernel(cached_compile(text(problem, config)), device=device)


def _is_ragged(out: DeviceArray) -> bool:
    """Whether TMA would write beyond the ends of an array's rows."""
    shape, size = out.matrix.shape, out.matrix.item_bytes
    return len(shape) == 2 and size > 0 and whole_columns(shape[1], size) != shape[1]


def _new_result(like: Any, a: DeviceArray, b: DeviceArray, dtype: Any) -> tuple[Any, DeviceArray]:
    """A new array for the product, with rows that TMA can write, and the part that is the product."""
    for name, each in (("A", a), ("B", b)):
        if len(each.matrix.shape) != 2:
            raise ProblemError(f"{name} has the shape {list(each.matrix.shape)}; expected a matrix")
    stored = results(a.element)
    element = stored[:1] if dtype is None else (element_named(dtype),)
    if not stored:
        raise ProblemError(f"there is no product of {a.element}")
    if element[0] not in stored:
        raise ProblemError(
            f"the product of {a.element} is not stored as {element[0]}; expected "
            f"{' or '.join(stored)}"
        )
    m, n = a.matrix.shape[0], b.matrix.shape[1]
    made = empty(like, (m, whole_columns(n, DTYPES[element[0]].itemsize)), element[0])
    to = device_array("C", made)
    return made, replace(to, matrix=replace(to.matrix, shape=(m, n)))
