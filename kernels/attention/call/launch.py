"""A call of attention on a GPU: it is checked once for arrays of equal shapes, strides and types."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from ....layout.elements import UNIT_BYTES
from ....runtime import Matrix, device_array
from ....runtime.arguments import DTYPES
from ....runtime.devices import gpu_name
from ....runtime.plans import BoundedCache
from ....runtime.prepared import LEGACY_STREAM, stream_handle
from ....runtime.readers import reader
from ....runtime.streams import current_stream, exposes_no_stream, finish, wait_for
from ...errors import ProblemError
from ...libraries import maker
from .checked import AttentionOptions, CheckedCall, check_call, check_result
from .launches import AttentionLaunch
from .operands import AttentionArrays, NamedMatrix, by_heads
from .packing import packing_of

#: Makes an array like the one that it is given; returns its address, too.
_Maker = Callable[[Any], tuple[int, Any]]


class _CachedCall(NamedTuple):
    """A call, cached for later calls with arrays of the same signatures.

    Attributes:
        launch: its launch.
        result: makes the array for the result.
        lse: makes the array for the logarithms; None without `return_lse`.
        waits: whether the arrays' library hides its streams.
    """

    launch: AttentionLaunch
    result: _Maker
    lse: _Maker | None
    waits: bool

    def results(self, q: Any, addresses: list[int], out: Any) -> tuple[list[int], Any, Any]:
        """Return the addresses of the result and of the logarithms, and these arrays.

        Args:
            q: the queries; new arrays are of their library.
            addresses: those of the given arrays; with `out`, its address is last, and is removed.
            out: the array for the result; None for a new one.
        """
        first, result = self.result(q) if out is None else (addresses.pop(), out)
        if self.lse is None:
            return [first], result, None
        second, lse = self.lse(q)
        return [first, second], result, lse


_CALLS: BoundedCache[_CachedCall] = BoundedCache()


def launch(
    arrays: AttentionArrays, options: AttentionOptions, stream: Any = None
) -> tuple[Any, Any]:
    """Return the result and the logarithms, None if these are not asked for.

    Args:
        arrays: those of the call.
        options: what else is asked for.
        stream: as for `Prepared.launch`; the library's current stream if None.

    Raises:
        ProblemError, ConfigError, LaunchError: as of `attention`.
    """
    q, out = arrays.q, arrays.out
    given_arrays = [array for array in arrays if array is not None]
    addresses: list[int] = []
    try:
        signatures = []
        for array in given_arrays:
            address, signature = reader(type(array))(array)
            addresses.append(address)
            signatures.append(signature)
        # Whether TMA reads an array depends on its alignment.
        places = reduce(or_, addresses) % UNIT_BYTES and tuple(a % UNIT_BYTES for a in addresses)
        missing = tuple([array is None for array in arrays])
        key: Hashable = tuple(signatures), missing, places, options
        call = _CALLS.get(key)
    except Exception:
        # It is no array on a GPU, or cannot be hashed; the check says what is wrong with it.
        key = call = None
    if call is None:
        call = _load_call(arrays, options)
        if key is None:
            addresses = [device_array("an array", array).matrix.pointer for array in given_arrays]
        else:
            _CALLS.keep(key, call)
    if call.waits:
        for array in given_arrays:
            wait_for(array)
    handle = (current_stream(q) or LEGACY_STREAM) if stream is None else stream_handle(stream)
    results, output, lse = call.results(q, addresses, out)
    call.launch.start(addresses[:3], addresses[3:], results, handle)
    if call.waits:
        finish(output)
    return output, lse


class DescribedCall(NamedTuple):
    """A call, checked, before its kernels are loaded.

    Attributes:
        call: the call.
        by_heads: q, k, v and the result, by heads.
        descales: arrays of factors.
        device: the number of their GPU.
    """

    call: CheckedCall
    by_heads: list[NamedMatrix]
    descales: list[NamedMatrix]
    device: int


def describe_call(arrays: AttentionArrays, options: AttentionOptions) -> DescribedCall:
    """Check a call.

    Raises:
        ProblemError, ConfigError, LaunchError: as of `attention`.
    """
    packing = packing_of(arrays.cu_seqlens_q, arrays.cu_seqlens_k, options.max_seqlen_q)
    layout, packed = options.layout, packing is not None
    matrices, device = _read_arrays(arrays)
    qkv = [by_heads(matrix, layout, packed) for matrix in matrices if "descale" not in matrix.name]
    descales = [matrix for matrix in matrices if "descale" in matrix.name]
    call = check_call(qkv[:3], descales, packing, options, gpu_name(device))
    if arrays.out is None:
        element = call.problem.result
        new = Matrix.contiguous(UNIT_BYTES, call.result, DTYPES[element].itemsize)
        qkv.append(by_heads(NamedMatrix("the result", new, element), layout, packed))
    check_result(qkv[3], qkv[0])
    return DescribedCall(call, qkv, descales, device)


def _load_call(arrays: AttentionArrays, options: AttentionOptions) -> _CachedCall:
    """Check a call, and load its kernels."""
    described_call = describe_call(arrays, options)
    call, like = described_call.call, arrays.q
    return _CachedCall(
        AttentionLaunch(*described_call),
        maker(like, call.result, call.problem.result),
        maker(like, call.lse, "f32") if options.return_lse else None,
        any(map(exposes_no_stream, arrays)),
    )


class PreparedAttention:
    """A call to be launched many times, with the same arrays.

    Args:
        arrays: those of the call.
        options: what else is asked for.

    Raises:
        ProblemError, ConfigError, LaunchError: as of `attention`.
    """

    def __init__(self, arrays: AttentionArrays, options: AttentionOptions) -> None:
        given_arrays = [array for array in arrays if array is not None]
        for array in given_arrays:
            wait_for(array)
        call = _load_call(arrays, options)
        addresses = [device_array("an array", array).matrix.pointer for array in given_arrays]
        results, *new_arrays = call.results(arrays.q, addresses, arrays.out)
        # The kernels write to these arrays as long as this lives.
        self._references = arrays, new_arrays
        self._start, self._addresses = call.launch.start, (addresses[:3], addresses[3:], results)

    def __repr__(self) -> str:
        return f"<prepared attention of q {list(self._references[0].q.shape)}>"

    def launch(self, stream: Any = None) -> None:
        """Start the kernels, on a stream as for `Prepared.launch`."""
        self._start(*self._addresses, stream_handle(stream))


def forget_calls() -> None:
    """Forget launches, so that later calls use the configurations that `tune` has found since."""
    _CALLS.clear()


def _read_arrays(arrays: AttentionArrays) -> tuple[list[NamedMatrix], int]:
    """Return the arrays but those of packed sequences, and the number of their GPU."""
    matrices = []
    device = None
    for name, array in arrays._asdict().items():
        if array is None or name.startswith("cu_seqlens"):
            continue
        read = device_array(name, array)
        device = read.device if device is None else device
        if read.device != device:
            raise ProblemError(
                f"q is on GPU {device}, but {name} is on GPU {read.device}; expected one"
            )
        matrices.append(NamedMatrix(name, read.matrix, read.element))
    return matrices, device or 0
