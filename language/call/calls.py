"""Calls of a kernel: looked up by the arguments' types, or traced, compiled and checked first.

A call reads each argument, and looks up its launch by their types, the constants and the grid. If the
globals and closures that the trace read are unchanged, the launch is started. Otherwise the kernel is
traced anew; the same IR is not compiled twice, neither in this process nor, for a GPU, on this machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...dialect import new_context
from ...runtime import LaunchError, Prepared, device_array, launch_on_cpu
from ...runtime.devices import current_device
from ...runtime.plans import CallArguments, LaunchPlan
from ...runtime.prepared import LEGACY_STREAM, stream_handle
from ...runtime.streams import current_stream, exposes_no_stream, finish, wait_for
from ..dtypes import dtype_of
from ..errors import TraceError
from ..freeze import freeze
from ..reads import Reads
from ..signature import Parameter
from ..trace import with_author_position
from ..values.base import Traced
from .errors import call_error, describe_argument
from .specialisation import Specialisation

K = TypeVar("K")
V = TypeVar("V")

#: Launches that a kernel keeps; the older half is dropped when there are more.
_LAUNCHES = 1024

#: Kernels for other types and constants that a kernel keeps, and for other values that it read.
_TRACED = 256

#: A grid as a call gives it: thread blocks along x, y, z; None for the one that the kernel declares.
Grid = tuple[int, ...] | None


class Traceable(Protocol):
    """The interface of a kernel that a call needs.

    Attributes:
        function: the Python function that is traced.
        parameters: by name, in the order of a call.
        constants: of the trace, with their defaults.
        lowering: options of `compile` that the kernel itself needs.
    """

    __name__: str
    function: Callable[..., Any]

    @property
    def parameters(self) -> Mapping[str, Parameter]: ...

    @property
    def constants(self) -> Mapping[str, Any]: ...

    @property
    def lowering(self) -> Mapping[str, Any]: ...

    def trace(self, *types: Any, **constants: Any) -> Any:
        """Return the kernel for element types and constants, as an `ir.Module`."""
        ...


class _CachedLaunch(NamedTuple):
    """A launch, cached for later calls.

    Attributes:
        reads: the values that its trace read.
        plan: starts the launch.
        stream: the position of the array whose library has the stream; -1 without arrays.
        waits: the positions of arrays of libraries that hide their streams.
    """

    reads: Reads
    plan: LaunchPlan
    stream: int
    waits: tuple[int, ...]


class KernelCalls:
    """The calls of one kernel.

    Args:
        kernel: the kernel.
        absent: the parameters that are None; others alone are arguments.
    """

    def __init__(self, kernel: Traceable, absent: frozenset[str] = frozenset()) -> None:
        self._kernel, self._absent = kernel, absent
        self._parameters = tuple((n, p) for n, p in kernel.parameters.items() if n not in absent)
        self._without: dict[frozenset[str], KernelCalls] = {}
        self._names = [name for name, _ in self._parameters]
        self._is_array = [not parameter.is_scalar for _, parameter in self._parameters]
        self._launches: dict[Hashable, _CachedLaunch] = {}
        self._traced: dict[Hashable, tuple[Reads, Specialisation]] = {}
        self._by_text: dict[Hashable, Specialisation] = {}
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._kernel.__name__

    def launch(
        self, arguments: Sequence[Any], constants: Mapping[str, Any], grid: Grid, stream: Any
    ) -> None:
        """Start the kernel on the GPU of its arrays.

        Args:
            arguments: arrays and numbers.
            constants: the constants of the trace.
            grid: thread blocks along x, y, z; None for the grid that the kernel declares.
            stream: as for `Prepared.launch`; None for the current stream of the arrays' library.

        Raises:
            CallError: if the arguments do not fit the kernel.
            TraceError: if the kernel cannot be traced for them.
        """
        try:
            read = CallArguments(self._is_array, arguments)
            key = (read.key, grid, freeze(constants) if constants else None)
            launch = self._launches.get(key)
        except Exception:
            # Too few arguments, no array, a signature that cannot be hashed: looked at one by one.
            read = key = launch = None
        if launch is None:
            calls, present = self._calls_of(arguments)
            if calls is not self:
                return calls.launch(present, constants, grid, stream)
        try:
            if launch is None or read is None or not launch.reads.hold():
                launch, addresses, numbers = self._find(key, arguments, constants, grid)
            else:
                addresses, numbers = read.addresses, read.numbers
            for position in launch.waits:
                wait_for(arguments[position])
            handle = self._stream(launch, arguments) if stream is None else stream_handle(stream)
            launch.plan.start(addresses, numbers, handle)
            for position in launch.waits[:1]:
                finish(arguments[position])
        except LaunchError as error:
            raise self._error(arguments, error) from None

    def prepare(
        self, arguments: Sequence[Any], constants: Mapping[str, Any], grid: Grid
    ) -> Prepared:
        """Return a launch to start many times; see `launch`."""
        calls, present = self._calls_of(arguments)
        if calls is not self:
            return calls.prepare(present, constants, grid)
        try:
            launch, addresses, numbers = self._find(None, arguments, constants, grid)
            plan = launch.plan
            arrays = tuple(arguments)
            return Prepared(
                plan.starter,
                plan.frame(addresses, numbers),
                arrays,
                lambda: self._stream(launch, arrays),
            )
        except LaunchError as error:
            raise self._error(arguments, error) from None

    def emulate(
        self, arguments: Sequence[Any], constants: Mapping[str, Any], grid: Grid, arch: str
    ) -> None:
        """Run the kernel on the emulator, and write its results into the given NumPy arrays.

        Args:
            arguments, constants, grid: as for `launch`.
            arch: the architecture that is emulated.

        Raises:
            CallError, TraceError: as for `launch`.
            Violations: if the kernel breaks a rule of the hardware.
        """
        calls, present = self._calls_of(arguments)
        if calls is not self:
            return calls.emulate(present, constants, grid, arch)
        try:
            self._check(arguments)
            for (name, parameter), argument in zip(self._parameters, arguments, strict=True):
                if not parameter.is_scalar and not isinstance(argument, np.ndarray):
                    kind = (
                        f"{type(argument).__module__.partition('.')[0]}.{type(argument).__name__}"
                    )
                    raise LaunchError(
                        f"{name} is {kind.removeprefix('builtins.')}; the emulator takes NumPy arrays"
                    )
            with self._lock:
                _, specialisation = self._specialise(arguments, constants)
                compiled = specialisation.on_emulator(arch)
            self._check_launch(compiled.manifest["kernels"][0], arguments, grid)
            launch_on_cpu(compiled, None, arguments, grid)
        except LaunchError as error:
            raise self._error(arguments, error) from None

    def _calls_of(self, arguments: Sequence[Any]) -> tuple[KernelCalls, Sequence[Any]]:
        """Return the calls in which the same parameters are None, and the arguments that are not."""
        present = [argument for argument in arguments if argument is not None]
        if len(present) == len(arguments) or len(arguments) != len(self._parameters):
            return self, arguments
        pairs = zip(self._names, arguments, strict=True)
        absent = frozenset(name for name, argument in pairs if argument is None)
        with self._lock:
            if absent not in self._without:
                self._without[absent] = KernelCalls(self._kernel, absent)
            return self._without[absent], present

    def _find(
        self,
        key: Hashable,
        arguments: Sequence[Any],
        constants: Mapping[str, Any],
        grid: Grid,
    ) -> tuple[_CachedLaunch, Sequence[int], Sequence[Any]]:
        """Return the launch of a call, the addresses of its arrays and its numbers."""
        self._check(arguments)
        arrays = [i for i, is_array in enumerate(self._is_array) if is_array]
        device = self._device(arguments, arrays)
        with self._lock:
            reads, specialisation = self._specialise(arguments, constants)
            kernel = specialisation.on_gpu(device)
        self._check_launch(kernel.manifest, arguments, grid)
        plan, addresses, numbers = kernel.planned(arguments, grid)
        launch = _CachedLaunch(
            reads,
            plan,
            arrays[0] if arrays else -1,
            tuple(i for i in arrays if exposes_no_stream(arguments[i])),
        )
        if key is not None:
            with self._lock:
                self._launches = _make_room(self._launches, _LAUNCHES)
                self._launches[key] = launch
        return launch, addresses, numbers

    def _specialise(
        self, arguments: Sequence[Any], constants: Mapping[str, Any]
    ) -> tuple[Reads, Specialisation]:
        """Return the kernel for the arguments' types; trace it unless its reads hold.

        The caller has the lock."""
        types = tuple(
            parameter.dtype or self._element(name, parameter, argument)
            for (name, parameter), argument in zip(self._parameters, arguments, strict=True)
        )
        key = (types, freeze(constants))
        reads, specialisation = self._traced.get(key, (None, None))
        if reads is not None and specialisation is not None and reads.hold():
            return reads, specialisation
        # What a trace reads is noted before it, so that a value that changes meanwhile is noticed.
        defaults = [v for name, v in self._kernel.constants.items() if name not in constants]
        reads = Reads(self._kernel.function, constants.values(), defaults)
        with new_context():
            of_names = dict(zip(self._names, types, strict=True))
            every = [of_names.get(name) for name in self._kernel.parameters]
            module = self._kernel.trace(*every, **constants)
            text = str(module)
        self._by_text = _make_room(self._by_text, _TRACED)
        self._traced = _make_room(self._traced, _TRACED)
        specialisation = self._by_text.setdefault(
            text, Specialisation(module, self._kernel.lowering, self._kernel.function)
        )
        self._traced[key] = reads, specialisation
        return reads, specialisation

    def _element(self, name: str, parameter: Parameter, argument: Any) -> Any:
        try:
            return dtype_of(argument)
        except TraceError:
            expected = "a number" if parameter.is_scalar else "elements of a type of the language"
            raise LaunchError(
                f"{name} is {describe_argument(argument)}; expected {expected}"
            ) from None

    def _check(self, arguments: Sequence[Any]) -> None:
        """Check the number of arguments, and which of them are arrays."""
        if any(isinstance(argument, Traced) for argument in arguments):
            name = self._kernel.__name__
            message = (
                f"{name} is called on values of a kernel that is traced; a kernel is called on arrays: "
                "write a function without @sl.kernel for what both do"
            )
            raise with_author_position(TraceError(message))
        if len(arguments) != len(self._parameters):
            raise LaunchError(
                f"{self._kernel.__name__} takes {len(self._names)} arguments "
                f"({', '.join(self._names)}), not {len(arguments)}"
            )
        for (name, parameter), argument in zip(self._parameters, arguments, strict=True):
            shape = getattr(argument, "shape", ())
            if parameter.is_scalar and len(shape):
                raise LaunchError(f"{name} is {describe_argument(argument)}; expected a number")
            if not parameter.is_scalar and not hasattr(argument, "shape"):
                raise LaunchError(
                    f"{name} is {describe_argument(argument)}; expected an array of {parameter}"
                )
            if len(shape) != len(parameter.shape):
                raise LaunchError(
                    f"{name} has {len(shape)} dimensions; expected {len(parameter.shape)}"
                )
            pairs = zip(parameter.shape, shape, strict=True)
            if any(isinstance(extent, int) and extent != actual for extent, actual in pairs):
                raise LaunchError(f"{name} is {list(shape)}; expected {parameter}")

    def _check_launch(
        self, manifest: Mapping[str, Any], arguments: Sequence[Any], grid: Grid
    ) -> None:
        """Check the signature's strides and the grid, which the launch's own checks do not know."""
        _check_dense(self._parameters, arguments)
        if grid is None and manifest["grid"] is None:
            name = self._kernel.__name__
            raise LaunchError(
                f"{name} declares no grid; begin it with sl.grid(...), or call {name}[grid](...)"
            )

    def _device(self, arguments: Sequence[Any], arrays: Sequence[int]) -> int:
        """Return the number of the GPU of the arrays; the current one without arrays."""
        if not arrays:
            return current_device()
        first = arrays[0]
        for position in arrays:
            if isinstance(arguments[position], np.ndarray):
                raise LaunchError(
                    f"{self._names[position]} is in host memory; move it to the GPU, or call with "
                    'on="cpu" for the emulator'
                )
        return device_array(self._names[first], arguments[first]).device

    @staticmethod
    def _stream(launch: _CachedLaunch, arguments: Sequence[Any]) -> int:
        """Return the current stream of the arrays' library."""
        if launch.stream < 0:
            return LEGACY_STREAM
        return current_stream(arguments[launch.stream]) or LEGACY_STREAM

    def _error(self, arguments: Sequence[Any], error: LaunchError) -> LaunchError:
        return call_error(self._kernel.__name__, self._parameters, arguments, str(error))


def _check_dense(parameters: Sequence[tuple[str, Parameter]], arguments: Sequence[Any]) -> None:
    """Check that matrices without strides in the signature are dense: contiguous, row-major.

    The type of such an array is a memref without strides, whose rows MLIR takes to be adjacent.

    Args:
        parameters: of the kernel, by name.
        arguments: NumPy arrays, arrays on a GPU, and numbers.

    Raises:
        LaunchError: for the first array that is not dense.
    """
    for (name, parameter), array in zip(parameters, arguments, strict=True):
        if len(parameter.shape) < 2 or parameter.strides is not None:
            continue
        shape, strides = _shape_and_strides(name, array)
        dense, step = True, 1
        for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
            dense = dense and (extent <= 1 or stride == step)
            step *= extent
        if not dense:
            wanted = ",".join(["?"] * (len(shape) - 1) + ["1"])
            names = ",".join(map(str, parameter.shape))
            raise LaunchError(
                f"{name} has the strides {list(strides)}; expected a contiguous array, or a signature "
                f"with strides, ({names}):({wanted})"
            )


def _shape_and_strides(name: str, array: Any) -> tuple[Sequence[int], Sequence[int]]:
    """Return the shape and the strides of an array, in elements."""
    interface: Mapping[str, Any] | None = getattr(array, "__array_interface__", None)
    if interface is not None:
        return array.shape, [step // array.itemsize for step in array.strides]
    matrix = device_array(name, array).matrix
    return matrix.shape, matrix.strides


def _make_room(cache: dict[K, V], limit: int) -> dict[K, V]:
    """Return a cache with room for one more entry: itself, or the newer half of a full one."""
    return dict(list(cache.items())[limit // 2 :]) if len(cache) >= limit else cache
