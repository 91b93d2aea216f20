"""Modules in the cache of compiled kernels: which locations make another kernel."""

import pytest

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.runtime import cached_compile, is_cached

TEXT = """
gpu.module @kernels {
  gpu.func @twice(%X: memref<64x64xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = "smem.load"(%X) : (memref<64x64xf32>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    %w = "smem.map"(%v) ({
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      gpu.yield %y : f32
    }) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>)
      -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    "smem.store"(%w, %X)
      : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, memref<64x64xf32>) -> ()
    gpu.return
  }
}"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    return tmp_path


def module(text=TEXT):
    with new_context():
        return ir.Module.parse(text)


def test_a_module_outside_of_its_context():
    ours = module()
    assert mlir_smem.compile(ours, emit="ptx").ptx == mlir_smem.compile(TEXT, emit="ptx").ptx


def test_locations_make_no_other_kernel(folder):
    first, second = module(), module("\n\n" + TEXT)
    compiled = cached_compile(first)
    assert is_cached(second) and is_cached(first)
    assert cached_compile(second) == compiled
    assert len([*folder.iterdir()]) == 1


def test_lines_make_another_kernel(folder):
    first, second = module(), module("\n\n" + TEXT)
    cached_compile(first, debug_info="lines")
    assert is_cached(first, debug_info="lines")
    assert not is_cached(second, debug_info="lines")
    assert not is_cached(first)


def test_another_module_is_another_kernel():
    cached_compile(module())
    assert not is_cached(module(TEXT.replace("arith.addf", "arith.mulf")))
    assert not is_cached(module(), max_swizzle=64)


def test_a_module_of_bytes():
    text = TEXT.encode()
    compiled = cached_compile(text)
    assert cached_compile(text) == compiled
