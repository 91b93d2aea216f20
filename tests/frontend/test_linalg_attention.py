"""`linalg-to-smem`: what becomes a kernel of attention."""

import re

import ml_dtypes
import numpy as np
import pytest
from attention_programs import (
    CAUSAL,
    SELECT,
    attention,
    constant_mask,
    counted_places,
    near,
    substitute,
    window,
)
from contractions import lower

from mlir_smem.bindings import passmanager
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg
from mlir_smem.passes import add_passes
from mlir_smem.runtime import LaunchError

#: Programs, and the remark of each kernel.
BECOMES = {
    "all keys": (attention(), "attention of bf16, 1x6x64x64, "),
    "f16": (attention(d=128, element="f16"), "attention of f16, 1x6x64x128, "),
    "causal": (attention(mask=CAUSAL), "1x6x64x64, 0 keys behind, "),
    "less than the next place": (
        substitute(
            attention(mask=CAUSAL),
            ("sge, %row, %key", "slt, %key, %next"),
            (
                "%sees =",
                "%one = arith.constant 1 : index\n%next = arith.addi %row, %one : index\n%sees =",
            ),
        ),
        "0 keys behind, ",
    ),
    "the other way round": (
        substitute(attention(mask=CAUSAL), ("sge, %row", "ult, %row"), ("%x, %none", "%none, %x")),
        "0 keys behind, ",
    ),
    "dynamic numbers of queries and keys": (
        attention(m="?", n="?"),
        "attention of bf16, 1x6x?x64, 192 queries by 128 keys",
    ),
    "a dynamic number of queries": (attention(m="?"), "attention of bf16, 1x6x?x64, "),
    "causal, of dynamic extents": (
        attention(m="?", n="?", mask=CAUSAL, names="MM"),
        "1x6x?x64, 0 keys behind, ",
    ),
    "long, in clusters": (
        attention(m=8200, n=8200, d=128),
        "1x6x8200x128, 128 queries by 176 keys",
    ),
    "a window": (attention(mask=window(16, 8)), "16 keys before, 8 keys behind, "),
    "aligned to the end": (
        attention(n=96, mask=window(0, 40)),
        "1x6x64x64, 32 keys before, 8 keys behind, ",
    ),
    "a distance": (
        attention(mask=near("%sees = arith.cmpi sle, %far, %limit : i32")),
        "12 keys before, 12 keys behind, ",
    ),
    "not another distance": (
        substitute(
            attention(mask=near("%sees = arith.cmpi sge, %far, %limit : i32")),
            ("%x, %none", "%none, %x"),
        ),
        "11 keys before, 11 keys behind, ",
    ),
    "a constant": (constant_mask(np.tril(np.ones((64, 64)))), "1x6x64x64, 0 keys behind, "),
    "a constant band": (
        constant_mask(np.tril(np.triu(np.ones((64, 96)), 20), 40)),
        "12 keys before, 8 keys behind, ",
    ),
    "places that are constants": (counted_places(range(64)), "0 keys behind, "),
    "an added mask": (
        substitute(
            attention(mask=CAUSAL),
            (
                SELECT,
                "%add = arith.select %sees, %zero, %none : f32\n%y = arith.addf %x, %add : f32",
            ),
        ),
        "0 keys behind, ",
    ),
    "about the smallest number": (
        substitute(
            attention(mask=CAUSAL),
            ("%x, %none", "%x, %small"),
            ("%scale =", "%small = arith.constant -2.38197633E+38 : f32\n%scale ="),
        ),
        "0 keys behind, ",
    ),
    "divided by a number": (
        substitute(attention(scale=8), ("%x = arith.mulf", "%x = arith.divf")),
        "attention of bf16",
    ),
    "a multiple of the difference": (
        substitute(
            attention(scale=1),
            ("%y = math.exp %x", "%y = math.exp %z"),
            ("%y = math", "%z = arith.mulf %x, %eighth : f32\n%y = math"),
            ("%scale =", "%eighth = arith.constant 0.125 : f32\n%scale ="),
        ),
        "attention of bf16",
    ),
    "divided behind the product": (
        substitute(
            attention(),
            ("%x = arith.divf %i, %j : f32\n    %y = arith.truncf %x", "%y = arith.truncf %i"),
            (
                "[#all, #all], iterator_types = #each}\n    ins(%sum : !sum)",
                "[#all, #row, #all], iterator_types = #each}\n    ins(%sum, %total : !sum, !row)",
            ),
            (
                "^bb0(%i: f32, %t: bf16):\n    %y = arith.truncf %i",
                "^bb0(%i: f32, %j: f32, %t: bf16):\n    %x = arith.divf %i, %j : f32\n"
                "    %y = arith.truncf %x",
            ),
        ),
        "attention of bf16",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_what_becomes_attention(name):
    text, remark = BECOMES[name]
    after, remarks = lower(text, explain=True)
    assert (after.count("gpu.launch_func"), after.count("linalg.")) == (1, 0)
    (message,) = remarks
    assert message.startswith("becomes the kernel f_attention_0: ")
    assert remark in message
    # The scale is for powers of two.
    assert "arith.constant 0.180336878 : f32" in after


def test_a_result_that_is_used_once_it_is_rounded():
    """Upstream fuses the rounding into the op that adds; the kernel stores what that reads."""
    rounded = "%y = arith.truncf %i : f32 to bf16\n    linalg.yield %y : bf16\n  } -> !o"
    twice = rounded.replace("%y =", "%z =", 1).replace(
        "    linalg", "    %y = arith.addf %z, %z : bf16\n    linalg"
    )
    text = substitute(attention().replace("2x3x", "1x1x"), (rounded, twice))
    o, arrays, (remark,) = run(text, *[(1, 1, 64, 64)] * 3)
    assert "attention of bf16, 1x1x64x64, " in remark
    once = attention_in_f64(*arrays, 0.125, True)
    assert np.abs(o.astype(np.float64) - 2 * once).max() < 2**-5


def test_a_grid_is_a_multiple_of_clusters():
    # One head has 65 tiles of 128 queries; clusters of two CTAs share what they read.
    text = attention(m=8200, n=8200, d=128).replace("2x3x", "1x1x")
    after, _ = lower(text)
    assert re.search(r"%c66\S* = arith.constant 66 : index", after)


def test_queries_that_a_kernel_makes():
    """The kernel of a product stores what is computed behind it, not the product."""
    text = substitute(
        attention(scale=0.25),
        ("%v: !v)", "%v: !v, %by: tensor<64x64xbf16>)"),
        ("#qk =", "#dw = affine_map<(b, h, m, n, d) -> (d, n)>\n#qk ="),
        ("ins(%q, %k", "ins(%made, %k"),
        (
            "  %scores =",
            """  %half = arith.constant 0.5 : bf16
  %nought = arith.constant 0.0 : bf16
  %of_q = tensor.empty() : !q
  %start = linalg.fill ins(%nought : bf16) outs(%of_q : !q) -> !q
  %product = linalg.generic {indexing_maps = [#qk, #dw, #sum], iterator_types = #product}
    ins(%q, %by : !q, tensor<64x64xbf16>) outs(%start : !q) {
  ^bb0(%i: bf16, %j: bf16, %t: bf16):
    %ij = arith.mulf %i, %j : bf16
    %y = arith.addf %t, %ij : bf16
    linalg.yield %y : bf16
  } -> !q
  %made = linalg.generic {indexing_maps = [#all, #all], iterator_types = #each}
    ins(%product : !q) outs(%of_q : !q) {
  ^bb0(%i: bf16, %t: bf16):
    %y = arith.mulf %i, %half : bf16
    linalg.yield %y : bf16
  } -> !q
  %scores =""",
        ),
    )
    after, remarks = lower(text, explain=True)
    assert (after.count("gpu.launch_func"), after.count("linalg.")) == (2, 0)
    assert "an epilogue" in remarks[0]
    # 0.25 * log2(e): the product's kernel has multiplied by 0.5.
    assert "arith.constant 0.360673755 : f32" in after


def test_attention_of_attention():
    """What moves the first result is a part of its kernel; the second one reads what that stores."""
    text = attention()
    begin, end = text.index("  %zero ="), text.index("  return")
    second = re.sub(r"%(\w+)", r"%\g<1>_2", text[begin:end])
    for old, new in (("%q_2", "%moved"), ("%k_2", "%k"), ("%v_2", "%v")):
        second = re.sub(rf"{old}\b", new, second)
    moves = """  %flat = tensor.collapse_shape %o [[0, 1], [2], [3]] : !o into tensor<6x64x64xbf16>
  %moved = tensor.expand_shape %flat [[0, 1], [2], [3]] output_shape [2, 3, 64, 64]
    : tensor<6x64x64xbf16> into !q
"""
    text = text[:end] + moves + second + text[end:].replace("%o", "%o_2")
    after, remarks = lower(text, explain=True)
    assert (after.count("gpu.launch_func"), after.count("linalg.")) == (2, 0)
    assert after.count("tensor.collapse_shape") == 0
    assert len(remarks) == 2


def attention_in_f64(q, k, v, scale, sees):
    """softmax(scale * q @ k.T) @ v over the last two dimensions, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.where(sees, scale * q @ k.swapaxes(-1, -2), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def run(text, *shapes):
    """Run a program on the emulator; return its result, its arguments, and the remarks."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]
    remarks = []
    with new_context() as context, remark_handler(lambda _, message: remarks.append(message)):
        context.allow_unregistered_dialects = True
        program = parse_module(text)
        lower_linalg(program, explain=True)
        return Executable(program, on="cpu")(*arrays), arrays, remarks


def test_a_window_on_the_emulator():
    o, arrays, _ = run(
        attention(m=80, n=96, mask=window(4, 20)), (2, 3, 80, 64), *[(2, 3, 96, 64)] * 2
    )
    row, key = np.ogrid[:80, :96]
    reference = attention_in_f64(*arrays, 0.125, (key >= row - 4) & (key <= row + 20))
    assert np.abs(o.astype(np.float64) - reference).max() < 2**-6


def test_dynamic_lengths_on_the_emulator():
    random = np.random.default_rng(1)
    with new_context():
        program = parse_module(attention(m="?", n="?", mask=window(4, 1), names="MM"))
        lower_linalg(program)
        causal = Executable(program, on="cpu")
    with new_context():
        program = parse_module(attention(m="?", n="?"))
        lower_linalg(program)
        plain = Executable(program, on="cpu")

    def compare(executable, m, n, sees):
        q, k, v = (
            random.standard_normal((2, 3, rows, 64)).astype(ml_dtypes.bfloat16)
            for rows in (m, n, n)
        )
        o = executable(q, k, v).astype(np.float64)
        reference = attention_in_f64(q, k, v, 0.125, sees) if n else np.zeros((2, 3, m, 64))
        assert o.shape == reference.shape and (np.abs(o - reference) < 2**-6).all()

    for m in (0, 70):
        row, key = np.ogrid[:m, :m]
        compare(causal, m, m, (key >= row - 4) & (key <= row + 1))
    for m, n in ((3, 70), (0, 5), (5, 0)):
        compare(plain, m, n, np.ones((m, n), bool))
    with pytest.raises(LaunchError, match="is compiled for as many queries as keys"):
        compare(causal, 3, 4, np.ones((3, 4), bool))


#: torch-mlir's op, and the mask that its export makes of `is_causal`.
OP = """#all = affine_map<(b, m, n) -> (b, m, n)>
func.func @f(%q: tensor<6x64x64xbf16>, %k: tensor<6x96x64xbf16>, %v: tensor<6x96x64xbf16>)
    -> tensor<6x64x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0xFF80 : bf16
  %of_m = tensor.empty() : tensor<6x64x96xbf16>
  %mask = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]}
    outs(%of_m : tensor<6x64x96xbf16>) {
  ^bb0(%s: bf16):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %c32 = arith.constant 32 : index
    %last = arith.addi %row, %c32 : index
    %sees = arith.cmpi sge, %last, %key : index
    %y = arith.select %sees, %zero, %none : bf16
    linalg.yield %y : bf16
  } -> tensor<6x64x96xbf16>
  %of_o = tensor.empty() : tensor<6x64x64xbf16>
  %o = "tm_tensor.attention"(%q, %k, %v, %mask, %of_o) {operandSegmentSizes = array<i32: 4, 1>}
    : (tensor<6x64x64xbf16>, tensor<6x96x64xbf16>, tensor<6x96x64xbf16>, tensor<6x64x96xbf16>,
       tensor<6x64x64xbf16>) -> tensor<6x64x64xbf16>
  return %o : tensor<6x64x64xbf16>
}"""


def op_lowered(text, **options):
    """Run the pass where torch-mlir's op is not registered; return the program, and the remarks."""
    remarks = []
    with new_context() as context, remark_handler(lambda _, message: remarks.append(message)):
        context.allow_unregistered_dialects = True
        module = parse_module(text)
        manager = passmanager.PassManager("builtin.module")
        add_passes(manager, "linalg-to-smem", **options)
        manager.run(module.operation)
        return str(module), remarks


def test_torch_mlirs_op():
    o, arrays, (remark,) = run(OP, (6, 64, 64), *[(6, 96, 64)] * 2)
    assert "attention of bf16, 1x6x64x64, 0 keys behind, " in remark
    row, key = np.ogrid[:64, :96]
    reference = attention_in_f64(*arrays, 0.125, key <= row + 32)
    assert np.abs(o.astype(np.float64) - reference).max() < 2**-6


OP_STAYS = {
    "an arbitrary mask": (
        substitute(OP, ("arith.select %sees, %zero, %none", "arith.select %sees, %zero, %s")),
        "adds a tensor to scores, a bias or a mask; the kernel has causal masks and windows",
    ),
    "f32": (
        OP.replace("bf16", "f32").replace("0xFF80", "0xFF800000"),
        "has queries of f32; the kernel takes bf16 or f16",
    ),
    "a head dimension of 80": (OP.replace("x64xbf16", "x80xbf16"), "the head dimension is 80"),
}


@pytest.mark.parametrize("name", OP_STAYS)
def test_where_torch_mlirs_op_stays(name):
    text, reason = OP_STAYS[name]
    after, remarks = op_lowered(text)
    assert "gpu." not in after
    (remark,) = (message for message in remarks if "tm_tensor" in message)
    assert remark.startswith("'tm_tensor.attention' stays as it is: it ")
    assert reason in remark


def test_torch_mlirs_op_with_truth_values_as_its_mask():
    text = substitute(
        OP,
        (
            "%y = arith.select %sees, %zero, %none : bf16\n    linalg.yield %y : bf16",
            "linalg.yield %sees : i1",
        ),
        ("^bb0(%s: bf16)", "^bb0(%s: i1)"),
        ("64x96xbf16", "64x96xi1"),
    )
    _, (remark,) = op_lowered(text, explain=True)
    assert "0 keys behind" in remark
