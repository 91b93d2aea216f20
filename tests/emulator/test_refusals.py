"""Kernels that the emulator refuses: the error names the op and its location."""

import numpy as np
import pytest
from emulated import kernel, run, run_text

from mlir_smem.emulator import EmulationError, emulate


def refusal(body, *arguments, **options):
    """The error of a kernel that the emulator refuses."""
    with pytest.raises(EmulationError) as error:
        run(body, *arguments, **options)
    return error.value


ARRAY = np.zeros(32, np.float32)


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "%r = llvm.intr.exp10(%x) : (f32) -> f32",
            "'llvm.intr.exp10' is an op that the emulator does not know",
        ),
        (
            'llvm.inline_asm has_side_effects "trap;", "" : () -> ()',
            "'llvm.inline_asm' holds assembly that the emulator does not know: \"trap;\"",
        ),
        (
            '%r = llvm.inline_asm "mov.f32 $0, $1;", "=f,f" %x : (f32) -> f32',
            "holds assembly that the emulator does not know",
        ),
        (
            '%r = llvm.inline_asm "", "=f,f" %x : (f32) -> f32',
            "has outputs that are not tied to its inputs",
        ),
        ("%r = arith.constant 1 : i7", "the emulator has no values of type i7"),
        ("%r = arith.constant 1.0 : f128", "the emulator has no values of type f128"),
        ("%r = arith.extui %t32 : i32 to i128", "the emulator has no values of type i128"),
        (
            "nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}",
            "is of kind #nvvm.proxy_kind<alias>, which the emulator does not know",
        ),
        (
            "%r = memref.dim %A, %c4 : memref<32xf32>",
            "'memref.dim' queries dimension [4] of 1",
        ),
        (
            "%m = memref.alloca() : memref<4xf32, 5>",
            "'memref.alloca' is an op that the emulator does not know",
        ),
    ],
)
def test_ops_that_are_not_known(line, message):
    body = f"%x = memref.load %A[%tid] : memref<32xf32>\n{line}"
    error = refusal(body, ARRAY)
    assert message in str(error)
    # The error has the line's number in the text of the module.
    number = kernel(body, ["memref<32xf32>"]).splitlines().index(line) + 1
    assert f"{number}:" in str(error)
    assert error.location is not None


def test_variable_that_is_not_in_shared_memory():
    symbols = "llvm.mlir.global internal @x(1 : i32) : i32"
    error = refusal("%r = llvm.mlir.addressof @x : !llvm.ptr", symbols=symbols)
    assert "takes the address of 'x', which is not in shared memory" in str(error)


def test_memory_space_that_is_not_known():
    error = refusal(
        "%v = memref.load %A[%c0] : memref<32xf32, 5>", ARRAY, types=["memref<32xf32, 5>"]
    )
    assert "the emulator has no memory space 5" in str(error)


@pytest.mark.parametrize(
    "types, arguments, message",
    [
        ([], [ARRAY], "k takes 0 arguments, not 1"),
        (["memref<32xf32>", "i32"], [ARRAY], "k takes 2 arguments, not 1"),
        (["i32"], [ARRAY], "argument 0 is of type i32, not an array"),
        (["memref<32xf32>"], [3], "argument 0 is 3; expected an array for memref<32xf32>"),
        (
            ["memref<32xf32>"],
            [ARRAY.astype(np.float64)],
            "argument 0 is float64 of 1 dimensions; expected an array for memref<32xf32>",
        ),
        (["memref<32xf32>"], [ARRAY.reshape(4, 8)], "argument 0 is float32 of 2 dimensions"),
        (["memref<32xi32>"], [ARRAY], "argument 0 is float32 of 1 dimensions"),
        (["memref<32xf32>"], [np.zeros(16, np.float32)], "argument 0 is [16]; expected "),
        (["memref<?x8xf32>"], [np.zeros((4, 9), np.float32)], "argument 0 is [4, 9]; expected "),
        (
            ["memref<4x8xf32>"],
            [np.zeros((4, 8), np.float32, order="F")],
            "argument 0 has the strides [1, 4]; expected ",
        ),
        (["i32"], ["many"], "argument 0 is many; expected a number of type i32"),
        (["f32"], [None], "argument 0 is None; expected a number of type f32"),
    ],
)
def test_arguments_that_do_not_fit(types, arguments, message):
    with pytest.raises(EmulationError) as error:
        run_text(kernel("", types), "k", arguments)
    assert message in str(error.value)


@pytest.mark.parametrize("value", [-1, 2**32 - 1, np.int32(-1), True])
def test_scalars_that_fit(value):
    out = np.zeros(1, np.uint32)
    run(
        "memref.store %B, %A[%c0] : memref<1xi32>",
        out,
        value,
        types=["memref<1xi32>", "i32"],
        block=1,
    )
    assert int(out[0]) == int(value) % 2**32


def test_extents_of_1_may_have_any_stride():
    column = np.zeros((4, 8), np.float32)[:, :1].copy()
    odd = np.lib.stride_tricks.as_strided(column, (1, 4), (400, 4))
    run("", odd, types=["memref<1x4xf32>"])


@pytest.mark.parametrize(
    "grid, block, message",
    [
        ((0, 1, 1), 32, "a grid of (0, 1, 1) is not possible"),
        ((1, 65536, 1), 32, "a grid of (1, 65536, 1) is not possible"),
        ((1, 1, -1), 32, "a grid of (1, 1, -1) is not possible"),
        (1, 0, "a thread block of (0, 1, 1) threads is not possible"),
        (1, (32, 33), "a thread block of (32, 33, 1) threads is not possible"),
        (1, (-1, -32), "a thread block of (-1, -32, 1) threads is not possible"),
        (1, (1, 1, 65), "a thread block of (1, 1, 65) threads is not possible"),
    ],
)
def test_illegal_grid_and_block_sizes(grid, block, message):
    assert message in str(refusal("", grid=grid, block=block))


def test_kernel_name_that_is_not_found():
    with pytest.raises(EmulationError, match=r"the module holds no gpu\.func 'other'"):
        run_text(kernel(""), "other", [])


def test_module_passed_as_an_object():
    from mlir_smem.bindings import ir

    out = np.zeros(1, np.int32)
    text = kernel("memref.store %t32, %A[%tid] : memref<1xi32>", ["memref<1xi32>"])
    with ir.Context():
        module = ir.Module.parse(text)
    emulate(module, "k", [out], grid=(1, 1, 1), block=(1, 1, 1), dynamic_shared_bytes=0)


@pytest.mark.parametrize("size", [-1, 227 * 1024 + 1])
def test_illegal_sizes_of_dynamic_shared_memory(size):
    extents = {"grid": (1, 1, 1), "block": (1, 1, 1)}
    with pytest.raises(EmulationError, match=f"with {size} bytes of dynamic shared memory"):
        emulate(kernel(""), "k", [], **extents, dynamic_shared_bytes=size)
