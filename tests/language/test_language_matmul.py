"""The matmul of the examples: as short as it is said to be, with the code of the hand-written IR."""

import inspect

import pytest

import mlir_smem
import mlir_smem.language as sl
from mlir_smem.examples.manual_sync.matmul import matmul as manual_matmul
from mlir_smem.examples.matmul import matmul

B = sl.bf16


def test_the_ptx_is_that_of_the_ir_byte_for_byte():
    written = mlir_smem.compile(mlir_smem.examples.path("matmul.mlir").read_text(), emit="ptx")
    assert manual_matmul.ptx(B, B, B) == written.ptx


@pytest.mark.parametrize(("kernel", "most"), [(matmul, 12), (manual_matmul, 20)])
def test_it_has_few_lines(kernel, most):
    lines = inspect.getsource(kernel.function).splitlines()
    code = [line for line in lines if line.strip() and not line.strip().startswith(('"""', "#"))]
    assert len(code) <= most


@pytest.mark.parametrize(("bn", "dtype"), [(128, sl.f16), (64, sl.bf16)])
def test_it_is_a_template(bn, dtype):
    text = matmul.mlir(dtype, dtype, sl.f32, bn=bn)
    assert f'smem.grid = [["N", {bn}], ["M", 128]]' in text
    assert f"tensor<64x{bn}x{dtype.mlir}>" in text and "smem.stages = 4" in text
