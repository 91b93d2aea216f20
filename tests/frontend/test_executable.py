"""Programs of the host, compiled and run with the emulator in the GPU's stead."""

import ctypes
import gc
import threading

import ml_dtypes
import numpy as np
import pytest
from host_programs import DYNAMIC, STATIC, copying, kernels

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.codegen import CompileError
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.host_runtime import LaunchedKernel
from mlir_smem.runtime import LaunchError

BF16 = np.dtype(ml_dtypes.bfloat16)

#: Each CTA has one thread, which doubles an element.
TWICE = """
  gpu.module @kernels {
    gpu.func @twice(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %i = gpu.block_id x
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<?xf32>
      gpu.return
    }
  }
"""

LAUNCH = """gpu.launch_func @kernels::@twice blocks in (%n, %one, %one) threads in (%one, %one, %one)
      args({} : memref<?xf32>)"""


def matrix(rows, dtype=BF16):
    return np.random.default_rng(rows).normal(size=(rows, 64)).astype(dtype)


def host(arguments, body, results="", more=""):
    """A program whose `main` has constants and the extent `%n` of `%x`."""
    return f"""module attributes {{gpu.container_module}} {{{TWICE}{more}
  func.func @main({arguments}) {results} {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = memref.dim %x, %zero : memref<?xf32>
    {body}
  }}
}}"""


@pytest.mark.parametrize("type_, rows", [(STATIC, 128), (DYNAMIC, 64), (DYNAMIC, 192)])
def test_kernels_with_tensor_maps(type_, rows):
    program = Executable(copying(type_), on="cpu")
    x, y = matrix(rows), np.zeros((rows, 64), BF16)
    assert program(x, y) is None
    assert np.array_equal(x, y)
    assert program.entry == "main" and list(program.kernels) == ["kernels"]


def test_rows_that_are_not_adjacent():
    program = Executable(copying(DYNAMIC), on="cpu")
    x, wide = matrix(128), np.zeros((128, 128), BF16)
    program(x, wide[:, 64:])
    assert np.array_equal(x, wide[:, 64:]) and not wide[:, :64].any()


def test_two_modules_and_two_kernels_of_one_name():
    # Equal kernels would be one.
    others = kernels(DYNAMIC, "others").replace(
        "%b = gpu", "%more = arith.constant 7 : i32\n%b = gpu"
    )
    text = copying(DYNAMIC).replace("func.func", others + "\n  func.func", 1)
    again = text[text.index("gpu.launch_func") : text.index("    return")]
    text = text.replace(
        "    return", again.replace("@kernels", "@others").replace("%x :", "%y :") + "    return"
    )
    program = Executable(text, on="cpu")
    assert sorted(program.kernels) == ["kernels", "others"]
    x, y = matrix(64), np.zeros((64, 64), BF16)
    program(x, y)
    assert np.array_equal(x, y)


def test_parameters_that_are_elsewhere():
    """Upstream stores all parameters of a launch to one structure; another version may not."""
    program = Executable(copying(STATIC), on="cpu")
    kernel = LaunchedKernel(program.kernels["kernels"], "copy")
    words = (ctypes.c_int64 * 14)(*range(14))
    address = ctypes.addressof(words)
    pointers = (ctypes.c_void_p * 14)(*(address + 8 * place for place in range(14)))
    x, y = kernel.arguments(ctypes.addressof(pointers))
    assert (x.pointer, x.shape, x.strides) == (1 + 2 * 2, (3, 4), (5, 6))
    assert (y.pointer, y.shape, y.strides) == (8 + 9 * 2, (10, 11), (12, 13))
    pointers[3] += 8
    kernel = LaunchedKernel(program.kernels["kernels"], "copy")
    with pytest.raises(LaunchError, match=r"of copy at the offsets \[0, 8, 16, 32, 32"):
        kernel.arguments(ctypes.addressof(pointers))


def test_memory_and_results():
    body = f"""
    %a = memref.alloc(%n) : memref<?xf32>
    %b = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    memref.copy %x, %b : memref<?xf32> to memref<?xf32>
    memref.dealloc %b : memref<?xf32>
    {LAUNCH.format("%a")}
    return %a, %n, %x : memref<?xf32>, index, memref<?xf32>"""
    results = "-> (memref<?xf32>, index, memref<?xf32>)"
    program = Executable(host("%x: memref<?xf32>", body, results), on="cpu")
    x = np.arange(5, dtype=np.float32)
    doubled, count, same = program(x)
    gc.collect()
    assert doubled.tolist() == [0, 2, 4, 6, 8] and count == 5 and same is x
    assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "type_, number",
    [("index", 7), ("i64", -7), ("i32", 7), ("i8", -7), ("i1", True), ("f64", 0.1), ("f32", 0.5)],
)
def test_numbers(type_, number):
    program = Executable(
        f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}", on="cpu"
    )
    assert program(number) == number
    assert program(np.array(number)[()]) == number


def test_a_kernel_in_a_loop_and_in_a_branch():
    body = f"""
    %two = arith.constant 2 : index
    scf.for %i = %zero to %two step %one {{
      {LAUNCH.format("%x")}
    }}
    scf.if %more {{
      {LAUNCH.format("%x")}
    }}
    return"""
    program = Executable(host("%x: memref<?xf32>, %more: i1", body), on="cpu")
    x = np.ones(2, np.float32)
    program(x, False)
    assert x.tolist() == [4, 4]
    program(x, True)
    assert x.tolist() == [32, 32]


def test_a_launch_with_its_body():
    body = """
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %v = memref.load %x[%bx] : memref<?xf32>
      %w = arith.negf %v : f32
      memref.store %w, %x[%bx] : memref<?xf32>
      gpu.terminator
    }
    return"""
    x = np.arange(3, dtype=np.float32)
    Executable(host("%x: memref<?xf32>", body), on="cpu")(x)
    assert x.tolist() == [0, -1, -2]


def test_a_module_is_not_changed():
    with new_context():
        module = ir.Module.parse(copying(STATIC))
        before = str(module)
        Executable(module, on="cpu")
        assert str(module) == before


def test_from_several_threads():
    program = Executable(copying(DYNAMIC), on="cpu")
    arrays = [(matrix(64 * n), np.zeros((64 * n, 64), BF16)) for n in (1, 2, 3, 4)]
    threads = [threading.Thread(target=program, args=pair) for pair in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(x, y) for x, y in arrays)


@pytest.mark.torch
def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    body = f"""
    %a = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
    {LAUNCH.format("%a")}
    return %a : memref<?xf32>"""
    program = Executable(host("%x: memref<?xf32>", body, "-> memref<?xf32>"), on="cpu")
    x = torch.arange(3, dtype=torch.float32)
    doubled = program(x)
    assert isinstance(doubled, torch.Tensor) and doubled.tolist() == [0, 2, 4]
    copy = Executable(copying(STATIC), on="cpu")
    rows, target = torch.randn(128, 64).bfloat16(), torch.zeros(128, 64).bfloat16()
    copy(rows, target)
    assert torch.equal(rows, target)


ASSERTING = host(
    "%x: memref<?xf32>",
    f"""%holds = arith.cmpi ne, %n, %one : index
    cf.assert %holds, "more than one element"
    {LAUNCH.format("%x")}
    return""",
)


def test_an_assertion_that_fails_is_an_exception():
    program = Executable(ASSERTING, on="cpu")
    x = np.ones(1, np.float32)
    with pytest.raises(LaunchError, match="the program's assertion fails: more than one element"):
        program(x)
    assert x.tolist() == [1], "no kernel is launched after it"
    program(two := np.ones(2, np.float32))
    assert two.tolist() == [2, 2]


COPY = copying(DYNAMIC)
PART = host(
    "%x: memref<?xf32>",
    """%part = memref.subview %x[1] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: 1>>
    return %part : memref<1xf32, strided<[1], offset: 1>>""",
    "-> memref<1xf32, strided<[1], offset: 1>>",
)


@pytest.mark.parametrize(
    "text, arguments, message",
    [
        (COPY, (), "main takes 2 arguments, but 0 are given"),
        (
            COPY,
            (matrix(64), matrix(64, np.float32)),
            "argument 1 has elements of f32; expected bf16",
        ),
        (COPY, (matrix(64)[0], matrix(64)), "argument 0 has 1 dimensions; expected 2"),
        (COPY, (matrix(64)[:, :32], matrix(64)), "extent 32 along dimension 1; expected 64"),
        (
            COPY,
            (matrix(64).T.copy().T, matrix(64)),
            r"the stride 64 \(elements\) along dimension 1; expected 1",
        ),
        (COPY, (matrix(64)[::-1], matrix(64)), r"the stride -64 \(elements\) along dimension 0"),
        (COPY, ([[1]], matrix(64)), "argument 0 has elements of i64; expected bf16"),
        (PART, (np.ones(2, np.float32),), "in no memory that the program allocated"),
        ("func.func @main(%x: i8) { return }", (300,), "argument 0 is 300, which i8 does not hold"),
        ("func.func @main(%x: i32) { return }", ("3",), "is str; expected a number of type i32"),
        ("func.func @main(%x: f32) { return }", (1e39,), "is 1e[+]39, which f32 does not hold"),
        (
            "func.func @main(%x: i32) { return }",
            (np.float32(0.5),),
            "expected a number of type i32",
        ),
    ],
)
def test_arguments_that_do_not_fit(text, arguments, message):
    with pytest.raises(LaunchError, match=message):
        Executable(text, on="cpu")(*arguments)


def test_what_a_kernel_refuses_is_an_exception():
    program = Executable(copying(DYNAMIC), on="cpu")
    wide = np.zeros((64, 68), BF16)
    with pytest.raises(LaunchError, match="stride"):
        program(wide[:, :64], matrix(64))


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "func.func @f() { return } func.func @g() { return }",
            "name a function; the program has f, g",
        ),
        ("func.func private @f()", "name a function; the program has none"),
        (
            "func.func @f(%x: memref<f32>) -> f32 "
            "{ %y = memref.load %x[] : memref<f32> return %y : f32 }",
            "only a CPU can run it",
        ),
        (
            "func.func @f(%x: memref<2xf32>) { memref.cast %x : memref<2xf32> to memref<*xf32> return }",
            "expected memrefs of known rank",
        ),
    ],
)
def test_programs_that_are_refused(text, message):
    with pytest.raises(CompileError, match=message):
        Executable(text, on="cpu")


def test_copies_between_strides_are_kernels():
    program = """!from = memref<?x2xf32, strided<[6, 2], offset: 1>>
!to = memref<?x2xf32, strided<[6, 3], offset: 6>>
func.func @f(%x: memref<?x6xf32>, %y: memref<?x6xf32>, %n: index) {
  %from = memref.subview %x[0, 1][%n, 2][1, 2] : memref<?x6xf32> to !from
  %to = memref.subview %y[1, 0][%n, 2][1, 3] : memref<?x6xf32> to !to
  memref.copy %from, %to : !from to !to
  return
}"""
    x, y = np.arange(60, dtype=np.float32).reshape(10, 6), np.zeros((10, 6), np.float32)
    Executable(program, on="cpu")(x, y, 7)
    expected = np.zeros_like(y)
    expected[1:8, 0:4:3] = x[:7, 1:5:2]
    assert np.array_equal(y, expected)


def test_the_host_runs_what_no_kernel_does():
    program = """!row = memref<3xf32, strided<[1], offset: 3>>
memref.global "private" constant @weights : memref<2x3xf32> =
  dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
func.func @f(%x: memref<2x3xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @weights : memref<2x3xf32>
  %row = memref.subview %x[1, 0][1, 3][1, 1] : memref<2x3xf32> to !row
  %of = memref.subview %w[1, 0][1, 3][1, 1] : memref<2x3xf32> to !row
  linalg.add ins(%row, %of : !row, !row)
    outs(%row : !row)
  %sum = memref.load %row[%c1] : !row
  memref.store %sum, %x[%c1, %c1] : memref<2x3xf32>
  return %sum : f32
}"""
    with pytest.raises(CompileError, match="only a CPU can run it; make a kernel of it, or"):
        Executable(program, on="cpu")
    remarks = []
    with remark_handler(lambda _, message: remarks.append(message)):
        executable = Executable(program, on="cpu", mixed=True)
    x = np.ones((2, 3), np.float32)
    assert executable(x) == 6
    assert x.tolist() == [[1, 1, 1], [5, 6, 7]]
    assert remarks == ["'memref.load' runs on the CPU, on copies of memref<2x3xf32>"]


@pytest.mark.parametrize("type_", ["memref<2xcomplex<f32>>", "f16", "vector<2xf32>"])
def test_types_that_no_argument_has(type_):
    with pytest.raises(LaunchError, match="argument 0 is of type"):
        Executable(f"func.func @f(%x: {type_}) {{ return }}", on="cpu")


def test_entries_and_machines():
    one = "%c = arith.constant 1 : i32 return %c : i32"
    two = f"func.func @f() -> i32 {{ {one} }} func.func @g() {{ return }}"
    assert Executable(two, "f", on="cpu")() == 1
    with pytest.raises(CompileError, match="no public function with a body is named 'h'"):
        Executable(two, "h", on="cpu")
    with pytest.raises(ValueError, match="unknown machine 'tpu'; expected gpu or cpu"):
        Executable(two, "f", on="tpu")
    with pytest.raises(TypeError, match=r"expected an ir\.Module"):
        Executable(3)
    with pytest.raises(LaunchError, match="takes no array"):
        Executable(two, "f")()


def test_types_that_no_cpu_computes_with():
    layout = "memref<4x4xf32, affine_map<(i, j) -> (j, i)>>"
    with pytest.raises(CompileError, match=r"no CPU computes with: .*affine_map<"):
        Executable(f"func.func @f(%x: {layout}) {{ return }}", on="cpu")
