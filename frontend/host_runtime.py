"""The functions of upstream's GPU runtime, for compiled host code.

Upstream lowers launches, allocations and copies to calls of functions whose names begin with `mgpu`,
which its `CudaRuntimeWrappers.cpp` defines. The functions here do the same for the call of a program that
runs in this thread. Compiled code cannot receive an exception: the runtime stores the first one of a
call, and later functions of the call do nothing.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..codegen import Compiled
from ..runtime import LaunchError, Matrix
from ..runtime.arguments import DTYPES, kernel_named
from ..runtime.scalars import scalar_type
from .host_functions import ASSERT
from .host_tensor_maps import ENCODE
from .machines import Machine

#: Functions without an effect. A call has one stream, which orders its work; memory is freed after the
#: call; the machine encodes the tensor maps of a launch from the kernel's manifest, after it has checked
#: the arrays.
_NOTHING = (
    *("mgpuModuleUnload", "mgpuStreamCreate", "mgpuStreamDestroy", "mgpuStreamSynchronize"),
    *("mgpuStreamWaitEvent", "mgpuMemFree", ENCODE),
)

_POINTER, _INDEX, _INT = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32


class HostCall:
    """A call of a program.

    Attributes:
        machine: the machine that runs it.
        memory: the arrays that own the memory that it allocated, by their addresses.
        error: the first exception.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory: dict[int, Any] = {}
        self.error: BaseException | None = None


class HostRuntime:
    """The runtime's functions for one program.

    Args:
        kernels: the code of the program's kernels, by the name of their module.
        assertions: the messages of its assertions.

    Attributes:
        functions: their addresses, by name. The runtime must outlive the compiled code.
    """

    def __init__(self, kernels: Mapping[str, Compiled], assertions: Sequence[str]) -> None:
        self._kernels, self._assertions = dict(kernels), assertions
        self._names = list(kernels)
        self._functions: dict[tuple[str, str], int] = {}
        self._launched: list[LaunchedKernel] = []
        self._calls = threading.local()
        launch = (*[_INDEX] * 6, _INT, *[_POINTER] * 3, ctypes.c_uint64)
        functions = [
            self._define("mgpuLaunchKernel", self._launch, None, _POINTER, *launch),
            self._define(
                "mgpuLaunchClusterKernel",
                self._launch_cluster,
                None,
                _POINTER,
                *[_INDEX] * 3,
                *launch,
            ),
            self._define(
                "mgpuMemAlloc", self._allocate, _POINTER, ctypes.c_uint64, _POINTER, ctypes.c_bool
            ),
            self._define(
                "mgpuMemcpy", self._copy, None, _POINTER, _POINTER, ctypes.c_uint64, _POINTER
            ),
            self._define(ASSERT, self._assert, None, ctypes.c_bool, _INT),
        ]
        load = ctypes.CFUNCTYPE(_POINTER, _POINTER, ctypes.c_uint64)(self._load)
        find = ctypes.CFUNCTYPE(_POINTER, _POINTER, ctypes.c_char_p)(self._function)
        self._c_functions = {
            **dict(functions),
            "mgpuModuleLoad": load,
            "mgpuModuleGetFunction": find,
        }
        self.functions = {
            name: ctypes.cast(function, _POINTER).value or 0
            for name, function in self._c_functions.items()
        }
        self.functions |= dict.fromkeys(_NOTHING, _nothing())

    def run(self, call: HostCall, function: Callable[[], Any]) -> Any:
        """Run compiled code as a call of the program, and return its result.

        Raises:
            Exception: the first one of a function of the runtime.
        """
        outer_call = getattr(self._calls, "current", None)
        self._calls.current = call
        try:
            return_value = function()
        finally:
            self._calls.current = outer_call
        if call.error is not None:
            raise call.error
        return return_value

    def _define(
        self, name: str, function: Callable[..., Any], result_type: Any, *arguments: Any
    ) -> tuple[str, Any]:
        """Return a function of the runtime as C's; it stores the first exception of a call."""

        def keep_error(*call_arguments: Any) -> Any:
            call = self._calls.current
            if call.error is None:
                try:
                    return function(call, *call_arguments)
                except BaseException as error:
                    call.error = error
            return 0 if result_type is not None else None

        return name, ctypes.CFUNCTYPE(result_type, *arguments)(keep_error)

    def _load(self, data: int, size: int) -> int:
        """Return the number of a module of kernels from 1 on; its object is its name."""
        return self._names.index(ctypes.string_at(data, size).decode()) + 1

    def _function(self, module: int, name: bytes) -> int:
        """Return the number of a kernel from 1 on."""
        kernel = (self._names[module - 1], name.decode())
        if kernel not in self._functions:
            self._launched.append(LaunchedKernel(self._kernels[kernel[0]], kernel[1]))
            self._functions[kernel] = len(self._launched)
        return self._functions[kernel]

    def _launch_cluster(
        self, call: HostCall, function: int, x: int, y: int, z: int, *launch_arguments: Any
    ) -> None:
        # The kernel's manifest has the cluster.
        self._launch(call, function, *launch_arguments)

    def _launch(
        self, call: HostCall, function: int, x: int, y: int, z: int, *launch_arguments: Any
    ) -> None:
        kernel, parameters = self._launched[function - 1], launch_arguments[-3]
        call.machine.launch(kernel.compiled, kernel.entry, kernel.arguments(parameters), (x, y, z))

    def _allocate(self, call: HostCall, size: int, stream: Any, shared: bool) -> int:
        address, owner = call.machine.allocate(size)
        call.memory[address] = owner
        return address

    def _copy(self, call: HostCall, target: int, source: int, size: int, stream: Any) -> None:
        call.machine.copy(target, source, size)

    def _assert(self, call: HostCall, holds: bool, number: int) -> None:
        if not holds:
            raise LaunchError(f"the program's assertion fails: {self._assertions[number]}")


class LaunchedKernel:
    """A kernel that a program launches.

    Args:
        compiled: the code of its module.
        entry: its name.

    Attributes:
        compiled, entry: the same.
    """

    def __init__(self, compiled: Compiled, entry: str) -> None:
        self.compiled, self.entry = compiled, entry
        self._descriptions = kernel_named(compiled.manifest, entry)["arguments"]
        formats = [
            scalar_type(argument).format
            if argument["kind"] == "scalar"
            else "q" * (3 + 2 * len(argument["shape"]))
            for argument in self._descriptions
        ]
        # Upstream stores all parameters to one structure of C.
        self._structure = struct.Struct(f"@{''.join(formats)}")
        self._offsets = [
            struct.calcsize(f"@{before}0{last}") for before, last in _prefixes("".join(formats))
        ]
        self._is_checked = False

    def arguments(self, parameters: int) -> list[Any]:
        """Read the arguments of a launch.

        Args:
            parameters: the address of the array of pointers for the driver. Tensor maps follow the
                arguments; they are not read, because the machine encodes its own.
        """
        if not self._descriptions:
            return []
        start: int = _POINTER.from_address(parameters).value or 0
        if not self._is_checked:
            self._check_offsets(parameters, start)
        fields = self._structure.unpack(ctypes.string_at(start, self._structure.size))
        arguments: list[Any] = []
        place = 0
        for argument in self._descriptions:
            if argument["kind"] == "scalar":
                arguments.append(_number(argument, fields[place]))
                place += 1
                continue
            rank = len(argument["shape"])
            begin, end = place + 3, place + 3 + 2 * rank
            size = DTYPES[argument["element"]].itemsize
            address = fields[place + 1] + fields[place + 2] * size
            arguments.append(
                Matrix(address, fields[begin : begin + rank], fields[begin + rank : end], size)
            )
            place = end
        return arguments

    def _check_offsets(self, parameters: int, start: int) -> None:
        """Check that the host stored the parameters as expected.

        Raises:
            LaunchError: if it did not: the code is of another version of upstream's lowering.
        """
        pointers = (_POINTER * len(self._offsets)).from_address(parameters)
        offsets = [(pointer or 0) - start for pointer in pointers]
        if offsets != self._offsets:
            raise LaunchError(
                f"the program has the parameters of {self.entry} at the offsets {offsets}; expected "
                f"{self._offsets}"
            )
        self._is_checked = True


def _prefixes(formats: str) -> Iterator[tuple[str, str]]:
    """Yield each character of `struct`, and those before it."""
    for place, last in enumerate(formats):
        yield formats[:place], last


def _number(argument: Mapping[str, Any], unpacked: Any) -> Any:
    """Return a number of an argument's type; `struct` has no bf16."""
    if scalar_type(argument).bits is None:
        return unpacked
    return np.uint16(unpacked).view(DTYPES[argument["type"]])


def _nothing() -> int:
    """Return the address of a function of C's library that has no effect, for any arguments."""
    return ctypes.cast(ctypes.CDLL(None).getpid, _POINTER).value or 0
