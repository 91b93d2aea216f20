"""Handlers of XLA's custom calls, called by XLA on the CPU."""

import ctypes

import jax
import numpy as np
import pytest

from mlir_smem.runtime import LaunchError, xla_ffi


def call_handler(name, start, *arrays, result=((4,), np.float32), **attributes):
    """Call a handler in a program of XLA; `start` is its function."""
    jax.ffi.register_ffi_target(name, xla_ffi.handler(start), platform="cpu")
    call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(*result))
    return jax.jit(lambda *operands: call(*operands, **attributes))(*arrays).block_until_ready()


def test_a_handler_reads_operands_and_attributes_and_writes_the_result():
    seen = []

    def start(call):
        seen.append((call.arguments, call.results, call.numbers(0), call.numbers(1)))
        (operand, _), (result,) = call.arguments, call.results
        ctypes.memmove(result.pointer, operand.pointer, 16)

    operands = np.arange(4, dtype=np.float32), np.zeros((2, 3, 5), jax.numpy.bfloat16)
    some = {"some": np.array([3, -(2**40)]), "none": np.zeros(0, np.int64)}
    output = call_handler("copy", start, *operands, **some)
    assert np.array_equal(output, operands[0])
    ((first, second), (result,), none, numbers) = seen[0]
    assert first[1:] == result[1:] == ((4,), "f32")
    assert second[1:] == ((2, 3, 5), "bf16")
    assert (none, numbers) == ((), (3, -(2**40)))


@pytest.mark.parametrize(
    "dtype, element",
    {"int8": "i8", "uint8": "ui8", "int32": "i32", "float16": "f16", "complex64": ""}.items(),
)
def test_elements_have_the_names_of_mlir(dtype, element):
    seen = []
    call_handler(
        f"see_{dtype}", lambda call: seen.append(call.arguments[0].element), np.zeros(4, dtype)
    )
    assert seen == [element]


FAILING = {
    "value": (lambda call: int("x"), "INVALID_ARGUMENT: invalid literal for int"),
    "internal": (lambda call: 1 // 0, "INTERNAL: integer division or modulo by zero"),
    "without a message": (lambda call: (_ for _ in ()).throw(MemoryError), "INTERNAL: MemoryError"),
    "an attribute that is missing": (
        lambda call: call.numbers(1),
        "INTERNAL: attribute 1 of the custom call is no array",
    ),
    "an attribute of 32 bits": (
        lambda call: call.numbers(0),
        "INTERNAL: attribute 0 of the custom call has no 64-bit integers",
    ),
    "no stream": (lambda call: call.stream, "INTERNAL: XLA has no stream_get for this call"),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_exception_is_the_error_of_the_program(name):
    start, message = FAILING[name]
    with pytest.raises(jax.errors.JaxRuntimeError) as error:
        call_handler(name.replace(" ", "_"), start, np.zeros(4), narrow=np.zeros(2, np.int32))
    assert message in str(error.value)


def test_an_older_xla_lacks_a_function():
    older = xla_ffi._Api(struct_size=xla_ffi._Api.run_id_get.offset)
    older.version.minor = 1
    frame = xla_ffi._CallFrame(api=ctypes.pointer(older))
    with pytest.raises(LaunchError) as error:
        _ = xla_ffi.CustomCall(frame).device
    assert str(error.value) == "XLA's FFI of 0.1 has no device_ordinal_get"
