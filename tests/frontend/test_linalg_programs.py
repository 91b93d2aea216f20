"""Programs of PyTorch and JAX: on the emulator, against upstream's loops on the CPU.

The programs are committed as linalg. `exported_programs.py` exported them.
"""

from itertools import combinations

import ml_dtypes
import numpy as np
import pytest
from exported_programs import COMMITTED, export
from linalg_programs import (
    DYNAMIC,
    NO_REFERENCE,
    PROGRAMS,
    as_tuple,
    check,
    compile_for_host,
    compile_program,
)

import mlir_smem
from mlir_smem.bindings import PACKAGE
from mlir_smem.frontend import from_jax, from_torch
from mlir_smem.frontend.linalg.lowering import lower_linalg


def test_every_program_is_run():
    assert sorted(PROGRAMS) == sorted(path.stem for path in COMMITTED.glob("*.mlir"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name):
    text = (COMMITTED / f"{name}.mlir").read_text()
    executable, arguments, program = compile_program(text, lower_linalg, DYNAMIC[name])
    before = [hash(array.tobytes()) for array in arguments]
    assert program.count("gpu.launch_func") == PROGRAMS[name]
    # The emulator runs kernels of other ops than those of the libraries before LLVM sees them.
    for kernel, code in executable.kernels.items():
        if "_kernel" in kernel:
            mlir_smem.compile(code.nvvm, emit="ptx")
    if name in NO_REFERENCE:
        reference, same = NO_REFERENCE[name], arguments
    else:
        reference, same, _ = compile_for_host(text, DYNAMIC[name])
    results, expected = as_tuple(executable(*arguments)), as_tuple(reference(*same))
    for one, other in zip(results, expected, strict=True):
        check(name, one, other)
    # Neither the kernels nor upstream's loops write an argument.
    for arrays in (arguments, same):
        assert [hash(array.tobytes()) for array in arrays] == before
    for one, other in combinations([*arguments, *results], 2):
        assert not np.shares_memory(one, other)


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_what_its_library_exports(name):
    library = name.partition("_")[0]
    pytest.importorskip("jax" if library == "jax" else "torch", exc_type=ImportError)
    if PACKAGE != "torch_mlir":
        pytest.skip(f"{PACKAGE} has neither StableHLO nor graphs of PyTorch")
    committed = (COMMITTED / f"{name}.mlir").read_text()
    exported = export(name)
    if exported.splitlines()[0] != committed.splitlines()[0]:
        pytest.skip(f"it was exported by other versions: {committed.splitlines()[0]}")
    assert exported == committed


@pytest.mark.torch
def test_a_module_of_torch_keeps_its_parameters():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    layer = torch.nn.Linear(64, 96, dtype=torch.bfloat16)
    rows = torch.export.Dim("rows", min=2, max=4096)
    x = torch.randn(48, 64).bfloat16()
    compiled_layer = from_torch(layer, x, dynamic_shapes=({0: rows},), on="cpu")
    for batch in (x, torch.randn(7, 64).bfloat16()):
        assert torch.allclose(compiled_layer(batch), layer(batch), atol=2**-6)
    with torch.no_grad():
        layer.bias += 1
    assert torch.allclose(compiled_layer(x), layer(x), atol=2**-6)


@pytest.mark.skipif(PACKAGE != "torch_mlir", reason=f"{PACKAGE} has no StableHLO")
def test_a_function_of_jax():
    jax = pytest.importorskip("jax", exc_type=ImportError)
    a, b = (np.full((64, 64), 0.5, ml_dtypes.bfloat16) for _ in "AB")
    product = from_jax(lambda a, b: jax.nn.relu(a @ b), a, b, on="cpu")
    assert np.array_equal(product(a, b), np.full((64, 64), 16, ml_dtypes.bfloat16))


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.skipif(PACKAGE != "torch_mlir", reason=f"{PACKAGE} has no StableHLO")
def test_a_function_of_jax_writes_no_argument(mixed):
    """A cache gets new rows, and is returned next to itself."""
    jax = pytest.importorskip("jax", exc_type=ImportError)
    cache, k = (np.full(shape, 2, ml_dtypes.bfloat16) for shape in ((64, 64), (8, 64)))
    w = np.eye(64, dtype=ml_dtypes.bfloat16)

    def step(cache, k, w):
        return jax.lax.dynamic_update_slice(cache, k @ w * 2, (0, 0)), cache

    compiled_step = from_jax(step, cache, k, w, on="cpu", mixed=mixed)
    for _ in range(2):
        new, old = compiled_step(cache, k, w)
        assert np.array_equal(new, np.repeat([4, 2], (8 * 64, 56 * 64)).reshape(64, 64))
        assert (cache == 2).all() and (old == 2).all()
        assert not np.shares_memory(old, cache) and not np.shares_memory(old, new)


def test_a_result_that_is_changed_before_a_launch_reads_it():
    """The change is made in a copy: bufferization does not see what a kernel reads."""
    program = """
    func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>, %row: tensor<1x64xbf16>)
        -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
      %zero = arith.constant 0.0 : bf16
      %empty = tensor.empty() : tensor<64x64xbf16>
      %fill = linalg.fill ins(%zero : bf16) outs(%empty : tensor<64x64xbf16>) -> tensor<64x64xbf16>
      %y = linalg.matmul ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%fill : tensor<64x64xbf16>) -> tensor<64x64xbf16>
      %changed = tensor.insert_slice %row into %y[3, 0] [1, 64] [1, 1]
        : tensor<1x64xbf16> into tensor<64x64xbf16>
      %z = linalg.matmul ins(%y, %w : tensor<64x64xbf16>, tensor<64x64xbf16>)
        outs(%fill : tensor<64x64xbf16>) -> tensor<64x64xbf16>
      return %changed, %z : tensor<64x64xbf16>, tensor<64x64xbf16>
    }
    """
    x, w = np.eye(64), np.arange(64 * 64).reshape(64, 64) % 5
    x, w, row = (a.astype(ml_dtypes.bfloat16) for a in (x, w, np.full((1, 64), 7)))
    executable, _, _ = compile_program(program, lower_linalg, ())
    changed, z = executable(x, w, row)
    expected = w.copy()
    expected[3] = 7
    np.testing.assert_array_equal(changed, expected)
    np.testing.assert_array_equal(z, (w.astype(float) @ w.astype(float)).astype(w.dtype))
