"""`linalg-to-smem`: what becomes a kernel, and why other ops stay."""

import pytest
from contractions import BODY, MM, NARROW, floats, generic, ints, lower, tensors

from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.passes import OptionError, pass_named

STAYS = {
    "a map that is no permutation": (
        generic(("(m, n, k)->(m + k, k)", *MM[1:]), types=tensors((127, 64), (64, 64), (64, 64))),
        "(d0 + d2, d2)>, which is no permutation of loops",
    ),
    "a diagonal": (
        generic(("(m, n, k)->(k, k)", "(m, n, k)->(m, n, k)", MM[2]))
        .replace("%b: tensor<64x64", "%b: tensor<64x64x64")
        .replace(", tensor<64x64xbf16>)", ", tensor<64x64x64xbf16>)"),
        "a diagonal",
    ),
    "another reduction": (
        generic(body=BODY.replace("addf", "maximumf")),
        "combines products by 'arith.maximumf'",
    ),
    "no sum": (generic(body="linalg.yield %o : f32"), "sums nothing up"),
    "the sum twice": (
        generic(body="%t = arith.addf %o, %o : f32\nlinalg.yield %t : f32"),
        "does not add one product to each sum",
    ),
    "rounded products": (
        generic(
            body="%m = arith.mulf %p, %q : bf16\n%z = arith.extf %m : bf16 to f32\n"
            "%t = arith.addf %o, %z : f32\nlinalg.yield %t : f32"
        ),
        "rounds each product before it is added",
    ),
    "no product": (generic(body=floats("%z = arith.addf %x, %y : f32")), "adds 'arith.addf', not"),
    "arithmetic on an operand": (
        generic(body=floats("%w = math.exp %x : f32\n%z = arith.mulf %w, %y : f32")),
        "computes 'math.exp' of an operand before the product; make it a tensor first",
    ),
    "squares": (
        generic(body=floats("%z = arith.mulf %x, %x : f32")),
        "multiplies an operand's elements with themselves",
    ),
    "an element type": (
        generic(
            body=ints("i16", "i32"), types=tensors(*[(64, 64)] * 3, element="i16", result="i32")
        ),
        "multiplies elements of i16, which tensor cores do not",
    ),
    "unsigned": (
        generic(
            body=ints("i8", "i32", "extui"),
            types=tensors(*[(64, 64)] * 3, element="i8", result="i32"),
        ),
        "multiplies unsigned elements of i8",
    ),
    "f32": (
        generic(
            body="%z = arith.mulf %p, %q : f32\n%t = arith.addf %o, %z : f32\nlinalg.yield %t : f32",
            types=tensors(*[(64, 64)] * 3, element="f32"),
        ),
        "multiplies f32, which tensor cores round to tf32; f32=tf32 allows it",
    ),
    "sums of another type": (
        generic(body=ints("i8", "i64"), types=tensors(*[(64, 64)] * 3, element="i8", result="i64")),
        "sums products of i8 in i64; tensor cores sum them in i32",
    ),
    "a sum over one operand": (
        generic(
            ("(m, n, k, l)->(m, k)", "(m, n, k, l)->(k, n, l)", "(m, n, k, l)->(m, n)"),
            types=tensors((64, 64), (64, 64, 8), (64, 64)),
            loops="pprr",
        ),
        "sums over d3, along which only one operand has elements",
    ),
    "a broadcast result": (
        generic(
            ("(m, n, k, l)->(m, k)", "(m, n, k, l)->(k, n)", "(m, n, k, l)->(m, l, n)"),
            types=tensors((64, 64), (64, 64), (64, 8, 64)),
            loops="pprp",
        ),
        "has the loop d3, along which neither operand has elements",
    ),
    "a dot product": (
        generic(("(k)->(k)", "(k)->(k)", "(k)->()"), types=tensors((64,), (64,), ()), loops="r"),
        "has one sum, which is no matrix",
    ),
    "one dimension of both": (
        generic(
            ("(m, k)->(m, k)", "(m, k)->(m, k)", "(m, k)->(m)"),
            types=tensors((64, 64), (64, 64), (64,)),
            loops="pr",
        ),
        "has a result along one dimension, which both operands have",
    ),
    "no rows": (generic(types=tensors((0, 64), (64, 64), (0, 64))), "has an extent of 0"),
    "no products": (generic(types=tensors((64, 0), (0, 64), (64, 64))), "has an extent of 0"),
    "no rows of a configuration": (
        generic(types=tensors((0, 64), (64, 64), (0, 64))).replace(
            ") {\n  ^bb0", ") attrs = {smem.config = {}} {\n  ^bb0"
        ),
        "has an extent of 0",
    ),
    "memory that is read and written": (
        generic(
            types=("memref<64x64xbf16>", "memref<64x64xbf16>", "memref<64x64xbf16>"), body=NARROW
        ).replace("outs(%c", "outs(%a"),
        "reads the memory that it writes",
    ),
    "sums in f8": (
        generic(
            body=BODY.replace("yield %t : f32", "yield %t : f32"),
            types=tensors((64, 64), (64, 64), (64, 64), element="f8E4M3FN", result="f8E4M3FN"),
        )
        .replace("%x = arith.extf %p : bf16 to f32", "%x = arith.mulf %p, %q : f8E4M3FN")
        .replace("%y = arith.extf %q : bf16 to f32\n", "")
        .replace("%z = arith.mulf %x, %y : f32\n", "")
        .replace("%t = arith.addf %o, %z : f32", "%t = arith.addf %o, %x : f8E4M3FN")
        .replace("yield %t : f32", "yield %t : f8E4M3FN"),
        "sums products of f8E4M3FN in f8E4M3FN; tensor cores sum them in f32",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name):
    text, reason = STAYS[name]
    after, remarks = lower(text)
    assert "gpu." not in after
    (remark,) = remarks
    assert remark.startswith("'linalg.generic' stays as it is: it ")
    assert reason in remark
    # Nothing is changed.
    with new_context():
        assert str(ir.Module.parse(after)) == str(parse_module(text))


def behind(body, more="", types=("f32", "f32"), maps=None, result="tensor<64x64xf32>", outs="%e"):
    """A product, and an element-wise op behind it."""
    maps = maps or ("(m, n)->(m, n)",) * 2
    of_maps = ", ".join(f"affine_map<{expression}>" for expression in maps)
    loops = maps[0].split("->")[0].count(",") + 1
    kinds = ", ".join(['"parallel"'] * loops)
    return f"""#mk = affine_map<(m, n, k)->(m, k)>
#kn = affine_map<(m, n, k)->(k, n)>
#mn = affine_map<(m, n, k)->(m, n)>
func.func @f(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %s: f32) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.generic {{indexing_maps = [#mk, #kn, #mn],
    iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {{
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    {BODY}
  }} -> tensor<64x64xf32>
  {more}
  %e = tensor.empty() : {result}
  %g = linalg.generic {{indexing_maps = [{of_maps}], iterator_types = [{kinds}]}}
    ins(%d : tensor<64x64xf32>) outs({outs} : {result}) {{
  ^bb0(%p: {types[0]}, %q: {types[1]}):
    {body}
  }} -> {result}
  return %g : {result}
}}"""


EXP = "%x = math.exp %p : f32\nlinalg.yield %x : f32"
NOT_FUSED = {
    "two users": (
        behind(EXP, "%u = linalg.exp ins(%d : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) -> "
               "tensor<64x64xf32>"),
        "reads a product that has 2 uses; an epilogue is the only one",
    ),
    "a broadcast product": (
        behind(EXP, maps=("(l, m, n)->(m, n)", "(l, m, n)->(l, m, n)"), result="tensor<8x64x64xf32>"),
        "broadcasts the product, so each sum is needed more than once",
    ),
    "a value from outside": (
        behind("%x = arith.mulf %p, %s : f32\nlinalg.yield %x : f32"),
        "has a body that uses %arg2, which is defined outside of it",
    ),
    "f64": (
        behind("%x = arith.extf %p : f32 to f64\n%y = math.exp %x : f64\n"
               "%z = arith.truncf %y : f64 to f32\nlinalg.yield %z : f32"),
        "has a body with 'arith.extf' of f64; kernels compute in f32",
    ),
    "an op": (
        behind("%c7 = arith.constant 7 : index\n%x = tensor.extract %a[%c7, %c7] : tensor<64x64xbf16>\n"
               "%y = arith.extf %x : bf16 to f32\nlinalg.yield %y : f32"),
        "has a body with 'tensor.extract'; expected ops of arith and math",
    ),
    "a power": (
        behind("%n = arith.constant 9 : i64\n%x = math.fpowi %p, %n : f32, i64\nlinalg.yield %x : f32"),
        "has a body with 'math.fpowi' of exponent 9; expected 1 to 8",
    ),
    "an unknown power": (
        behind("%n = arith.fptosi %p : f32 to i32\n%x = math.fpowi %p, %n : f32, i32\n"
               "linalg.yield %x : f32"),
        "has a body with 'math.fpowi' of an exponent that is no constant",
    ),
    "an element type": (
        behind("%x = arith.fptosi %p : f32 to i5\n%y = arith.sitofp %x : i5 to f32\n"
               "linalg.yield %y : f32"),
        "has a body with 'arith.fptosi' of i5, a type that kernels do not compute",
    ),
    "saturation": (
        behind("%x = arith.truncf %p : f32 to f8E4M3FN\nlinalg.yield %x : f8E4M3FN",
               types=("f32", "f8E4M3FN"), result="tensor<64x64xf8E4M3FN>"),
        "rounds to f8E4M3FN: the hardware's conversion saturates, where linalg's does not; math=approx",
    ),
    "a wide integer": (
        behind("%x = arith.fptosi %p : f32 to i32\n%y = arith.sitofp %x : i32 to bf16\n"
               "%z = arith.extf %y : bf16 to f32\nlinalg.yield %z : f32"),
        "has a body with 'arith.sitofp' of 32-bit integers to bf16; expected f32",
    ),
    "bits": (
        behind("%x = arith.truncf %p : f32 to bf16\n%y = arith.bitcast %x : bf16 to i16\n"
               "%z = arith.sitofp %y : i16 to f32\nlinalg.yield %z : f32"),
        "has a body with 'arith.bitcast' of bf16",
    ),
    "a result type": (
        behind("%x = arith.fptosi %p : f32 to i16\nlinalg.yield %x : i16",
               types=("f32", "i16"), result="tensor<64x64xi16>"),
        "makes a tensor of i16; a kernel stores i32 or i8",
    ),
    "a result of bits": (
        behind("%x = arith.cmpf ogt, %p, %p : f32\nlinalg.yield %x : i1",
               types=("f32", "i1"), result="tensor<64x64xi1>"),
        "makes a tensor of i1; a kernel stores i32 or i8 or ui8",
    ),
    "a result that is read": (
        behind("%x = arith.addf %p, %q : f32\nlinalg.yield %x : f32", outs="%d"),
        "reads a product that has 2 uses",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_FUSED)
def test_what_no_epilogue_is(name):
    text, reason = NOT_FUSED[name]
    after, remarks = lower(text)
    # The product has a kernel all the same.
    assert after.count("gpu.launch_func") == 1
    assert any(reason in remark for remark in remarks), remarks


def test_options():
    product = generic(body=NARROW, types=tensors(*[(64, 64)] * 3, result="bf16"))
    assert "gpu.launch_func" in lower(product)[0]
    _, remarks = lower(product, narrow_sums="refuse")
    assert "sums in bf16, but tensor cores sum in f32; narrow-sums=f32 allows it" in remarks[0]
    saturating, _ = NOT_FUSED["saturation"]
    assert lower(saturating, math="approx")[1] == []
    f32, _ = STAYS["f32"]
    assert "gpu.launch_func" in lower(f32, f32="tf32")[0]
    dynamic = generic(types=tensors("??", "??", "??"))
    after, _ = lower(dynamic)
    assert after.count("scf.if") == 1 and after.count("linalg.generic") == 1
    after, remarks = lower(dynamic, unaligned="refuse")
    assert "gpu." not in after
    assert "it is not known whether its neighbours along" in remarks[0]
    assert "unaligned=version makes two versions" in remarks[0]
    _, remarks = lower(generic(), explain=True)
    assert remarks[0].startswith(
        "becomes the kernel f_gemm_0: bf16 x bf16 -> f32, A k-major, B n-major"
    )
    assert "gpu." in lower(generic(), only="f")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"f32": "no"}, "option f32 takes refuse or tf32, not 'no'"),
        ({"narrow_sums": "no"}, "option narrow-sums takes f32 or refuse, not 'no'"),
        ({"math": "fast"}, "option math takes exact or approx, not 'fast'"),
        ({"unaligned": "no"}, "option unaligned takes version or refuse, not 'no'"),
        ({"arch": "sm_100"}, "option arch takes sm_90, not 'sm_100'"),
    ],
)
def test_options_that_it_does_not_take(options, message):
    with pytest.raises(OptionError) as caught:
        pass_named("linalg-to-smem").from_options(options)
    assert message in str(caught.value)


def test_a_function_that_is_not_there(capfd):
    with pytest.raises(Exception, match="Failure while executing pass pipeline") as caught:
        lower(generic(), only="f+g")
    assert "has no function 'g', which the option only names; it has f" in str(caught.value)


def test_equal_products_share_a_kernel():
    product = generic()
    both = product + product.replace("@f", "@g")
    after, _ = lower(both)
    assert (after.count("gpu.module"), after.count("gpu.launch_func")) == (1, 2)


def test_the_second_of_two_products_that_an_op_reads_stores_its_sums():
    operand_type = "tensor<64x64xbf16>"
    product = (
        "%{0} = linalg.generic {{indexing_maps = [#mk, #kn, #mn],\n"
        '  iterator_types = ["parallel", "parallel", "reduction"]}}\n'
        f"  ins(%{{1}}, %b : {operand_type}, {operand_type}) outs(%c : tensor<64x64xf32>) {{{{\n"
        f"^bb0(%p: bf16, %q: bf16, %o: f32):\n{BODY}\n}}}} -> tensor<64x64xf32>\n"
    )
    text = (
        "#mk = affine_map<(m, n, k)->(m, k)>\n#kn = affine_map<(m, n, k)->(k, n)>\n"
        "#mn = affine_map<(m, n, k)->(m, n)>\n#id = affine_map<(m, n)->(m, n)>\n"
        f"func.func @f(%a: {operand_type}, %w: {operand_type}, %b: {operand_type}, "
        "%c: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        + product.format("d", "a")
        + product.format("e", "w")
        + "%r = tensor.empty() : tensor<64x64xf32>\n"
        "%s = linalg.generic {indexing_maps = [#id, #id, #id],\n"
        '  iterator_types = ["parallel", "parallel"]}\n'
        "  ins(%d, %e : tensor<64x64xf32>, tensor<64x64xf32>) outs(%r : tensor<64x64xf32>) {\n"
        "^bb0(%p: f32, %q: f32, %o: f32):\n"
        "%t = arith.addf %p, %q : f32\nlinalg.yield %t : f32\n} -> tensor<64x64xf32>\n"
        "return %s : tensor<64x64xf32>\n}"
    )
    after, remarks = lower(text, explain=True)
    assert after.count("gpu.launch_func") == 2 and "linalg." not in after
    assert ["an epilogue" in remark for remark in remarks] == [True, True], remarks


def test_a_named_op_is_to_be_prepared():
    text = """func.func @f(%a: memref<64x64xbf16>, %c: memref<64x64xf32>) {
      linalg.matmul ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
      return
    }"""
    _, (remark,) = lower(text)
    assert remark == (
        "'linalg.matmul' stays as it is: it is no linalg.generic; linalg-to-smem-prepare makes one of it"
    )
