"""math ops as instructions, and calls of what nobody defines, at their places."""

import re

import pytest

import mlir_smem
from mlir_smem.codegen import CompileError


def kernel(op, type_="f32", symbols=""):
    """A kernel that stores what an op makes of %a, %b, %c; the op stands in line 6, column 3."""
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
    """The instructions of the PTX, after the operands are there; ptxas takes them."""
    ptx = mlir_smem.compile(kernel(op, type_)).ptx
    names = re.findall(r"^\t([a-z][\w.]+)\s", ptx, re.M)
    assert ".extern" not in ptx
    skipped = ("ld.", "st.", "ret", "add.", "mov.")
    return [name for name in names if not name.startswith(skipped)]


def refused(op, type_="f32", symbols=""):
    """What is said of an op that cannot be compiled."""
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
    found = instructions(op, type_)
    if name == "sqrt.rn" and "16" in type_:
        assert [x for x in found if not x.startswith("cvt.")] == ["sqrt.rn.f32"]
    else:
        assert len(found) == 1
        assert re.fullmatch(rf"{re.escape(name)}\.{type_}(\.{type_})?", found[0])


@pytest.mark.parametrize("op", ["math.copysign %a, %b", "math.round %a"])
@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64"])
def test_exact_ops_of_several_instructions(op, type_):
    assert instructions(op, type_)


APPROXIMATIONS = [
    ("math.exp2 %a", "", ["ex2.approx.f32"]),
    ("math.exp2 %a", "afn", ["ex2.approx.f32"]),
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
def test_approximations_of_16_bits_are_of_f32(type_):
    found = instructions("math.tanh %a fastmath<afn>", type_)
    assert [x for x in found if not x.startswith("cvt.")] == ["tanh.approx.f32"]


@pytest.mark.parametrize("type_", ["vector<2xf32>", "vector<2x2xf32>"])
@pytest.mark.parametrize("op", ["math.exp2 %a", "math.fma %a, %b, %c"])
def test_vectors_go_element_by_element(op, type_):
    # The elements are the same here, so LLVM computes one.
    name = "ex2.approx.f32" if "exp2" in op else "fma.rn.f32"
    assert instructions(op, type_) == [name]


def test_the_elements_of_a_vector_stay_in_their_places():
    text = kernel("math.exp2 %v", "vector<2xf32>").replace(
        "  %r =", "  %v = vector.from_elements %a0, %b0 : vector<2xf32>\n  %r ="
    )
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    first = re.search(r"ld\.param\S+\s+(%r\d+), \[k_param_0\]", ptx)[1]
    result = re.search(rf"ex2\.approx\.f32\s+(%r\d+), {first};", ptx)[1]
    assert re.search(r"st\.global\.v2\S+\s+\[\S+\], \{(%r\d+),", ptx)[1] == result


ASKING = {
    "math.exp %a": "ex2.approx",
    "math.log2 %a": "lg2.approx",
    "math.log %a": "lg2.approx",
    "math.log10 %a": "lg2.approx",
    "math.powf %a, %b": "lg2.approx and ex2.approx",
    "math.tanh %a": "tanh.approx",
    "math.sin %a": "sin.approx",
    "math.cos %a": "cos.approx",
}


@pytest.mark.parametrize("flags", ["", " fastmath<nnan,contract>"])
@pytest.mark.parametrize("op, instruction", ASKING.items())
def test_an_approximation_must_be_allowed(op, instruction, flags):
    assert refused(op + flags) == (
        f"'{op.split()[0]}' at 6:8 needs CUDA's libdevice, which is not linked; fastmath<afn> makes "
        f"it {instruction}"
    )


def test_an_approximation_of_f64():
    assert refused("math.exp2 %a", "f64") == "'math.exp2' at 6:8 is of f64; ex2.approx is of f32"


@pytest.mark.parametrize(
    "op, callee",
    [
        ("math.erf %a", "__nv_erff"),
        ("math.atan %a", "__nv_atanf"),
        ("arith.remf %a, %b", "__nv_fmodf"),
    ],
)
def test_what_only_libdevice_has(op, callee):
    assert refused(op) == (
        f"'llvm.call' at 6:8 calls '{callee}' of CUDA's libdevice, which is not linked"
    )


def test_a_function_that_nobody_defines():
    declared = "llvm.func @elsewhere(f32) -> f32"
    said = refused("llvm.call @elsewhere(%a) : (f32) -> f32\n  %q = math.absf %a", symbols=declared)
    assert said == "'llvm.call' at 6:8 calls 'elsewhere', which nothing defines"


def test_functions_that_are_defined_may_be_called():
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


def test_an_intrinsic_that_the_code_generator_does_not_know():
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
    assert str(error.value).startswith(
        "'llvm.nvvm.bf16x2.to.e4m3x2.rn.satfinite' is an intrinsic that the LLVM of llvmlite "
    )
    assert str(error.value).endswith(" does not know for sm_90a")
