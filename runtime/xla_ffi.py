"""Handlers of XLA's custom calls (XLA FFI), written in Python.

XLA calls a handler on a thread of its own, with the addresses of the operands and results, which on a GPU
are those that the work of a stream will have written; so a handler only starts work on that stream.

The structures are those of `xla/ffi/api/c_api.h`, API 0.x. Every structure begins with its size, and new
fields are added at the end, so what is read here is there if the size is large enough.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
    cast,
    sizeof,
)
from typing import Any, NamedTuple

from .errors import LaunchError

#: The version that a handler says it was made for: that of jaxlib 0.10.
_MAJOR, _MINOR = 0, 3

#: `XLA_FFI_Extension_Metadata`, `XLA_FFI_ExecutionStage_EXECUTE`, `XLA_FFI_AttrType_ARRAY`.
_METADATA, _EXECUTE, _ARRAY = 1, 3, 1

#: `XLA_FFI_Error_Code_INVALID_ARGUMENT`, `XLA_FFI_Error_Code_INTERNAL`.
_INVALID_ARGUMENT, _INTERNAL = 3, 13

#: `XLA_FFI_DataType`s by their names in MLIR.
_ELEMENTS = {
    2: "i8",
    4: "i32",
    5: "i64",
    6: "ui8",
    10: "f16",
    11: "f32",
    12: "f64",
    16: "bf16",
    19: "f8E5M2",
    20: "f8E4M3FN",
}
_I64 = 5

#: The functions of `XLA_FFI_Api`, in their order.
_FUNCTIONS = (
    "error_create",
    "error_get_message",
    "error_destroy",
    "handler_register",
    "stream_get",
    "type_register",
    "execution_context_get",
    "state_set",
    "state_get",
    "device_memory_allocate",
    "device_memory_free",
    "thread_pool_schedule",
    "thread_pool_num_threads",
    "future_create",
    "future_set_available",
    "future_set_error",
    "run_id_get",
    "device_ordinal_get",
)


def _structure(name: str, **fields: Any) -> type[Structure]:
    """Return a structure that begins as those of the API do."""
    begin = [("struct_size", c_size_t), ("extension_start", c_void_p)]
    return type(name, (Structure,), {"_fields_": [*begin, *fields.items()]})


_Version = _structure("XLA_FFI_Api_Version", major=c_int, minor=c_int)
_Api = _structure(
    "XLA_FFI_Api",
    version=_Version,
    internal_api=c_void_p,
    **dict.fromkeys(_FUNCTIONS, c_void_p),
)
_BufferStructure = _structure(
    "XLA_FFI_Buffer", dtype=c_int, data=c_void_p, rank=c_int64, dims=POINTER(c_int64)
)
_BuffersStructure = _structure(
    "XLA_FFI_Args", size=c_int64, types=POINTER(c_int), items=POINTER(POINTER(_BufferStructure))
)
_Attributes = _structure(
    "XLA_FFI_Attrs",
    size=c_int64,
    types=POINTER(c_int),
    names=POINTER(POINTER(c_char_p)),
    items=POINTER(c_void_p),
)
_CallFrame = _structure(
    "XLA_FFI_CallFrame",
    api=POINTER(_Api),
    context=c_void_p,
    stage=c_int,
    arguments=_BuffersStructure,
    results=_BuffersStructure,
    attributes=_Attributes,
)
_ErrorCreate = _structure("XLA_FFI_Error_Create_Args", message=c_char_p, code=c_int)
_StreamGet = _structure("XLA_FFI_Stream_Get_Args", context=c_void_p, stream=c_void_p)
_DeviceOrdinalGet = _structure("XLA_FFI_DeviceOrdinal_Get_Args", context=c_void_p, ordinal=c_int32)


class _ArrayAttribute(Structure):
    """`XLA_FFI_Array`, which has no size of its own."""

    _fields_ = [("dtype", c_int), ("size", c_size_t), ("data", c_void_p)]


class _Extension(Structure):
    """`XLA_FFI_Extension_Base`, and what follows it in `XLA_FFI_Metadata_Extension`."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int),
        ("next", c_void_p),
        ("metadata", c_void_p),
    ]


class _Metadata(Structure):
    """`XLA_FFI_Metadata`."""

    _fields_ = [("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32)]


_Handler = CFUNCTYPE(c_void_p, POINTER(_CallFrame))
_Function = CFUNCTYPE(c_void_p, c_void_p)


class XlaBuffer(NamedTuple):
    """An operand or result of a custom call: a dense array, whose last dimension is contiguous.

    Attributes:
        pointer: its address.
        shape: its extents.
        element: MLIR's name of its element type; "" for one that no kernel takes.
    """

    pointer: int
    shape: tuple[int, ...]
    element: str


class CustomCall:
    """A custom call that XLA executes.

    Attributes:
        arguments, results: its operands and results.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.arguments = _buffers(frame.arguments)
        self.results = _buffers(frame.results)

    def numbers(self, position: int) -> tuple[int, ...]:
        """Return the attribute at a position, in the order of names: an array of 64-bit integers."""
        attributes = self._frame.attributes
        if position >= attributes.size or attributes.types[position] != _ARRAY:
            raise LaunchError(f"attribute {position} of the custom call is no array")
        array = _ArrayAttribute.from_address(attributes.items[position])
        if array.dtype != _I64:
            raise LaunchError(f"attribute {position} of the custom call has no 64-bit integers")
        return tuple((c_int64 * array.size).from_address(array.data)) if array.size else ()

    @property
    def stream(self) -> int:
        """The handle of the stream on which XLA executes the call."""
        return self._query("stream_get", _StreamGet).stream or 0

    @property
    def device(self) -> int:
        """The number of the GPU that executes the call."""
        return self._query("device_ordinal_get", _DeviceOrdinalGet).ordinal

    def _query(self, function: str, structure: type[Structure]) -> Any:
        """Call a function of the API for the custom call; return its filled structure.

        Raises:
            LaunchError: if XLA lacks the function, or has no answer.
        """
        api = self._frame.api.contents
        end = getattr(_Api, function).offset + sizeof(c_void_p)
        if api.struct_size < end:
            raise LaunchError(
                f"XLA's FFI of {api.version.major}.{api.version.minor} has no {function}"
            )
        query = structure(struct_size=sizeof(structure), context=self._frame.context)
        error = _Function(getattr(api, function))(addressof(query))
        if error:
            _destroy_error(api, error)
            raise LaunchError(f"XLA has no {function} for this call")
        return query


def handler(start: Callable[[CustomCall], None]) -> Any:
    """Return a handler of a custom call, as `jax.ffi.register_ffi_target` takes it.

    Args:
        start: starts the work of a call. An exception becomes XLA's error of the call, with its message.

    Returns:
        A capsule, which must live as long as calls are executed: XLA keeps the address alone.
    """

    @_Handler
    def execute(frame: Any) -> int | None:
        frame = frame.contents
        if frame.extension_start and _answer_version(frame.extension_start):
            return None
        try:
            if frame.stage == _EXECUTE:
                start(CustomCall(frame))
        except BaseException as error:
            # An exception must not cross XLA, not even `KeyboardInterrupt`.
            code = _INVALID_ARGUMENT if isinstance(error, ValueError) else _INTERNAL
            message = str(error) or type(error).__name__
            return _create_error(frame.api.contents, message, code)
        return None

    _HANDLERS.append(execute)
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    return new_capsule(cast(execute, c_void_p), None, None)


#: Handlers, whose addresses XLA keeps for ever.
_HANDLERS: list[Any] = []


def _answer_version(extension: int) -> bool:
    """Write the version of a handler if XLA asks for it; return whether it does."""
    header = _Extension.from_address(extension)
    if header.type != _METADATA:
        return False
    metadata = _Metadata.from_address(header.metadata)
    metadata.version.major, metadata.version.minor = _MAJOR, _MINOR
    # Not COMMAND_BUFFER_COMPATIBLE: the first call of a shape loads a kernel.
    metadata.traits = 0
    return True


def _buffers(structure: Any) -> Sequence[XlaBuffer]:
    buffers = []
    for i in range(structure.size):
        buffer = structure.items[i].contents
        shape = tuple(buffer.dims[: buffer.rank])
        buffers.append(XlaBuffer(buffer.data or 0, shape, _ELEMENTS.get(buffer.dtype, "")))
    return buffers


def _create_error(api: Any, message: str, code: int) -> int | None:
    arguments = _ErrorCreate(struct_size=sizeof(_ErrorCreate), message=message.encode(), code=code)
    return _Function(api.error_create)(addressof(arguments))


def _destroy_error(api: Any, error: int) -> None:
    structure = _structure("XLA_FFI_Error_Destroy_Args", error=c_void_p)
    arguments = structure(struct_size=sizeof(structure), error=error)
    CFUNCTYPE(None, c_void_p)(api.error_destroy)(addressof(arguments))
