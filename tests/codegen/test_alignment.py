"""The alignment of a matrix in the manifest: the widest access to its address."""

import numpy as np
import pytest
from programs import kernel, module

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.runtime import run_on_cpu

#: An accumulator of 64 x 8 integers.
INTEGERS = "!smem.fragment<tensor<64x8xi32>, #smem.accumulator>"


def alignment(body, type_, *more):
    """Return the alignment of the argument %x; the module may have more functions."""
    arguments = f'%x: {type_} {{smem.name = "X"}}, %i: index, %c: i1'
    text = module(kernel(body, arguments=arguments), *more)
    (entry,) = mlir_smem.compile(text, emit="nvvm").manifest["kernels"]
    return entry["arguments"][0]["alignment"]


def fill_and_store(type_, value="%x"):
    return f"""
      %z = arith.constant 7 : i32
      %f = "smem.fill"(%z) : (i32) -> {INTEGERS}
      "smem.store"(%f, {value}) : ({INTEGERS}, {type_}) -> ()"""


def pointer(type_, after):
    return f"""
      %a = memref.extract_aligned_pointer_as_index %x : {type_} -> index
      %n = arith.index_cast %a : index to i64
      %p = llvm.inttoptr %n : i64 to !llvm.ptr<1>
      {after}"""


@pytest.mark.parametrize(
    "type_, size",
    [
        # Two adjacent elements at a time if rows are contiguous, else one.
        ("memref<64x8xi8>", 2),
        ("memref<64x8xi32>", 8),
        ("memref<64x8xi32, strided<[?, 1]>>", 8),
        ("memref<64x8xi32, strided<[1, 64]>>", 4),
        ("memref<64x8xi8, strided<[?, ?]>>", 1),
    ],
)
def test_store_of_a_fragment(type_, size):
    assert alignment(fill_and_store(type_), type_) == size


@pytest.mark.parametrize(
    "body, size",
    [
        ("", 4),
        ("%d = memref.dim %x, %i : memref<?x?xf32>", 4),
        ("%v = memref.load %x[%i, %i] : memref<?x?xf32>", 4),
        ("%v = vector.load %x[%i, %i] : memref<?x?xf32>, vector<4xf32>", 4),
        ("%v = vector.load %x[%i, %i] {alignment = 16} : memref<?x?xf32>, vector<4xf32>", 16),
        ("%y = memref.assume_alignment %x, 64 : memref<?x?xf32>", 64),
        # An unknown op may access 16 bytes.
        ("func.call @f(%x) : (memref<?x?xf32>) -> ()", 16),
    ],
)
def test_accesses_of_memrefs(body, size):
    assert alignment(body, "memref<?x?xf32>", "func.func private @f(memref<?x?xf32>)") == size


@pytest.mark.parametrize(
    "after, size",
    [
        ("%v = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xi32>", 8),
        ("%v = llvm.load %p : !llvm.ptr<1> -> vector<4xi32>", 16),
        ("%v = llvm.load %p : !llvm.ptr<1> -> vector<3xi8>", 4),
        ("%v = llvm.load %p : !llvm.ptr<1> -> i16", 2),
        ("%v = arith.constant 0 : i64\n llvm.store %v, %p : i64, !llvm.ptr<1>", 8),
        ("%q = llvm.getelementptr %p[%n] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8\n"
         "%v = llvm.load %q {alignment = 2 : i64} : !llvm.ptr<1> -> i32", 2),
        # The address itself is stored or passed on.
        ("%q = llvm.mlir.undef : !llvm.ptr<1>\n llvm.store %p, %q : !llvm.ptr<1>, !llvm.ptr<1>", 16),
    ],
)  # fmt: skip
def test_accesses_of_pointers(after, size):
    type_ = "memref<?xi8>"
    assert alignment(pointer(type_, after), type_) == size


@pytest.mark.parametrize(
    "body",
    [
        # A subview, a loop that carries it, a branch and a select.
        """%s = memref.subview %x[%i, 0] [64, 8] [1, 1]
             : memref<?x8xi8> to memref<64x8xi8, strided<[8, 1], offset: ?>>""",
        """%one = arith.constant 1 : index
           %y = scf.for %k = %i to %i step %one iter_args(%a = %x) -> (memref<?x8xi8>) {
             scf.yield %x : memref<?x8xi8>
           }
           %s = memref.subview %y[%i, 0] [64, 8] [1, 1]
             : memref<?x8xi8> to memref<64x8xi8, strided<[8, 1], offset: ?>>""",
        """%one = arith.constant 1 : index
           %e = memref.alloca() : memref<64x8xi8>
           %d = memref.cast %e : memref<64x8xi8> to memref<?x8xi8>
           %y = scf.for %k = %i to %i step %one iter_args(%a = %d) -> (memref<?x8xi8>) {
             scf.yield %x : memref<?x8xi8>
           }
           %s = memref.subview %y[%i, 0] [64, 8] [1, 1]
             : memref<?x8xi8> to memref<64x8xi8, strided<[8, 1], offset: ?>>""",
        """%y = scf.if %c -> memref<?x8xi8> {
             scf.yield %x : memref<?x8xi8>
           } else {
             scf.yield %x : memref<?x8xi8>
           }
           %s = memref.subview %y[%i, 0] [64, 8] [1, 1]
             : memref<?x8xi8> to memref<64x8xi8, strided<[8, 1], offset: ?>>""",
        """%y = arith.select %c, %x, %x : memref<?x8xi8>
           %s = memref.subview %y[%i, 0] [64, 8] [1, 1]
             : memref<?x8xi8> to memref<64x8xi8, strided<[8, 1], offset: ?>>""",
    ],
)
def test_derived_addresses(body):
    body += fill_and_store("memref<64x8xi8, strided<[8, 1], offset: ?>>", "%s")
    assert alignment(body, "memref<?x8xi8>") == 2


def test_a_copy_reads_16_bytes():
    tile = "!smem.tile<tensor<64x64xbf16>, #smem.auto>"
    for name in ("copy", "copy_async"):
        body = f"""%t = "smem.alloc"() : () -> {tile}
          "smem.{name}"(%x, %t) : (memref<64x64xbf16>, {tile}) -> ()"""
        assert alignment(body, "memref<64x64xbf16>") == 16


@pytest.mark.parametrize("element, size", [("bf16", 16), ("e2m1_p64", 32)])
def test_a_tensor_map_needs_tmas_alignment(element, size):
    tensor_map = (
        "{argument = 0 : i64, box = array<i64: 8, 8>, contiguous = 1 : i64, "
        f'element = "{element}", swizzle = "128B"}}'
    )
    arguments = f"%x: memref<?x?xi8>, %m: !llvm.ptr {{smem.tensor_map = {tensor_map}}}"
    manifest = mlir_smem.compile(module(kernel("", arguments=arguments)), emit="nvvm").manifest
    assert manifest["kernels"][0]["arguments"][0]["alignment"] == size


def test_strides_that_contradict_the_alignment():
    # The cast hides the stride from the copy, whose verifier would refuse it.
    tile = "!smem.tile<tensor<64x16xi8>, #smem.auto>"
    hidden = "memref<64x16xi8, strided<[?, 1]>>"
    body = f"""
      %s = memref.subview %x[0, 0] [64, 16] [1, 1]
        : memref<64x24xi8> to memref<64x16xi8, strided<[24, 1]>>
      %y = memref.cast %s : memref<64x16xi8, strided<[24, 1]>> to {hidden}
      %t = "smem.alloc"() : () -> {tile}
      "smem.copy"(%y, %t) : ({hidden}, {tile}) -> ()"""
    with pytest.raises(CompileError) as error:
        alignment(body, "memref<64x24xi8>")
    assert (
        "accesses 16 bytes of X at a time, but memref<64x24xi8> has the stride 24 bytes along "
        "dimension 0; expected a multiple of 16"
    ) in str(error.value)
    assert str(error.value).startswith("'llvm.load' at 9:")


def test_an_argument_with_an_offset():
    with pytest.raises(CompileError) as error:
        alignment("", "memref<4x8xf32, strided<[8, 1], offset: 4>>")
    assert (
        "takes X of type memref<4x8xf32, strided<[8, 1], offset: 4>>, which begins 4 elements after "
        "its address; hosts pass the address of the first element: expected offset: ?, or none"
    ) in str(error.value)


def test_a_kernel_with_a_narrow_output_runs():
    type_ = "memref<64x8xi8>"
    text = module(kernel(fill_and_store(type_, "%O"), arguments=f'%O: {type_} {{smem.name = "O"}}'))
    compiled = mlir_smem.compile(text, emit="nvvm")
    output = run_on_cpu(compiled, None, {}, ["O"], (1, 1, 1))["O"]
    assert np.array_equal(output, np.full((64, 8), 7, np.int8))
