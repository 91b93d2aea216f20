"""Calls of a kernel: found by what was read of the arguments, or traced, compiled and checked first.

A call reads each argument and looks up its launch by what was read, the constants and the grid. If the
globals and closures that the trace read are unchanged, the launch is started. Otherwise the kernel is
traced anew; the same IR is not compiled twice, neither in this process nor, for a GPU, on this machine.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...dialect import new_context
from ...runtime import LaunchError, Prepared, device_array, launch_on_cpu
from ...runtime.devices import current_device
from ...runtime.plans import CallArguments, LaunchPlan
from ...runtime.prepared import LEGACY_STREAM, stream_handle
from ...runtime.streams import current_stream, exposes_no_stream, finish, wait_for
from ..dtypes import dtype_of
from ..errors import TraceError
from ..signature import Parameter
from ..trace import located
from ..values.base import Traced
from .dense import check_dense
from .errors import call_error, described, form
from .frozen import frozen
from .reads import Reads
from .specialisation import Specialisation
from .traceable import Traceable

K = TypeVar("K")
V = TypeVar("V")

#: Launches that a kernel keeps; the older half is dropped when there are more.
_LAUNCHES = 1024

#: Kernels for other types and constants that a kernel keeps, and for other values that it read.
_TRACED = 256

#: A grid as a call gives it: thread blocks along x, y, z; None for the one that the kernel declares.
Grid = tuple[int, ...] | None


class _Launch(NamedTuple):
    """A launch that later calls find.

    Attributes:
        reads: what its trace read.
        plan: starts it.
        stream: the position of the array whose library says on which stream; -1 for none.
        waits: the positions of arrays of libraries that hide their streams.
    """

    reads: Reads
    plan: LaunchPlan
    stream: int
    waits: tuple[int, ...]


class Calls:
    """The calls of one kernel.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: Traceable) -> None:
        self._kernel, self._parameters = kernel, tuple(kernel.parameters.items())
        self._names = [name for name, _ in self._parameters]
        self._is_array = [not parameter.is_scalar for _, parameter in self._parameters]
        self._launches: dict[Hashable, _Launch] = {}
        self._traced: dict[Hashable, tuple[Reads, Specialisation]] = {}
        self._by_text: dict[Hashable, Specialisation] = {}
        self._lock = threading.RLock()

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
            key = (read.key, grid, frozen(constants) if constants else None)
            launch = self._launches.get(key)
        except Exception:
            # Too few arguments, no array, a signature that cannot be hashed: looked at one by one.
            read = key = launch = None
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
        try:
            launch, addresses, numbers = self._find(None, arguments, constants, grid)
            plan = launch.plan
            held = tuple(arguments)
            return Prepared(
                plan.starter,
                plan.frame(addresses, numbers),
                held,
                lambda: self._stream(launch, held),
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
        try:
            self._check(arguments)
            for (name, parameter), each in zip(self._parameters, arguments, strict=True):
                if not parameter.is_scalar and not isinstance(each, np.ndarray):
                    kind = f"{type(each).__module__.partition('.')[0]}.{type(each).__name__}"
                    raise LaunchError(
                        f"{name} is {kind.removeprefix('builtins.')}; the emulator takes NumPy arrays"
                    )
            with self._lock:
                _, specialisation = self._specialised(arguments, constants)
                compiled = specialisation.emulated(arch)
            self._check_launch(compiled.manifest["kernels"][0], arguments, grid)
            launch_on_cpu(compiled, None, arguments, grid)
        except LaunchError as error:
            raise self._error(arguments, error) from None

    def _find(
        self,
        key: Hashable,
        arguments: Sequence[Any],
        constants: Mapping[str, Any],
        grid: Grid,
    ) -> tuple[_Launch, Sequence[int], Sequence[Any]]:
        """Return the launch of a call, the addresses of its arrays and its numbers."""
        self._check(arguments)
        arrays = [i for i, is_array in enumerate(self._is_array) if is_array]
        device = self._device(arguments, arrays)
        with self._lock:
            reads, specialisation = self._specialised(arguments, constants)
            kernel = specialisation.on(device)
        self._check_launch(kernel.manifest, arguments, grid)
        plan, addresses, numbers = kernel.planned(arguments, grid)
        launch = _Launch(
            reads,
            plan,
            arrays[0] if arrays else -1,
            tuple(i for i in arrays if exposes_no_stream(arguments[i])),
        )
        if key is not None:
            with self._lock:
                self._launches = _newer(self._launches, _LAUNCHES)
                self._launches[key] = launch
        return launch, addresses, numbers

    def _specialised(
        self, arguments: Sequence[Any], constants: Mapping[str, Any]
    ) -> tuple[Reads, Specialisation]:
        """Return the kernel for the arguments' types, traced if it is new or what it read has changed.

        The caller has the lock."""
        types = tuple(
            parameter.dtype or self._element(name, parameter, each)
            for (name, parameter), each in zip(self._parameters, arguments, strict=True)
        )
        key = (types, frozen(constants))
        reads, found = self._traced.get(key, (None, None))
        if reads is not None and found is not None and reads.hold():
            return reads, found
        # What a trace reads is noted before it, so that a value that changes meanwhile is noticed.
        defaults = [v for name, v in self._kernel.constants.items() if name not in constants]
        reads = Reads(self._kernel.function, constants.values(), defaults)
        with new_context():
            module = self._kernel.trace(*types, **constants)
            text = str(module)
        self._by_text = _newer(self._by_text, _TRACED)
        self._traced = _newer(self._traced, _TRACED)
        found = self._by_text.setdefault(text, Specialisation(module, self._kernel.lowering))
        self._traced[key] = reads, found
        return reads, found

    def _element(self, name: str, parameter: Parameter, argument: Any) -> Any:
        try:
            return dtype_of(argument)
        except TraceError:
            expected = "a number" if parameter.is_scalar else "elements of a type of the language"
            raise LaunchError(f"{name} is {described(argument)}; expected {expected}") from None

    def _check(self, arguments: Sequence[Any]) -> None:
        """Check the number of arguments, and which of them are arrays."""
        if any(isinstance(each, Traced) for each in arguments):
            name = self._kernel.__name__
            message = (
                f"{name} is called on values of a kernel that is traced; a kernel is called on arrays: "
                "write a function without @sl.kernel for what both do"
            )
            raise located(TraceError(message))
        if len(arguments) != len(self._parameters):
            raise LaunchError(
                f"{self._kernel.__name__} takes {len(self._names)} arguments "
                f"({', '.join(self._names)}), not {len(arguments)}"
            )
        for (name, parameter), each in zip(self._parameters, arguments, strict=True):
            shape = getattr(each, "shape", ())
            if parameter.is_scalar and len(shape):
                raise LaunchError(f"{name} is {described(each)}; expected a number")
            if not parameter.is_scalar and not hasattr(each, "shape"):
                raise LaunchError(
                    f"{name} is {described(each)}; expected an array of {form(parameter)}"
                )
            if len(shape) != len(parameter.shape):
                raise LaunchError(
                    f"{name} has {len(shape)} dimensions; expected {len(parameter.shape)}"
                )
            pairs = zip(parameter.shape, shape, strict=True)
            if any(isinstance(extent, int) and extent != given for extent, given in pairs):
                raise LaunchError(f"{name} is {list(shape)}; expected {form(parameter)}")

    def _check_launch(
        self, manifest: Mapping[str, Any], arguments: Sequence[Any], grid: Grid
    ) -> None:
        """Check what the language declares beyond the manifest, before the checks of the launch."""
        check_dense(self._parameters, arguments)
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
    def _stream(launch: _Launch, arguments: Sequence[Any]) -> int:
        """Return the current stream of the arrays' library."""
        if launch.stream < 0:
            return LEGACY_STREAM
        return current_stream(arguments[launch.stream]) or LEGACY_STREAM

    def _error(self, arguments: Sequence[Any], error: LaunchError) -> LaunchError:
        return call_error(self._kernel.__name__, self._parameters, arguments, str(error))


def _newer(kept: dict[K, V], limit: int) -> dict[K, V]:
    """Return a dictionary with room for one more: itself, or the newer half of a full one."""
    return dict(list(kept.items())[limit // 2 :]) if len(kept) >= limit else kept
