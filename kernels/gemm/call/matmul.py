"""`matmul(a, b)`: a GEMM on a GPU, by a kernel that is compiled when needed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, NamedTuple

from ....runtime import DeviceArray, Prepared, device_array
from ....runtime.arguments import DTYPES
from ....runtime.plans import Kept
from ....runtime.prepared import LEGACY_STREAM, stream_handle
from ....runtime.readers import reader
from ....runtime.streams import current_stream, exposes_no_stream, finish, wait_for
from ..generator.config import Config
from ..generator.problem import ProblemError, results
from .batches import broadcast
from .launches import Launch, forget_configurations
from .libraries import assign, element_named, empty
from .operands import operands, whole_columns
from .transposing import k_major


class _Call(NamedTuple):
    """A call that later calls find by what was read of their arrays.

    Attributes:
        launch: its launch.
        new: returns a new array for the result, given A.
        waits: whether the arrays' library hides its streams.
    """

    launch: Launch
    new: Callable[[Any], Any]
    waits: bool


_CALLS: Kept[_Call] = Kept()


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    out_dtype: Any = None,
    config: Config | None = None,
    stream: Any = None,
) -> Any:
    """Return `a @ b` of `a` (..., M, K) and `b` (..., K, N), in one launch.

    Leading dimensions broadcast, as NumPy's do. Both are arrays of PyTorch, CuPy or JAX on one GPU; if
    `out` is given, any with DLPack or the CUDA array interface. Element types are those of `Problem`:
    bf16, f16, f32 (multiplied as tf32), e4m3, e5m2, int8, uint8. Either dimension of a matrix is
    contiguous, and other strides are multiples of 16 bytes. If tensor cores read a type K-major only, an
    operand that is not K-major is first transposed into new memory. If the rows of a new result are not
    multiples of 16 bytes, its memory is padded, and the result is the view without the padding.

    Args:
        a, b: the operands.
        out: the result (..., M, N), with contiguous rows; None for a new array.
        out_dtype: the element type of a new array, of the library or by name; the first one of `results`
            if None.
        config: the kernel's configuration; if None, the one that `tune` found for this problem, or the
            one with the least predicted time (`choose`).
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
    handle = (current_stream(a) or LEGACY_STREAM) if stream is None else stream_handle(stream)
    try:
        first, a_signature = reader(type(a))(a)
        second, b_signature = reader(type(b))(b)
        result, signature = (0, out_dtype) if out is None else reader(type(out))(out)
        key = a_signature, b_signature, signature, out is None, config
        call = _CALLS.get(key)
    except Exception:
        # It is no array on a GPU, or cannot be hashed; the check says what is wrong with it.
        return _first_call(None, a, b, out, out_dtype, config, handle)
    if call is None:
        return _first_call(key, a, b, out, out_dtype, config, handle)
    if call.waits:
        wait_for(a)
        wait_for(b)
    if out is None:
        out = call.new(a)
        result, _ = reader(type(out))(out)
    call.launch.start(first, second, result, handle)
    if call.waits:
        finish(out)
    return out


def _first_call(
    key: Hashable, a: Any, b: Any, out: Any, out_dtype: Any, config: Config | None, stream: int
) -> Any:
    """Return `a @ b`, checked; keep the launch for later calls if it needs no copies of arrays."""
    for each in (a, b):
        wait_for(each)
    given_a, given_b = device_array("A", a), device_array("B", b)
    # A transposed copy lives until the GEMM is enqueued after it.
    _a, first = k_major("A", a, given_a, 1, stream)
    _b, second = k_major("B", b, given_b, 0, stream)
    given = None if out is None else device_array("C", out)
    result: Any = out
    if given is not None and not _is_ragged(given):
        view = given
    else:
        result, view = _new_result(a, first, second, given.element if given else out_dtype)
    launch = Launch(first, second, view, config)
    launch.start(first.matrix.pointer, second.matrix.pointer, view.matrix.pointer, stream)
    finish(result)
    is_ragged, n = _is_ragged(view), view.matrix.shape[-1]
    if key is not None and not is_ragged and (first, second) == (given_a, given_b):
        shape, element = view.matrix.shape, view.element
        waits = any(map(exposes_no_stream, (a, b, result)))
        _CALLS.keep(key, _Call(launch, lambda like: empty(like, shape, element), waits))
    cut: Any = result[..., :n] if is_ragged else result
    if out is None or out is result:
        return cut
    assign(out, cut)
    return out


def prepare(a: Any, b: Any, out: Any, config: Config | None = None) -> Prepared:
    """Return a GEMM to launch many times: it is checked, compiled and packed once.

    The elements of the arrays may change between launches; their addresses may not.

    Args:
        a, b: the operands, as for `matmul`.
        out: the result (..., M, N).
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
    first, second, result = (device_array(*each) for each in (("A", a), ("B", b), ("C", out)))
    if _is_ragged(result):
        n = operands(first, second, result)[0].n
        raise ProblemError(
            f"the rows of C are {n * result.matrix.item_bytes} bytes, but TMA writes multiples of 16: "
            "it would write zeros after their ends; call matmul, which writes to a padded array first"
        )
    launch = Launch(first, second, result, config)
    pointers = first.matrix.pointer, second.matrix.pointer, result.matrix.pointer
    return launch.prepared(*pointers, held=(a, b, out))


def forget_calls() -> None:
    """Forget launches, so that later calls use the configurations that `tune` has found since."""
    _CALLS.clear()
    forget_configurations()


def _is_ragged(out: DeviceArray) -> bool:
    """Return whether TMA would write beyond the ends of an array's rows."""
    shape, size = out.matrix.shape, out.matrix.item_bytes
    return len(shape) >= 2 and size > 0 and whole_columns(shape[-1], size) != shape[-1]


def _new_result(like: Any, a: DeviceArray, b: DeviceArray, dtype: Any) -> tuple[Any, DeviceArray]:
    """Return a new array for the result, with rows that TMA can write, and its view without padding."""
    for name, each in (("A", a), ("B", b)):
        if len(shape := each.matrix.shape) < 2:
            raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix, or several")
    stored = results(a.element)
    element = stored[:1] if dtype is None else (element_named(dtype),)
    if not stored:
        raise ProblemError(f"there is no GEMM of {a.element}")
    if element[0] not in stored:
        raise ProblemError(
            f"a GEMM of {a.element} does not store {element[0]}; expected {' or '.join(stored)}"
        )
    (*a_batch, m, _), (*b_batch, _, n) = a.matrix.shape, b.matrix.shape
    rows = *broadcast(a_batch, b_batch), m
    array = empty(like, (*rows, whole_columns(n, DTYPES[element[0]].itemsize)), element[0])
    padded = device_array("C", array)
    return array, replace(padded, matrix=replace(padded.matrix, shape=(*rows, n)))
