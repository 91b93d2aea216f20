"""`matmul(a, b)`: a GEMM on a GPU, by a kernel that is compiled when needed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from ....language.reads import Reads
from ....layout.elements import UNIT_BYTES
from ....runtime import DeviceArray, Prepared, device_array
from ....runtime.plans import BoundedCache
from ....runtime.prepared import LEGACY_STREAM, stream_handle
from ....runtime.readers import reader
from ....runtime.streams import current_stream, exposes_no_stream, finish, wait_for
from ...libraries import maker, whole_columns
from ..generator.config import Config
from ..generator.problem import ProblemError, accumulator
from ..generator.problem import results as stored_types
from .batches import broadcast
from .fusions import FusedCall, function_identity, fused_call, gate_columns, read_operands
from .launches import GemmLaunch, forget_configurations
from .operands import GemmOperands, check_operands
from .padding import GemmOperand, RepeatedCopies, make_readable
from .results import ResultArray, check_matrices, is_ragged, result_arrays, without_padding


class _GemmCall(NamedTuple):
    """A call, cached for later calls with arrays of the same signatures.

    Attributes:
        launch: its launch.
        new: makes arrays for the results, from A; returns their addresses, and the result of the call: an
            array without padding, or a tuple of two.
        waits: whether the arrays' library hides its streams.
        copies: whether operands are copied first, because TMA or tensor cores cannot read them.
        repeated_copies: the copies; None if no operand is copied, or one is transposed.
        reads: the values that the trace of its epilogue read.
    """

    launch: GemmLaunch
    new: Callable[[Any], tuple[Sequence[int], Any]]
    waits: bool
    copies: bool
    repeated_copies: RepeatedCopies | None
    reads: Reads | None


class _ReadCall(NamedTuple):
    """The addresses and the signatures of a call's arrays.

    Attributes:
        operands: the addresses of A and B.
        results: those of the results; none for new arrays.
        further: those of the epilogue's arrays.
        numbers: the epilogue's numbers.
        key: the signatures, alignments and options: all that a launch depends on.
    """

    operands: tuple[int, int]
    results: Sequence[int]
    further: Sequence[int]
    numbers: Sequence[Any]
    key: Hashable


class _GemmArguments(NamedTuple):
    """The arguments of a call, and the handle of its stream."""

    a: Any
    b: Any
    out: Any
    out_dtype: Any
    config: Config | None
    epilogue: Callable[..., Any] | None
    operands: Mapping[str, Any]
    gated: str | None
    stream: int


_CALLS: BoundedCache[_GemmCall] = BoundedCache()


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    epilogue: Callable[..., Any] | None = None,
    operands: Mapping[str, Any] | None = None,
    gated: str | None = None,
    out_dtype: Any = None,
    config: Config | None = None,
    stream: Any = None,
) -> Any:
    """Return `a @ b` of `a` (..., M, K) and `b` (..., K, N), in one launch.

    Leading dimensions broadcast, as NumPy's do. Both are arrays of PyTorch, CuPy or JAX on one GPU; if
    `out` is given and nothing is copied, any with DLPack or the CUDA array interface. Element types are
    those of `Problem`: bf16, f16, f32 (multiplied as tf32), e4m3, e5m2, int8, uint8.

    Strides are any; A and B have none below 0. TMA reads matrices in which one dimension is contiguous,
    and the address and the other strides are multiples of 16 bytes; another operand is first copied to
    new memory. If tensor cores read a type K-major only, an operand that is not K-major is first
    transposed into new memory. A result that TMA cannot write is copied from new memory. If the rows of
    a new result are not multiples of 16 bytes, its memory is padded, and the result is the view without
    the padding.

    The epilogue is a function in the kernel language. It takes a fragment of the product (f32, or i32 of
    integers) and returns one of the same shape, which is stored. Its other parameters are operands by
    name, and `row` and `col`, the elements' places in C. A tuple of two fragments gives two results. A
    function that is traced to the same IR is not compiled twice.

    Args:
        a, b: the operands.
        out: the result (..., M, N); None for a new array. For an epilogue with two results, a tuple of
            two, with the same strides.
        epilogue: what is made of the product before it is stored.
        operands: numbers and arrays for the epilogue; they broadcast to C, as NumPy's do.
        gated: "interleaved" or "halves" if the epilogue takes two fragments, of A * B's alternating
            columns, or of its first and second half. The result has half as many columns as B.
        out_dtype: the element type of a new array, of the library or by name; the first one of `results`
            if None, or the first one as which the epilogue's result can be stored. For two results, a
            tuple of two.
        config: the kernel's configuration; if None, the one that `tune` found for this problem, or that
            of the package's table for this GPU, or the one with the least predicted time (`choose`).
            `MLIR_SMEM_TUNED=off` in the environment leaves the last alone, at the first call of a shape.
        stream: as for `Prepared.launch`; the library's current stream if None.

    Raises:
        ProblemError, ConfigError: if the arrays are not operands of a GEMM, or the configuration or the
            epilogue does not fit.
        TraceError: for a mistake in the epilogue, at its line.
        LaunchError: without a GPU of the architecture.

    Example:
        >>> import torch  # on a GPU
        >>> a, b = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "AB")  # on a GPU
        >>> float(matmul(a, b)[0, 0])  # on a GPU
        512.0
        >>> bias = torch.full((512,), -600.0, device="cuda")  # on a GPU
        >>> import mlir_smem.language as sl
        >>> relu = lambda x, bias: sl.maximum(x + bias, 0.0)
        >>> float(matmul(a, b, epilogue=relu, operands={"bias": bias})[0, 0])  # on a GPU
        0.0
    """
    if out is not None and out_dtype is not None:
        raise ProblemError("out_dtype is the element type of a new array, but out is given")
    handle = (current_stream(a) or LEGACY_STREAM) if stream is None else stream_handle(stream)
    try:
        read = _read_call(a, b, out, out_dtype, config, epilogue, operands or {}, gated)
    except Exception:
        # An error of any library: an argument is no array on a GPU. The checks say which, and why.
        read = None
    key = None if read is None else read.key
    try:
        call = _CALLS.get(key)
    except TypeError:  # an argument cannot be hashed
        key = call = None
    if read is None or call is None or not (call.reads is None or call.reads.hold()):
        arguments = _GemmArguments(
            a, b, out, out_dtype, config, epilogue, operands or {}, gated, handle
        )
        return _first_call(key, arguments)
    if call.waits:
        wait_for(a)
        wait_for(b)
    first, second = read.operands
    # The copies live until the GEMM is enqueued after them.
    copied: Any = None
    if call.repeated_copies:
        (first, second), copied = call.repeated_copies.start((a, b), (first, second), handle)
    elif call.copies:
        views = device_array("A", a), device_array("B", b)
        *copied, _ = make_readable(GemmOperand(a, views[0]), GemmOperand(b, views[1]), handle)
        first, second = (operand.view.matrix.pointer for operand in copied)
    results = read.results
    if out is None:
        results, out = call.new(a)
    call.launch.start(first, second, results, handle, read.further, read.numbers)
    if call.waits:
        finish(out[0] if isinstance(out, tuple) else out)
    return out


def _read_call(
    a: Any,
    b: Any,
    out: Any,
    out_dtype: Any,
    config: Config | None,
    epilogue: Callable[..., Any] | None,
    operands: Mapping[str, Any],
    gated: str | None,
) -> _ReadCall:
    """Read the arrays of a call; their libraries may raise any error for an object that is no array."""
    cls = type(a)
    read = reader(cls)
    first, a_signature = read(a)
    second, b_signature = (read if type(b) is cls else reader(type(b)))(b)
    bits = first | second
    results: Sequence[int] = ()
    if out is None:
        signature = out_dtype
    elif type(out) is tuple:
        results, signature = zip(*[reader(type(array))(array) for array in out], strict=True)
        bits |= reduce(or_, results)
    else:
        result, signature = (read if type(out) is cls else reader(type(out)))(out)
        results = (result,)
        bits |= result
    # Which arrays are copied depends on their alignment.
    offsets = bits % UNIT_BYTES and tuple(
        address % UNIT_BYTES for address in (first, second, *results)
    )
    key = a_signature, b_signature, signature, out is None, offsets, config
    if epilogue is None and not operands and not gated:
        return _ReadCall((first, second), results, (), (), key)
    signatures, further, numbers = read_operands(operands)
    key = *key, epilogue and function_identity(epilogue), signatures, gated
    return _ReadCall((first, second), results, further, numbers, key)


def _first_call(key: Hashable, arguments: _GemmArguments) -> Any:
    """Return the result of a call, checked; keep the launch for later calls if its result is not
    copied."""
    a, b, stream = arguments.a, arguments.b, arguments.stream
    arrays = [
        operand for operand in arguments.operands.values() if not isinstance(operand, int | float)
    ]
    for array in (a, b, *arrays):
        wait_for(array)
    given_a, given_b = device_array("A", a), device_array("B", b)
    # The copies live until the GEMM is enqueued after them.
    *copied, repeated_copies = make_readable(
        GemmOperand(a, given_a), GemmOperand(b, given_b), stream
    )
    first, second = (operand.view for operand in copied)
    is_copied = (first, second) != (given_a, given_b)
    second, fused = _fuse_epilogue(
        first, second, arguments.epilogue, arguments.operands, arguments.gated
    )
    stored = fused.fusion.stored if fused else (stored_types(first.element),)
    results = result_arrays(a, (first, second), stored, arguments.out, arguments.out_dtype)
    views = [output.view for output in results]
    launch = GemmLaunch(first, second, views, arguments.config, fused)
    pointers = [view.matrix.pointer for view in views]
    further = _epilogue_arguments(fused, arguments.operands)
    launch.start(first.matrix.pointer, second.matrix.pointer, pointers, stream, *further)
    finish(results[0].array)
    waits = any(map(exposes_no_stream, (a, b, *(output.array for output in results))))
    # JAX cannot cut an array that another kernel has yet to write.
    is_cut = waits and any(map(is_ragged, views))
    if key is not None and not is_cut and all(output.target is None for output in results):
        reads = fused.reads if fused else None
        _CALLS.keep(
            key,
            _GemmCall(launch, _result_maker(a, results), waits, is_copied, repeated_copies, reads),
        )
    outputs = tuple(output.finish(stream) for output in results)
    if any(output.target is not None for output in results):
        finish(outputs[0])
    return outputs[0] if len(outputs) == 1 else outputs


def _result_maker(
    like: Any, results: Sequence[ResultArray]
) -> Callable[[Any], tuple[Sequence[int], Any]]:
    """Return a function that makes new arrays as those of results, given A; see `_GemmCall`."""
    views = [output.view for output in results]
    size = min(view.matrix.item_bytes for view in views)
    shapes = [(*v.matrix.shape[:-1], whole_columns(v.matrix.shape[-1], size)) for v in views]
    makers = [maker(like, shape, v.element) for shape, v in zip(shapes, views, strict=True)]
    if len(views) == 1 and not is_ragged(views[0]):
        (make,) = makers

        def one(like: Any) -> tuple[Sequence[int], Any]:
            address, array = make(like)
            return (address,), array

        return one

    def several(like: Any) -> tuple[Sequence[int], Any]:
        addresses, arrays = zip(*[make(like) for make in makers], strict=True)
        cut = tuple(without_padding(*pair) for pair in zip(arrays, views, strict=True))
        return addresses, cut[0] if len(views) == 1 else cut

    return several


def prepare(
    a: Any,
    b: Any,
    out: Any,
    config: Config | None = None,
    *,
    epilogue: Callable[..., Any] | None = None,
    operands: Mapping[str, Any] | None = None,
    gated: str | None = None,
) -> Prepared:
    """Return a GEMM to launch many times: it is checked, compiled and packed once.

    The elements of the arrays may change between launches; their addresses, and numbers among the
    operands of the epilogue, may not.

    Args:
        a, b: the operands, as for `matmul`.
        out: the result (..., M, N), or a tuple of two.
        config, epilogue, operands, gated: as for `matmul`.

    Raises:
        ProblemError, ConfigError, LaunchError: as in `matmul`.

    Example:
        >>> import torch  # on a GPU
        >>> a, b, c = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "ABC")  # on a GPU
        >>> prepare(a, b, c).launch()  # on a GPU
        >>> float(c[0, 0])  # on a GPU
        512.0
    """
    operands_by_name = operands or {}
    views, fused = _views(a, b, out, epilogue, operands_by_name, gated)
    first, second, *results = views
    launch = GemmLaunch(first, second, results, config, fused)
    pointers = [result.matrix.pointer for result in results]
    references = (a, b, *_outs(out), *operands_by_name.values())
    further = _epilogue_arguments(fused, operands_by_name)
    return launch.prepare(
        first.matrix.pointer, second.matrix.pointer, pointers, references, *further
    )


def describe_operands(
    a: Any,
    b: Any,
    out: Any,
    epilogue: Callable[..., Any] | None = None,
    operands: Mapping[str, Any] | None = None,
    gated: str | None = None,
) -> GemmOperands:
    """Return the properties of the matrices of a GEMM that `prepare` takes.

    Raises:
        ProblemError, LaunchError: as in `prepare`.
    """
    (first, second, result, *second_result), fused = _views(
        a, b, out, epilogue, operands or {}, gated
    )
    fusion = fused.fusion if fused else None
    return check_operands(first, second, result, fusion, *second_result)[0]


def _outs(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _views(
    a: Any,
    b: Any,
    out: Any,
    epilogue: Callable[..., Any] | None,
    operands: Mapping[str, Any],
    gated: str | None,
) -> tuple[list[DeviceArray], FusedCall | None]:
    """Return A, B and the results, as the kernel addresses them, and the epilogue."""
    first, second = device_array("A", a), device_array("B", b)
    results = [device_array(*named_array) for named_array in zip("CD", _outs(out), strict=False)]
    for name, result in zip("CD", results, strict=False):
        if is_ragged(result):
            row = result.matrix.shape[-1] * result.matrix.item_bytes
            raise ProblemError(
                f"the rows of {name} are {row} bytes, but TMA writes multiples of 16: it would write "
                "zeros after their ends; call matmul, which writes to a padded array first"
            )
    second, fused = _fuse_epilogue(first, second, epilogue, operands, gated)
    return [first, second, *results], fused


def forget_calls() -> None:
    """Forget launches, so that later calls use the configurations that `tune` has found since."""
    _CALLS.clear()
    forget_configurations()


def _fuse_epilogue(
    a: DeviceArray,
    b: DeviceArray,
    epilogue: Callable[..., Any] | None,
    operands: Mapping[str, Any],
    gated: str | None,
) -> tuple[DeviceArray, FusedCall | None]:
    """Return B, or its columns for the gates, and the epilogue of a GEMM; None if it has none."""
    if epilogue is None:
        if operands or gated:
            text = f"operands {', '.join(operands)} are" if operands else f"gated={gated!r} is"
            raise ProblemError(f"{text} given without an epilogue")
        return b, None
    check_matrices(a, b)
    distance = 0
    if gated is not None:
        matrix, distance = gate_columns(b.matrix, gated)
        b = replace(b, matrix=matrix)
    batch = broadcast(a.matrix.shape[:-2], b.matrix.shape[:-2])
    extents = *batch, a.matrix.shape[-2], b.matrix.shape[-1]
    summed = accumulator(a.element)
    return b, fused_call(epilogue, operands, summed, extents, a.device, distance)


def _epilogue_arguments(
    fused: FusedCall | None, operands: Mapping[str, Any]
) -> tuple[Sequence[int], Sequence[Any]]:
    """Return the addresses of an epilogue's arrays, and its numbers."""
    return fused.addresses if fused else (), [
        operand for operand in operands.values() if isinstance(operand, int | float)
    ]
