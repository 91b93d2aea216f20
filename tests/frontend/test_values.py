"""Functions on tensors are functions of values: no argument is written, each result is its own memory."""

from itertools import combinations

import numpy as np
import pytest

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg


def executable(text):
    with new_context():
        program = parse_module(text)
        lower_linalg(program)
        return Executable(program, on="cpu", mixed=True)


@pytest.mark.parametrize("visibility", ["", "public "])
def test_results_are_memory_of_their_own(visibility):
    """Parts of an argument, a constant, an argument, and one value twice."""
    run = executable(f"""
    func.func {visibility}@main(%a: tensor<4x8xf32>, %n: tensor<2x8xf32>, %d: tensor<?x8xf32>)
        -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>, tensor<4x4xf32>, tensor<4x8xf32>,
            tensor<4x8xf32>, tensor<?x8xf32>) {{
      %i = tensor.insert_slice %n into %a[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
      %c = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
      %s = tensor.extract_slice %a[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
      %k = arith.constant dense<1.0> : tensor<4x8xf32>
      return %i, %i, %c, %s, %a, %k, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>,
          tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<?x8xf32>
    }}""")
    a = np.arange(32, dtype=np.float32).reshape(4, 8)
    n, d = np.full((2, 8), -1, np.float32), np.ones((3, 8), np.float32)
    copies = [x.copy() for x in (a, n, d)]
    results = run(a, n, d)
    inserted = np.concatenate([n, a[2:]])
    expected = (inserted, inserted, a.ravel(), a[:, 4:], a, np.ones_like(a), d)
    assert all(map(np.array_equal, results, expected))
    assert all(map(np.array_equal, (a, n, d), copies))
    assert not any(np.shares_memory(x, y) for x, y in combinations([a, n, d, *results], 2))


def test_results_that_are_one_allocation_are_two():
    """Upstream returns a part of what it computes in place of the whole, by a cast of a view."""
    run = executable("""
    func.func @main(%a: tensor<2x2x64xf32>) -> (tensor<2x2x64xf32>, tensor<2x64xf32>) {
      %empty = tensor.empty() : tensor<2x2x64xf32>
      %whole = linalg.add ins(%a, %a : tensor<2x2x64xf32>, tensor<2x2x64xf32>)
        outs(%empty : tensor<2x2x64xf32>) -> tensor<2x2x64xf32>
      %rows = tensor.collapse_shape %whole [[0, 1], [2]] : tensor<2x2x64xf32> into tensor<4x64xf32>
      %part = tensor.extract_slice %rows[0, 0] [2, 64] [1, 1] : tensor<4x64xf32> to tensor<2x64xf32>
      return %whole, %part : tensor<2x2x64xf32>, tensor<2x64xf32>
    }""")
    a = np.arange(256, dtype=np.float32).reshape(2, 2, 64)
    whole, part = run(a)
    assert np.array_equal(whole, 2 * a) and np.array_equal(part, 2 * a[0])
    assert not np.shares_memory(whole, part)


def test_a_program_may_say_that_an_argument_is_written():
    run = executable("""
    func.func @main(%a: tensor<4xf32> {bufferization.writable = true}, %n: tensor<2xf32>)
        -> tensor<4xf32> {
      %i = tensor.insert_slice %n into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      return %i : tensor<4xf32>
    }""")
    a, n = np.zeros(4, np.float32), np.ones(2, np.float32)
    assert run(a, n).tolist() == a.tolist() == [1, 1, 0, 0]
