"""Epilogues in Python: their operands, when a function is traced again, and mistakes."""

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from stand_in import OnGpu

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import Config, ConfigError, Problem, ProblemError, matmul, prepare
from mlir_smem.kernels.gemm.call import fusions
from mlir_smem.kernels.gemm.call.fusions import fused_call
from mlir_smem.kernels.gemm.generator.fusion import EpilogueOperand, trace_epilogue
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.language import TraceError
from mlir_smem.runtime import streams
from mlir_smem.runtime.arguments import DTYPES

SMALL = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64)

pytestmark = pytest.mark.usefixtures("no_calls")


@pytest.fixture
def traces(monkeypatch):
    """The operands of each epilogue that is traced."""
    traced_operands = []

    def record_trace(function, operands, *others):
        traced_operands.append(operands)
        return trace_epilogue(function, operands, *others)

    monkeypatch.setattr(fusions, "trace_epilogue", record_trace)
    return traced_operands


def array(shape, element="bf16", pointer=0x1000, strides=None, device=0):
    strides = strides or tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    return OnGpu(shape, DTYPES[element], strides, pointer, device)


A, B, C = array((200, 72)), array((72, 136), pointer=0x20000), array((200, 136), pointer=0x40000)
BIAS = array((136,), pointer=0x60000)


def add(x, bias):
    return x + bias


def test_a_gemm_with_an_epilogue_is_launched(gpu):
    matmul(A, B, C, epilogue=add, operands={"bias": BIAS}, config=SMALL)
    (launch,) = gpu.launches
    assert launch.function == "function of gemm"
    assert len(gpu.maps) == 3


@pytest.mark.parametrize(
    "shape, kind",
    [
        ((200, 136), "mn"),
        ((136,), "n"),
        ((1, 136), "n"),
        ((200, 1), "m"),
        ((1,), ""),
        ((), ""),
        ((1, 1), ""),
    ],
)
def test_operands_broadcast(shape, kind):
    call = fused_call(add, {"bias": array(shape, "f32")}, "f32", (200, 136), 0)
    assert call.fusion.operands == (EpilogueOperand("bias", "f32", kind, by_tma=kind == "mn"),)
    extents = {"mn": (200, 136), "n": (136,), "m": (200,), "": (1,)}[kind]
    assert call.arguments[0].shape == extents


def test_the_strides_of_an_operand():
    operand = array((200, 1), "f32", strides=(8, 1))
    (matrix,) = fused_call(add, {"bias": operand}, "f32", (200, 136), 0).arguments
    assert (matrix.shape, matrix.strides) == ((200,), (8,))


def test_numbers_are_arguments(gpu, traces):
    for scale in (2.0, 3.0):
        matmul(
            A, B, C, epilogue=lambda x, scale: x * scale, operands={"scale": scale}, config=SMALL
        )
    assert traces == [[EpilogueOperand("scale", "f32", "number")]]
    assert len(gpu.launches) == 2


def test_a_lambda_is_traced_once(gpu, traces):
    for pointer in (0x60000, 0x70000):
        bias = array((136,), pointer=pointer)
        matmul(A, B, C, epilogue=lambda x, bias: x + bias, operands={"bias": bias}, config=SMALL)
    assert len(traces) == 1
    assert len(gpu.launches) == 2


def test_a_closure_is_part_of_the_function(traces):
    def scale(factor):
        return lambda x: x * factor

    first, second, third = (
        fused_call(scale(factor), {}, "f32", (64, 64), 0).fusion for factor in (2.0, 3.0, 2.0)
    )
    assert len(traces) == 2
    assert first == third != second


FACTOR = 2.0


def test_a_global_that_changes_is_read_again(gpu, traces, monkeypatch):
    def times(x):
        return x * FACTOR

    for factor in (2.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        matmul(A, B, C, epilogue=times, config=SMALL)
    assert len(traces) == 2


def test_functions_with_one_ir_are_one_problem():
    one = trace_epilogue(lambda x: x + 1.0, [], "f32")
    other = trace_epilogue(lambda y: y + 1.0, [], "f32")
    assert one == other and hash(Problem(fusion=one)) == hash(Problem(fusion=other))
    assert one != trace_epilogue(lambda x: x + 2.0, [], "f32")


def test_the_name_of_a_parameter_is_part_of_the_kernel():
    named = trace_epilogue(add, [EpilogueOperand("bias", "bf16", "n")], "f32")
    assert 'smem.name = "bias"' in text(Problem(fusion=named), SMALL)


@pytest.mark.parametrize(
    "function, accumulator, stored",
    [
        (lambda x: x + 1.0, "f32", ("bf16", "f32", "f16", "f8E4M3FN", "f8E5M2")),
        (lambda x: x, "i32", ("i32", "i8", "ui8")),
        (lambda x: x.to(sl.f32) * 0.5, "i32", ("bf16", "f32", "f16", "f8E4M3FN", "f8E5M2")),
    ],
)
def test_element_types_of_the_result(function, accumulator, stored):
    assert trace_epilogue(function, [], accumulator).stored == (stored,)


def test_a_result_that_is_not_stored(gpu):
    out = array((200, 136), "i32")
    with pytest.raises(ProblemError) as error:
        matmul(A, B, out, epilogue=lambda x: x + 1.0, config=SMALL)
    assert str(error.value) == (
        "a GEMM of bf16 does not store i32; expected bf16 or f32 or f16 or f8E4M3FN or f8E5M2"
    )
    assert gpu.launches == []


def test_a_prepared_epilogue(gpu):
    prepare(A, B, C, SMALL, epilogue=add, operands={"bias": BIAS}).launch()
    assert len(gpu.launches) == 1


@pytest.mark.parametrize(
    "function, operands, message",
    [
        (
            lambda x: 3.0,
            {},
            "the epilogue returns 3.0; expected a fragment 64x64, of the shape of the product that it "
            "takes",
        ),
        (
            lambda x: x.max(axis=1),
            {},
            "the epilogue returns a slice of 64 rows of f32; expected a fragment 64x64, of the shape of "
            "the product that it takes",
        ),
        (lambda: 1, {}, "the epilogue has 0 parameters; expected one for the product's elements"),
        (lambda x, y: x, {}, "the epilogue has the parameter y; there are row, col"),
        (lambda x: x, {"bias": BIAS}, "the epilogue has no parameter for the operand bias"),
        (
            lambda x, C: x,  # noqa: N803
            {"C": BIAS},
            "an operand of the epilogue is named 'C'; expected an identifier other than A, B, C, B2, D, "
            "W, S, row, col",
        ),
        (
            add,
            {"bias": array((135,))},
            "bias has the shape [135], which does not broadcast to C of 200x136; expected [200, 136], "
            "[136] for an element a column, [200, 1] for an element a row, or [1]",
        ),
        (add, {"bias": array((136,), device=1)}, "bias is on GPU 1, but A is on GPU 0"),
        (
            add,
            {"bias": np.zeros(136, np.float32)},
            "an operand of the epilogue: bias is in host memory; move it to the GPU, or let run_on_gpu "
            "copy the arrays",
        ),
        (
            add,
            {"bias": OnGpu((136,), "complex64", (1,), 0x1000)},
            "bias has elements of complex64; expected " + ", ".join(DTYPES),
        ),
        (
            len,
            {},
            "the epilogue is <built-in function len>; expected a function of Python",
        ),
        (None, {"bias": BIAS}, "operands bias are given without an epilogue"),
    ],
)
def test_mistakes(gpu, function, operands, message):
    with pytest.raises(ProblemError) as error:
        matmul(A, B, C, epilogue=function, operands=operands, config=SMALL)
    assert str(error.value) == message
    assert gpu.launches == []


@pytest.mark.parametrize(
    "shape, operand",
    [
        ((2, 1, 3, 64, 136), ("mn", True, (0, 1))),
        ((3, 64, 136), ("mn", True, (1,))),
        ((2, 1, 1, 64, 136), ("mn", True, (0,))),
        ((2, 1, 3, 64, 1), ("m", False, (0, 1))),
        ((3, 1, 136), ("n", False, (1,))),
        ((2, 1, 3, 1, 1), ("", False, (0, 1))),
        ((64, 136), ("mn", True, ())),
    ],
    ids=str,
)
def test_operands_that_vary_by_batch(gpu, shape, operand):
    """Of C (2, 1, 3, 64, 136), whose dimension of extent 1 is none of the kernel's."""
    fused = fused_call(add, {"bias": array(shape)}, "f32", (2, 1, 3, 64, 136), 0)
    assert fused.fusion.operands == (EpilogueOperand("bias", "bf16", *operand),)
    (matrix,) = fused.arguments
    assert matrix.shape == (tuple(x for x in shape if x > 1) or (1,))


def test_a_launch_with_an_operand_that_varies_by_batch(gpu):
    a, b = array((2, 1, 3, 64, 72)), array((3, 72, 136), pointer=0x20000)
    c, bias = array((2, 1, 3, 64, 136), pointer=0x40000), array((3, 1, 136))
    matmul(a, b, c, epilogue=add, operands={"bias": bias}, config=SMALL)
    assert len(gpu.launches) == 1


def test_an_operand_of_another_batch(gpu):
    with pytest.raises(ProblemError, match=r"or \[1\], or these for each of its matrices"):
        fused_call(add, {"bias": array((4, 64, 136))}, "f32", (3, 64, 136), 0)


def test_a_mistake_in_the_function_is_at_its_line():
    with pytest.raises(TraceError, match=r"test_fusions\.py:\d+:\d+: elements of f32 have no <<"):
        trace_epilogue(lambda x: x << 1.0, [], "f32")


# Gated products.


def gate(first, second):
    return first * second


WEIGHT = array((72, 272), strides=(1, 72), pointer=0x20000)


@pytest.mark.parametrize(
    "gated, b, distance, strides",
    [
        ("interleaved", WEIGHT, 72, [288]),
        ("halves", WEIGHT, 136 * 72, [144]),
        ("halves", array((72, 272), pointer=0x20000), 136, [544]),
    ],
)
def test_the_columns_of_gates(gpu, gated, b, distance, strides):
    matmul(A, b, C, epilogue=gate, gated=gated, config=SMALL)
    (_, first, second, _) = gpu.maps
    assert (first[2], second[2]) == (0x20000, 0x20000 + 2 * distance)
    assert first[4] == second[4] == strides
    # The next call finds the launch.
    matmul(A, b, C, epilogue=gate, gated=gated, config=SMALL)
    assert len(gpu.maps) == 4 and len(gpu.launches) == 2


@pytest.mark.parametrize(
    "b, gated, function, message",
    [
        (WEIGHT, "thirds", gate, "gated is 'thirds'; expected 'interleaved' or 'halves'"),
        (
            array((72, 272)),
            "interleaved",
            gate,
            "B has the strides [272, 1] and interleaved columns; expected contiguous columns, as those "
            "of a transposed weight, or gated='halves'",
        ),
        (
            array((72, 271), strides=(1, 72)),
            "halves",
            gate,
            "B has 271 columns; expected an even number for gated='halves'",
        ),
        (WEIGHT, "halves", None, "gated='halves' is given without an epilogue"),
        (
            WEIGHT,
            "halves",
            lambda x: x,
            "the epilogue has 1 parameters; expected two for those of products",
        ),
    ],
)
def test_gates_that_do_not_fit(gpu, b, gated, function, message):
    with pytest.raises(ProblemError) as error:
        matmul(A, b, C, epilogue=function, gated=gated, config=SMALL)
    assert str(error.value) == message


def test_a_gated_kernel_is_not_exchanged():
    problem = Problem(b_major="k", fusion=trace_epilogue(gate, [], "f32", 2), gated=True)
    with pytest.raises(ConfigError) as error:
        Config(exchanged=True).check(problem)
    assert str(error.value) == (
        "operands are exchanged, but a gated GEMM has two B; expected exchanged=False"
    )


def test_the_products_of_a_problem_are_those_of_its_epilogue():
    with pytest.raises(ProblemError) as error:
        Problem(fusion=trace_epilogue(gate, [], "f32", 2))
    assert str(error.value) == "the epilogue takes 2 products, but the GEMM has 1"


# Two results.


def both(x):
    return sl.maximum(x, 0.0), x


D = array((200, 136), pointer=0x80000)


def test_two_results_are_stored(gpu):
    assert matmul(A, B, (C, D), epilogue=both, config=SMALL) == (C, D)
    assert [m[2] for m in gpu.maps] == [0x1000, 0x20000, 0x40000, 0x80000]
    matmul(A, B, (D, C), epilogue=both, config=SMALL)
    assert gpu.replaced == [0x80000, 0x40000]


def test_two_new_results(gpu, monkeypatch):
    allocations = []

    def empty(shape, dtype):
        allocations.append(array(shape, {2: "bf16", 4: "f32"}[np.dtype(dtype).itemsize], 0x100000))
        return allocations[-1]

    cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=7))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(empty=empty, cuda=cuda))
    monkeypatch.setattr(OnGpu, "__module__", "cupy._core")
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    for _ in range(2):
        outs = matmul(A, B, epilogue=both, out_dtype=("bf16", "f32"), config=SMALL)
        assert outs == tuple(allocations[-2:])
        assert [out.dtype.itemsize for out in outs] == [2, 4]
    assert len(gpu.maps) == 4 and len(allocations) == 4


@pytest.mark.parametrize(
    "out, out_dtype, function, message",
    [
        (C, None, both, "out is of 1 results, but the epilogue returns 2"),
        ((C, D), None, add, "out is of 2 results, but the epilogue returns 1"),
        (None, "f32", both, "out_dtype is of 1 results, but the epilogue returns 2"),
        (
            (C, array((200, 136), strides=(144, 1))),
            None,
            both,
            "D is 200x136 of strides [144, 1]; expected 200x136 of [136, 1], as C",
        ),
        (None, None, lambda x: (x, x, x), "the epilogue returns 3 results; expected 1 or 2"),
    ],
)
def test_results_that_do_not_fit(gpu, out, out_dtype, function, message):
    operands = {"bias": BIAS} if function is add else {}
    with pytest.raises(ProblemError) as error:
        matmul(A, B, out, epilogue=function, operands=operands, out_dtype=out_dtype, config=SMALL)
    assert str(error.value) == message


def test_the_results_of_a_problem_are_those_of_its_epilogue():
    with pytest.raises(ProblemError) as error:
        Problem(fusion=trace_epilogue(both, [], "f32"))
    assert str(error.value) == "the epilogue returns 2 results, but the GEMM stores 1"


@pytest.mark.parametrize("shape", ["n", "m", "mn"])
@pytest.mark.parametrize("exchanged", [False, True])
def test_operands_are_read_before_the_buffer_is_waited_for(shape, exchanged):
    """An activation may have branches, across which loads are not moved: each would be waited for."""
    fusion = trace_epilogue(
        lambda x, bias: sl.exp(x + bias), [EpilogueOperand("bias", "bf16", shape)], "f32"
    )
    kernel = text(replace(Problem(), fusion=fusion), replace(SMALL, exchanged=exchanged))
    assert kernel.rindex("memref.load") < kernel.rindex('"smem.consumer_wait"')
