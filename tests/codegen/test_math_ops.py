"""math ops that become instructions or are refused; calls of undefined functions."""

import re

import pytest
from bindings_at_hand import NVPTX, by_nvptx

import mlir_smem
from mlir_smem.codegen import CompileError


def kernel(op, type_="f32", symbols=""):
    """Return a kernel that stores the result of an op on %a, %b, %c; the op is in line 6, column 3."""
    element = type_.split("x")[-1].rstrip(">")
    lines = [
        f"gpu.module @m {{ {symbols}",
        "gpu.func @k(" + ", ".join(f"%{x}0: {element}" for x in "abc") + ", %to: i64) kernel {",
    ]
    if "vector" in type_:
        lines += [f"  %{x} = vector.broadcast %{x}0 : {element} to {type_}" for x in "abc"]
    else:
        lines += [f"  %{x} = arith.addf %{x}0, %{x}0 : {element}" for x in "abc"]
    lines += [
        f"  %r = {op} : {type_}",
        "  %p = llvm.inttoptr %to : i64 to !llvm.ptr<1>",
    ]
    if "2x2" in type_:
        lines += [f"  %s = vector.shape_cast %r : {type_} to vector<4x{element}>"]
        lines += [f"  llvm.store %s, %p : vector<4x{element}>, !llvm.ptr<1>"]
    else:
        lines += [f"  llvm.store %r, %p : {type_}, !llvm.ptr<1>"]
    return "\n".join([*lines, "  gpu.return", "}", "}"])


def instructions(op, type_="f32"):
    """Return the PTX instructions after the loads of the operands; ptxas accepts them."""
    ptx = mlir_smem.compile(kernel(op, type_)).ptx
    names = re.findall(r"^\t([a-z][\w.]+)\s", ptx, re.M)
    assert ".extern" not in ptx
    skipped = ("ld.", "st.", "ret", "add.", "mov.")
    return [name for name in names if not name.startswith(skipped)]


def refusal(op, type_="f32", symbols=""):
    """Return the error of an op that cannot be compiled."""
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(kernel(op, type_, symbols), emit="llvm")
    return str(error.value)


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    "op, name",
    [
        ("math.absf %a", "abs"),
        ("math.fma %a, %b, %c", "fma.rn"),
        ("math.floor %a", "cvt.rmi"),
        ("math.ceil %a", "cvt.rpi"),
        ("math.trunc %a", "cvt.rzi"),
        ("math.roundeven %a", "cvt.rni"),
        ("math.sqrt %a", "sqrt.rn"),
        ("arith.maxnumf %a, %b", "max"),
        ("arith.minnumf %a, %b", "min"),
    ],
)
def test_exact_ops(op, name, type_):
    opcodes = instructions(op, type_)
    if name == "sqrt.rn" and "16" in type_:
        assert [x for x in opcodes if not x.startswith("cvt.")] == ["sqrt.rn.f32"]
    else:
        assert len(opcodes) == 1
        assert re.fullmatch(rf"{re.escape(name)}\.{type_}(\.{type_})?", opcodes[0])


@pytest.mark.parametrize("op", ["math.copysign %a, %b", "math.round %a"])
@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64"])
def test_exact_ops_of_several_instructions(op, type_):
    assert instructions(op, type_)


APPROXIMATIONS = [
    ("math.exp2 %a", "", ["ex2.approx.f32"]),
    ("math.exp2 %a", "afn", ["ex2.approx.ftz.f32"]),
    ("math.rsqrt %a", "", ["rsqrt.approx.f32"]),
    ("math.exp %a", "afn", ["mul.rn.f32", "ex2.approx.f32"]),
    ("math.exp %a", "fast", ["mul.rn.f32", "ex2.approx.f32"]),
    ("math.exp %a", "nnan,afn", ["mul.rn.f32", "ex2.approx.f32"]),
    ("math.log2 %a", "afn", ["lg2.approx.f32"]),
    ("math.log %a", "afn", ["lg2.approx.f32", "mul.rn.f32"]),
    ("math.log10 %a", "afn", ["lg2.approx.f32", "mul.rn.f32"]),
    ("math.powf %a, %b", "afn", ["lg2.approx.f32", "mul.rn.f32", "ex2.approx.f32"]),
    ("math.tanh %a", "afn", ["tanh.approx.f32"]),
    ("math.sin %a", "afn", ["sin.approx.f32"]),
    ("math.cos %a", "afn", ["cos.approx.f32"]),
    ("math.sqrt %a", "afn", ["sqrt.approx.f32"]),
]


@pytest.mark.parametrize("op, flags, names", APPROXIMATIONS)
def test_approximations(op, flags, names):
    assert instructions(f"{op} fastmath<{flags}>" if flags else op) == names


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_16_bit_approximations_are_computed_in_f32(type_):
    opcodes = instructions("math.tanh %a fastmath<afn>", type_)
    assert [x for x in opcodes if not x.startswith("cvt.")] == ["tanh.approx.f32"]


@pytest.mark.parametrize("type_", ["vector<2xf32>", "vector<2x2xf32>"])
@pytest.mark.parametrize("op", ["math.exp2 %a", "math.fma %a, %b, %c"])
def test_vectors_go_element_by_element(op, type_):
    # The elements are the same here, so LLVM computes one.
    name = "ex2.approx.f32" if "exp2" in op else "fma.rn.f32"
    assert instructions(op, type_) == [name]


def test_elements_of_a_vector_keep_their_positions():
    text = kernel("math.exp2 %v", "vector<2xf32>").replace(
        "  %r =", "  %v = vector.from_elements %a0, %b0 : vector<2xf32>\n  %r ="
    )
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    first = re.search(r"ld\.param\S+\s+(%r\d+), \[k_param_0\]", ptx)[1]
    result = re.search(rf"ex2\.approx\.f32\s+(%r\d+), {first};", ptx)[1]
    assert re.search(r"st\.global\.v2\S+\s+\[\S+\], \{(%r\d+),", ptx)[1] == result


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("op", ["isfinite", "isinf", "isnan", "isnormal"])
def test_classes_of_numbers(op, type_):
    text = kernel(f"math.{op} %a", type_).replace(
        f"llvm.store %r, %p : {type_}", "llvm.store %r, %p : i1"
    )
    assert ".extern" not in mlir_smem.compile(text).ptx


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64", "vector<2xi32>"])
@pytest.mark.parametrize("op", ["absi", "ctlz", "ctpop", "cttz"])
def test_integers(op, type_):
    ptx = mlir_smem.compile(integer_kernel(f"math.{op} %a", type_)).ptx
    assert ".extern" not in ptx


@pytest.mark.parametrize(
    "op, name", [("absi", "abs.s64"), ("ctlz", "clz.b64"), ("ctpop", "popc.b64")]
)
def test_an_index(op, name):
    assert f"\t{name} " in mlir_smem.compile(integer_kernel(f"math.{op} %a", "index")).ptx


def integer_kernel(op, type_):
    """Return a kernel that stores the result of an op on %a."""
    element = type_.split("x")[-1].rstrip(">") if "vector" in type_ else type_
    operand = (
        f"vector.broadcast %x : {element} to {type_}"
        if "vector" in type_
        else f"arith.addi %x, %x : {type_}"
    )
    stored = "%s" if type_ == "index" else "%r"
    lines = [
        "gpu.module @m {",
        f"gpu.func @k(%x: {element}, %to: !llvm.ptr<1>) kernel {{",
        f"  %a = {operand}",
        f"  %r = {op} : {type_}",
        "  %s = arith.index_cast %r : index to i64" if type_ == "index" else "",
        f"  llvm.store {stored}, %to : {'i64' if type_ == 'index' else type_}, !llvm.ptr<1>",
    ]
    return "\n".join([*lines, "  gpu.return", "}", "}"])


def test_a_clamp_is_a_minimum_and_a_maximum():
    assert instructions("math.clampf %a to [%b, %c]") == ["min.NaN.f32", "max.NaN.f32"]


@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10", "sin", "cos", "tanh", "sqrt"])
def test_equivalent_ops_of_the_llvm_dialect(name):
    op = f"llvm.intr.{name}(%a) {{fastmathFlags = #llvm.fastmath<afn>}} : (f32) -> f32 //"
    assert instructions(op) == instructions(f"math.{name} %a fastmath<afn>")


@pytest.mark.parametrize(
    "op, same",
    [
        ("llvm.intr.fabs(%a)", "math.absf %a"),
        ("llvm.intr.floor(%a)", "math.floor %a"),
        ("llvm.intr.rint(%a)", "math.roundeven %a"),
        ("llvm.intr.nearbyint(%a)", "math.roundeven %a"),
        ("llvm.intr.tan(%a)", "math.tan %a"),
        ("llvm.intr.exp(%a)", "math.exp %a"),
        ("llvm.intr.pow(%a, %b)", "math.powf %a, %b"),
        ("llvm.intr.atan2(%a, %b)", "math.atan2 %a, %b"),
        ("llvm.frem %a, %b", "arith.remf %a, %b"),
    ],
)
def test_intrinsics_of_the_llvm_dialect(op, same):
    if op.startswith("llvm.intr"):
        op += f" : ({', '.join(['f32'] * op.count('%'))}) -> f32 //"
    assert instructions(op) == instructions(same)


@pytest.mark.parametrize("type_", ["f80", "f128", "f8E4M3FN"])
@pytest.mark.parametrize("op", ["math.rsqrt", "math.sqrt", "math.erf", "math.isnan"])
def test_types_without_a_library(op, type_):
    result = "i1" if op == "math.isnan" else type_
    text = f"""gpu.module @m {{
gpu.func @k(%x: memref<1x{type_}>, %y: memref<1x{result}>) kernel {{
  %zero = arith.constant 0 : index
  %a = memref.load %x[%zero] : memref<1x{type_}>
  %r = {op} %a : {type_}
  memref.store %r, %y[%zero] : memref<1x{result}>
  gpu.return
}}
}}"""
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, emit="llvm")
    assert str(error.value) == f"'{op}' at 5:8 is of {type_}; math is of f16, bf16, f32, f64"


def test_scalable_vectors():
    text = kernel("math.erf %v", "f32").replace(
        "  %r = math.erf %v : f32",
        "  %v = vector.broadcast %a : f32 to vector<[4]xf32>\n  %r = math.erf %v : vector<[4]xf32>",
    )
    text = text.replace("llvm.store %r, %p : f32", "llvm.store %a, %p : f32")
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, emit="llvm")
    assert str(error.value) == (
        "'math.erf' at 7:8 is of vector<[4]xf32>; a kernel has no vectors of unknown length"
    )


def test_powers_of_integers():
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(integer_kernel("math.ipowi %a, %a", "i32"), emit="llvm")
    assert str(error.value) == (
        "'math.ipowi' at 4:8 has no lowering: neither PTX nor libdevice has powers of integers; "
        "multiply with arith.muli, or take math.fpowi of a float"
    )


def test_an_exponent_that_libdevice_does_not_take():
    text = kernel("math.fpowi %a, %to : f32, i64 //")
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, emit="llvm")
    assert str(error.value) == "'math.fpowi' at 6:8 has an exponent of i64; libdevice takes i32"


@pytest.mark.parametrize("exponent, type_", [(2, "i64"), (8, "i8"), (-3, "i64"), (100, "i16")])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_constant_exponents(exponent, type_, element):
    """They may be of any type; the small ones are products."""
    text = kernel(f"math.fpowi %a, %n : {element}, {type_} //", element)
    text = text.replace("  %r =", f"  %n = arith.constant {exponent} : {type_}\n  %r =")
    llvm = mlir_smem.compile(text, emit="llvm").llvm
    assert llvm.count("fmul") == {2: 1, 8: 3}.get(exponent, llvm.count("fmul"))
    assert ("__nv_powif" in llvm) == (exponent not in (2, 8))


def test_an_undefined_function():
    declared = "llvm.func @elsewhere(f32) -> f32"
    message = refusal(
        "llvm.call @elsewhere(%a) : (f32) -> f32\n  %q = math.absf %a", symbols=declared
    )
    assert message == "'llvm.call' at 6:8 calls 'elsewhere', which nothing defines"


def test_defined_functions_may_be_called():
    defined = """llvm.func @here(%x: f32) -> f32 {
      %y = llvm.fadd %x, %x : f32
      llvm.return %y : f32 }"""
    text = kernel("llvm.call @here(%a) : (f32) -> f32\n  %q = math.absf %a", symbols=defined)
    assert mlir_smem.compile(text).cubin


def test_functions_of_the_driver_may_be_called():
    text = kernel("math.absf %a").replace(
        "  gpu.return", '  gpu.printf "%f\\0A", %a : f32\n  gpu.return'
    )
    assert mlir_smem.compile(text).cubin


def test_an_intrinsic_that_llvm_does_not_know():
    op = """nvvm.convert.bf16x2.to.f8x2 %v {rnd = #nvvm.fp_rnd_mode<rn>, \
sat = #nvvm.sat_mode<satfinite>} : vector<2xbf16> -> i16 (f8E4M3FN)"""
    text = kernel("arith.addf %a, %b", "bf16").replace(
        "  gpu.return",
        f"""  %v = vector.from_elements %a, %b : vector<2xbf16>
      %q = {op}
      llvm.store %q, %p : i16, !llvm.ptr<1>
      gpu.return""",
    )
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, emit="ptx")
    unknown = "llvm.nvvm.bf16x2.to.e4m3x2.rn.satfinite"
    assert str(error.value) == "'llvm.func' at 2:1 cannot be compiled; " + by_nvptx(
        llvmlite=f"'{unknown}' is an intrinsic that the LLVM of {NVPTX} does not know for sm_90a",
        bindings=f"LLVM aborts: LLVM ERROR: Cannot select: intrinsic %{unknown}",
    )
