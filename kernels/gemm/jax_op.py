"""`matmul` for JAX: a GEMM that `jax.jit` compiles into its program, and that has gradients.

It is a custom call of XLA (`jax.ffi`). Its handler starts the kernel on the stream of the program and
returns, so nothing waits for it; `kernels.gemm.matmul`, which is called outside of a program, has to wait
for arrays of JAX.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...layout.wgmma import MN_MAJOR
from ...runtime import DeviceArray, Matrix
from ...runtime.arguments import DTYPES
from ...runtime.plans import BoundedCache
from ...runtime.xla_ffi import CustomCall, XlaBuffer, handler
from ..libraries import element_named, whole_columns
from .call.batches import broadcast
from .call.launches import GemmLaunch
from .call.results import result_element
from .generator.problem import ProblemError, multiplicand

#: The name of the custom call.
TARGET = "mlir_smem_matmul"

#: Types in which a gradient is computed.
_DIFFERENTIABLE = ("bf16", "f16", "f32")

_LAUNCHES: BoundedCache[GemmLaunch] = BoundedCache()


def matmul(
    a: Any,
    b: Any,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out_dtype: Any = None,
) -> Any:
    """Return `a @ b` of arrays of JAX, also where `jax.jit`, `jax.grad` or `jax.vmap` traces them.

    The configuration is the one that `tune` found, or the chosen one. XLA's arrays are dense: in
    `matmul(x, w.T)` it would copy W first, and `matmul(x, w, transpose_b=True)` reads it as it is. Rows
    that are not multiples of 16 bytes are padded by XLA, also those of the result. 8-bit and 32-bit types
    are read K-major only, so XLA transposes other operands.

    Args:
        a: A (..., M, K), or (..., K, M) if `transpose_a`.
        b: B (..., K, N), or (..., N, K) if `transpose_b`. Leading dimensions broadcast.
        transpose_a, transpose_b: whether the last two dimensions are exchanged.
        out_dtype: the type of the result; None for that of `kernels.gemm.matmul`.

    Raises:
        ProblemError: if the arrays are not operands of a GEMM, or the gradient of operands is asked for
            that are not bf16, f16 or f32.
        RuntimeError: from XLA, at a program's execution, for a GPU on which the kernel does not run.

    Example:
        >>> import jax, jax.numpy as jnp  # on a GPU
        >>> from mlir_smem.kernels.gemm import jax_op  # on a GPU
        >>> a, b = (jnp.ones((512, 512), jnp.bfloat16) for _ in "AB")  # on a GPU
        >>> float(jax.jit(jax_op.matmul)(a, b)[0, 0])  # on a GPU
        512.0
    """
    a, b = jnp.asarray(a), jnp.asarray(b)
    dtype = jnp.dtype(_result(a, b, transpose_a, transpose_b, out_dtype))
    elements = {element_named(array.dtype) for array in (a, b)}
    if elements <= {*_DIFFERENTIABLE}:
        return _with_gradient(a, b, transpose_a, transpose_b, dtype)
    return _call(a, b, transpose_a, transpose_b, dtype)


def _result(a: Any, b: Any, transpose_a: bool, transpose_b: bool, out_dtype: Any) -> Any:
    """Return the dtype of the result, of operands that are those of a GEMM."""
    for name, array in (("A", a), ("B", b)):
        if array.ndim < 2:
            raise ProblemError(
                f"{name} has the shape {list(array.shape)}; expected a matrix, or several"
            )
        if 0 in array.shape:
            raise ProblemError(f"{name} has no elements in {list(array.shape)}")
    k, rows = a.shape[-2 if transpose_a else -1], b.shape[-1 if transpose_b else -2]
    if k != rows:
        texts = [
            f"{name} is {'x'.join(map(str, array.shape))}{', transposed' if transposed else ''}"
            for name, array, transposed in (("A", a, transpose_a), ("B", b, transpose_b))
        ]
        raise ProblemError(
            f"{' and '.join(texts)}; expected a B of {k} rows, the number of A's columns"
        )
    of_a, of_b = element_named(a.dtype), element_named(b.dtype)
    return DTYPES[result_element(of_a, of_b, out_dtype and jnp.dtype(out_dtype))]


def _forward(a: Any, b: Any, transpose_a: bool, transpose_b: bool, dtype: Any) -> Any:
    return _call(a, b, transpose_a, transpose_b, dtype), (a, b)


def _backward(
    transpose_a: bool, transpose_b: bool, _: Any, operands: tuple[Any, Any], grad: Any
) -> tuple[Any, Any]:
    a, b = operands
    grad = grad.astype(a.dtype)
    if transpose_a:
        of_a = matmul(b, grad, transpose_a=transpose_b, transpose_b=True)
    else:
        of_a = matmul(grad, b, transpose_b=not transpose_b)
    if transpose_b:
        of_b = matmul(grad, a, transpose_a=True, transpose_b=transpose_a)
    else:
        of_b = matmul(a, grad, transpose_a=not transpose_a)
    return _sum_to_shape(of_a, a), _sum_to_shape(of_b, b)


def _sum_to_shape(grad: Any, operand: Any) -> Any:
    """Return a gradient, summed over the leading dimensions along which its operand was broadcast."""
    shape = (1,) * (grad.ndim - operand.ndim) + operand.shape
    along = [i for i, (x, y) in enumerate(zip(grad.shape, shape, strict=True)) if x != y]
    return grad.sum(tuple(along), keepdims=True).astype(operand.dtype).reshape(operand.shape)


def _call(a: Any, b: Any, transpose_a: bool, transpose_b: bool, dtype: Any) -> Any:
    """Return the result of the custom call, whose operands and result have padded rows."""
    element = element_named(a.dtype)
    if multiplicand(element) not in MN_MAJOR:
        a, transpose_a = (jnp.swapaxes(a, -1, -2), False) if transpose_a else (a, False)
        b, transpose_b = (b, True) if transpose_b else (jnp.swapaxes(b, -1, -2), True)
    m, k = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    n = b.shape[-2 if transpose_b else -1]
    leading = broadcast(a.shape[:-2], b.shape[:-2])
    # Operands of equal ranks stay together where `vmap` adds a dimension.
    a, b = (_pad_rows(array.reshape(_with_rank(array.shape, len(leading) + 2))) for array in (a, b))
    columns = whole_columns(n, dtype.itemsize)
    call = jax.ffi.ffi_call(
        TARGET, jax.ShapeDtypeStruct((*leading, m, columns), dtype), vmap_method="expand_dims"
    )
    transposed = [transpose_a, transpose_b]
    padded = call(a, b, extents=np.array([m, n, k]), transposed=np.array(transposed, np.int64))
    return padded[..., :n]


_with_gradient = jax.custom_vjp(_call, nondiff_argnums=(2, 3, 4))
_with_gradient.defvjp(_forward, _backward)


def _with_rank(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + shape


def _pad_rows(array: Any) -> Any:
    """Return an array whose rows are multiples of 16 bytes."""
    columns = array.shape[-1]
    missing = whole_columns(columns, array.dtype.itemsize) - columns
    return jnp.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)]) if missing else array


def _start(call: CustomCall) -> None:
    """Start the kernel of a custom call on its stream."""
    a, b = call.arguments
    (out,) = call.results
    (m, n, k), transposed = call.numbers(0), call.numbers(1)
    key = (*(buffer[1:] for buffer in (a, b, out)), m, n, k, transposed, call.device)
    launch = _LAUNCHES.get(key)
    if launch is None:
        shapes = [(k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n)]
        first, second = (
            _operand(buffer, shape, flag, call.device)
            for buffer, shape, flag in zip((a, b), shapes, transposed, strict=True)
        )
        result = _operand(out, (m, n), 0, call.device)
        launch = GemmLaunch(first, second, [result], None)
        _LAUNCHES.keep(key, launch)
    launch.start(a.pointer, b.pointer, [out.pointer], call.stream)


def _operand(buffer: XlaBuffer, extents: tuple[int, int], transposed: int, gpu: int) -> DeviceArray:
    """Return matrices in a dense array with padded rows, transposed if the call says so."""
    dtype = DTYPES[buffer.element]
    strides, size = [], 1
    for extent in reversed(buffer.shape):
        strides.insert(0, size)
        size *= extent
    rows = list(extents)
    if transposed:
        rows.reverse()
        strides[-2:] = reversed(strides[-2:])
    shape = (*buffer.shape[:-2], *rows)
    return DeviceArray(Matrix(buffer.pointer, shape, tuple(strides), dtype.itemsize), dtype, gpu)


jax.ffi.register_ffi_target(TARGET, handler(_start), platform="CUDA")
