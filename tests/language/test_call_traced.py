"""Calls of traced kernels: on the emulator, and what is compiled, cached and launched on a GPU."""

import os
import subprocess
import sys
import types
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from stand_in import Tensor
from traced_kernels import copied

import mlir_smem.language as sl
from mlir_smem.language.call.errors import CallError
from mlir_smem.runtime import readers, streams

SCALE = 2.0


def double(x):
    return x * SCALE


@sl.kernel("(M,64), (), (M,64):f32", sync="manual")
def scaled(X, a, Y, *, rows=64, then=double):
    row = sl.grid(sl.cdiv(sl.multiple_of(X.shape[0], rows), rows)) * rows
    x = sl.load(X[row : row + rows, :]).to(sl.f32)
    sl.store(then(x * a), Y[row : row + rows, :])


@pytest.fixture
def on_torch(gpu, monkeypatch, tmp_path):
    """A stand-in GPU whose arrays belong to PyTorch, and an empty cache."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(readers, "_BY_CLASS", {})
    raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 0)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=raw))
    monkeypatch.setattr(Tensor, "__module__", "torch")
    for kernel in (scaled, copied):
        # What was loaded by another test belongs to its stand-in.
        vars(kernel).pop("_calls", None)
    return gpu


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_kernel_with_a_number(dtype):
    x = np.arange(128 * 64).reshape(128, 64).astype(dtype)
    y = np.zeros((128, 64), np.float32)
    scaled(x, 1.5, y, on="cpu")
    assert np.array_equal(y, 3 * x.astype(np.float32))


def test_a_global_that_a_helper_reads(monkeypatch):
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    for scale in (2.0, 3.0, 2.0):
        monkeypatch.setattr(sys.modules[__name__], "SCALE", scale)
        scaled(x, 1.0, y, on="cpu")
        assert (y == scale).all()


def test_a_constant_that_is_a_function(monkeypatch):
    offset = 1.0

    def shift(x):
        return x + offset

    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    scaled(x, 1.0, y, on="cpu", then=shift)
    assert (y == 2).all()
    offset = 4.0
    scaled(x, 1.0, y, on="cpu", then=shift)
    assert (y == 5).all()
    scaled(x, 1.0, y, on="cpu")
    assert (y == 2).all()


def test_a_matrix_product():
    from mlir_smem import examples

    scope = {"__name__": "matmul_example"}
    source = Path(examples.__file__).parent / "matmul.py"
    exec(compile(source.read_text(), str(source), "exec"), scope)
    a = np.random.default_rng(0).standard_normal((128, 128)).astype(ml_dtypes.bfloat16)
    b = np.random.default_rng(1).standard_normal((128, 256)).astype(ml_dtypes.bfloat16)
    c = np.zeros((128, 256), ml_dtypes.bfloat16)
    scope["matmul"](a, b, c, on="cpu")
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c.astype(np.float64) - exact).max() <= 2**-8 * np.abs(exact).max()


# What is wrong with a call, and what is wrong with the kernel for it.


def test_a_constant_that_there_is_not():
    x = np.ones((64, 64), np.float32)
    with pytest.raises(sl.TraceError, match="scaled has no constant row; it has rows, then"):
        scaled(x, 1.0, x.copy(), on="cpu", row=64)


def test_a_mistake_is_at_the_kernels_line():
    x = np.ones((96, 64), np.float32)
    with pytest.raises(sl.TraceError) as error:
        scaled(x, 1.0, x.copy(), on="cpu", rows=48)
    assert error.value.position.line == scaled.function.__code__.co_firstlineno + 3


def test_a_kernel_that_is_called_in_a_kernel():
    @sl.kernel("(M,64):f32, (M,64):f32", sync="manual")
    def outer(X, Y):
        scaled(X, 1.0, Y)

    with pytest.raises(sl.TraceError) as error:
        outer.trace()
    assert error.value.message == (
        "scaled is called on values of a kernel that is traced; a kernel is called on arrays: "
        "write a function without @sl.kernel for what both do"
    )
    assert error.value.position.line == outer.function.__code__.co_firstlineno + 2


def test_a_call_that_does_not_fit():
    x = np.ones((128, 64), np.float32)
    with pytest.raises(CallError) as error:
        scaled(x, 1.0, x[:64].copy(), on="cpu")
    assert str(error.value) == (
        "M is 128 in X but 64 in Y\n"
        "  scaled takes X (M, 64), a (), Y (M, 64):f32; "
        "given: X float32[128, 64], a 1.0, Y float32[64, 64]"
    )


def test_a_fixed_extent():
    x = np.ones((128, 32), np.float32)
    with pytest.raises(CallError, match=r"^Y is \[128, 32\]; expected \(M, 64\):f32\n"):
        scaled(np.ones((128, 64), np.float32), 1.0, x, on="cpu")


# On a GPU.


def test_a_launch_of_a_traced_kernel(on_torch):
    x, y = Tensor((256, 64), "float16"), Tensor((256, 64), pointer=0x8000)
    scaled(x, 1.5, y)
    (launch,) = on_torch.launches
    assert (launch.gridDimX, launch.blockDimX, launch.function) == (4, 128, "function of scaled")


def test_tensor_maps_of_arrays_that_change(on_torch):
    def call(shape, *pointers):
        copied(*[Tensor(shape, "float16", pointer) for pointer in pointers])

    for pointers in ((0x1000, 0x20000), (0x3000, 0x20000), (0x3000, 0x40000), (0x3000, 0x40000)):
        call((128, 192), *pointers)
    assert [tensor_map[2] for tensor_map in on_torch.maps] == [0x1000, 0x20000]
    assert on_torch.replaced == [0x3000, 0x40000]
    call((64, 192), 0x3000, 0x40000)
    assert [tensor_map[3] for tensor_map in on_torch.maps[2:]] == [[192, 64], [192, 64]]
    assert [(launch.gridDimX, launch.gridDimY) for launch in on_torch.launches[3:]] == [
        (3, 2),
        (3, 1),
    ]


@pytest.mark.parametrize(
    "stride, pointer, message",
    [
        ((192, 1), 0x1008, "X begins at 0x1008, not a multiple of 16"),
        (
            (196, 1),
            0x1000,
            "X has the stride 392 bytes along dimension 0; the kernel accesses 16 bytes",
        ),
        ((1, 128), 0x1000, r"X has the strides \[1, 128\]; the kernel takes \['\?', 1\]"),
    ],
)
def test_arrays_that_tma_cannot_take(on_torch, stride, pointer, message):
    y = Tensor((128, 192), "float16", 0x20000)
    copied(Tensor((128, 192), "float16", 0x1000), y)
    with pytest.raises(CallError, match=f"^{message}"):
        copied(Tensor((128, 192), "float16", pointer, stride), y)
    assert len(on_torch.launches) == 1


def test_a_message_has_the_strides_of_the_signature():
    with pytest.raises(
        CallError, match=r"copied takes X \(M, N\):\(\?, 1\), Y \(M, N\):\(\?, 1\); g"
    ):
        copied(np.zeros((64, 64), np.float16), on="cpu")


def test_strided_arrays_on_the_emulator():
    x = np.arange(200 * 136, dtype=np.float16).reshape(200, 136)
    y = np.zeros((200, 160), np.float16)
    copied(x, y[:, :136], on="cpu")
    assert np.array_equal(x, y[:, :136]) and not y[:, 136:].any()


def test_a_call_and_the_methods_share_the_cache(on_torch, monkeypatch, tmp_path):
    cubin = scaled.cubin(sl.f16, sl.f32, sl.f32)
    assert len([*tmp_path.glob("*.kernel")]) == 1

    def fail(*_, **__):
        raise AssertionError("compiled again")

    monkeypatch.setattr("mlir_smem.runtime.cache.compile", fail)
    fresh = sl.Kernel(scaled.function, "(M,64), (), (M,64):f32", scaled.options)
    fresh(Tensor((256, 64), "float16"), 1.5, Tensor((256, 64)))
    assert len(on_torch.launches) == 1
    assert fresh.cubin(sl.f16, sl.f32, sl.f32) == cubin


PROCESS = """
import sys
import mlir_smem.language as sl
from mlir_smem.runtime import cached_compile

@sl.kernel("(M,64), (M,64)", sync="manual")
def double(A, B):
    row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64)) * 64
    sl.store(sl.load(A[row : row + 64, :]) * 2.0, B[row : row + 64, :])

sys.stdin.readline()
sys.stdout.buffer.write(double.cubin(sl.f32, sl.f32)[:64].hex().encode())
"""


def test_two_processes_compile_at_the_same_time(tmp_path):
    source = tmp_path / "double.py"
    source.write_text(PROCESS)
    environment = {**os.environ, "MLIR_SMEM_CACHE": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        for _ in range(2)
    ]
    outputs = []
    for process in started:
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in started:
        outputs.append(process.communicate()[0])
        assert process.returncode == 0
    assert outputs[0] == outputs[1] and outputs[0]
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".kernel"]
