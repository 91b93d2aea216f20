"""`linalg-to-smem`: softmaxes between two products that are not attention, and why."""

import re

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

ARBITRARY = "masks scores by something else than a comparison of the places of a query and a key"

#: Programs, and why they are not attention.
NOT_ATTENTION = {
    "another use of the scores": (
        substitute(
            attention(),
            ("-> !o {", "-> (!o, !s) {"),
            ("return %o : !o", "return %o, %scores : !o, !s"),
        ),
        "has scores or weights that 'func.return' uses, too",
    ),
    "another use of the weights": (
        substitute(
            attention(),
            ("-> !o {", "-> (!o, !p) {"),
            ("return %o : !o", "return %o, %weights : !o, !p"),
        ),
        "has scores or weights that 'func.return' uses, too",
    ),
    "a negative scale": (
        attention(scale=-0.125),
        "multiplies scores by -0.125; the kernel takes a positive number",
    ),
    "a scale that is no constant": (
        substitute(
            attention(),
            ("%v: !v)", "%v: !v, %scale: f32)"),
            ("%scale = arith.constant 1.250000e-01 : f32\n", "\n"),
        ),
        "computes 'arith.mulf' of scores; the kernel multiplies them by a constant, and masks",
    ),
    "a function of scores": (
        attention(mask="%y = math.tanh %x : f32"),
        "computes 'math.tanh' of scores; the kernel multiplies them by a constant, and masks",
    ),
    "sums over another axis": (
        substitute(
            attention(),
            (
                "[#all, #row], iterator_types = #last}\n    ins(%exp",
                "[#all, #key], iterator_types = #third}\n    ins(%exp",
            ),
            ("#row =", "#key = affine_map<(b, h, m, n) -> (b, h, n)>\n#row ="),
            ("#last =", '#third = ["parallel", "parallel", "reduction", "parallel"]\n#last ='),
        ),
        "has weights that are divided by something else than the sum over their keys",
    ),
    "sums of something else": (
        substitute(
            attention(),
            ("%y = arith.addf %i, %t", "%ii = arith.mulf %i, %i : f32\n%y = arith.addf %ii, %t"),
        ),
        "has weights that are divided by something else than the sum over their keys",
    ),
    "sums that do not begin with 0": (
        substitute(
            attention(), ("%nothing = linalg.fill ins(%zero", "%nothing = linalg.fill ins(%scale")
        ),
        "has weights that are divided by something else than the sum over their keys",
    ),
    "weights that are not divided": (
        substitute(
            attention(),
            ("%x = arith.divf %i, %j : f32\n    %y = arith.truncf %x", "%y = arith.truncf %i"),
        ),
        "has exponentials as weights that no sum divides",
    ),
    "multiplied weights": (
        substitute(
            attention(),
            ("%x = arith.divf %i, %j", "%d = arith.mulf %i, %scale : f32\n%x = arith.divf %d, %j"),
        ),
        "has weights that are multiplied by something else",
    ),
    "no maximum": (
        substitute(attention(), ("math.exp %x", "math.exp %i")),
        "exponentiates scores from which no maximum is subtracted",
    ),
    "a minimum": (
        substitute(attention(), ("arith.maximumf", "arith.minimumf")),
        "exponentiates scores from which another number than their maximum is subtracted",
    ),
    "a maximum of other scores": (
        substitute(attention(), ("ins(%seen : !s)", "ins(%scores : !s)")),
        "exponentiates scores from which another number than their maximum is subtracted",
    ),
    "an arbitrary mask": (
        substitute(
            attention(mask="%y = arith.addf %x, %j : f32"),
            ("%v: !v)", "%v: !v, %mask: !s)"),
            (
                "[#all, #all], iterator_types = #each}\n    ins(%scores : !s)",
                "[#all, #all, #all], iterator_types = #each}\n    ins(%scores, %mask : !s, !s)",
            ),
            (
                "^bb0(%i: f32, %t: f32):\n    %x = arith.mulf",
                "^bb0(%i: f32, %j: f32, %t: f32):\n    %x = arith.mulf",
            ),
        ),
        "adds a tensor to scores, a bias or a mask; the kernel has causal masks and windows",
    ),
    "truth values in memory": (
        substitute(
            attention(mask="%y = arith.select %j, %x, %none : f32"),
            ("%v: !v)", "%v: !v, %mask: tensor<2x3x64x64xi1>)"),
            (
                "[#all, #all], iterator_types = #each}\n    ins(%scores : !s)",
                "[#all, #all, #all], iterator_types = #each}\n"
                "    ins(%scores, %mask : !s, tensor<2x3x64x64xi1>)",
            ),
            (
                "^bb0(%i: f32, %t: f32):\n    %x = arith.mulf",
                "^bb0(%i: f32, %j: i1, %t: f32):\n    %x = arith.mulf",
            ),
        ),
        "masks scores by what is in memory; the kernel has causal masks and windows",
    ),
    "numbers that are no mask": (
        attention(mask="%y = arith.addf %x, %scale : f32"),
        "adds numbers to scores that are no mask; the kernel has causal masks and windows",
    ),
    "a mask of -1e9 that is added": (
        substitute(
            attention(mask=CAUSAL),
            (
                SELECT,
                "%add = arith.select %sees, %zero, %few : f32\n%y = arith.addf %x, %add : f32",
            ),
            ("%scale =", "%few = arith.constant -1.0e9 : f32\n%scale ="),
        ),
        "masks with -1e+09, which may be a score",
    ),
    "a constant that is no band": (constant_mask(np.tri(64)[:, ::-1]), ARBITRARY),
    "places that are not counted up": (counted_places([*range(63), 62]), ARBITRARY),
    "a constant mask of keys": (constant_mask(np.tile(np.arange(64) < 40, (64, 1))), ARBITRARY),
    "a distance that is too small": (
        attention(mask=near("%sees = arith.cmpi sge, %far, %limit : i32")),
        ARBITRARY,
    ),
    "keys by their places": (
        attention(mask=CAUSAL.replace("linalg.index 2", "arith.constant 20")),
        "masks keys by their places alone, the same of 64 queries",
    ),
    "a mask of heads": (
        attention(mask=CAUSAL.replace("linalg.index 2", "linalg.index 1")),
        ARBITRARY,
    ),
    "twice the place": (
        substitute(
            attention(mask=CAUSAL),
            ("sge, %row", "sge, %more"),
            ("%sees =", "%more = arith.addi %row, %row : index\n%sees ="),
        ),
        ARBITRARY,
    ),
    "places in bits that may not hold them": (
        substitute(
            attention(mask=CAUSAL),
            ("sge, %row, %key : index", "sge, %r, %c : i8"),
            (
                "%sees =",
                "%r = arith.index_cast %row : index to i8\n"
                "%c = arith.index_cast %key : index to i8\n%sees =",
            ),
        ),
        ARBITRARY,
    ),
    "a mask that is not -inf": (
        substitute(
            attention(mask=CAUSAL),
            ("%x, %none", "%x, %few"),
            ("%scale =", "%few = arith.constant -1.0e9 : f32\n%scale ="),
        ),
        "masks with -1e+09, which may be a score; the kernel takes -inf, and about the smallest",
    ),
    "keys behind the last one": (
        attention(n=96, mask=CAUSAL),
        "has queries that see -32 keys behind their places, of which the last is that of the last key",
    ),
    "queries that see no key": (
        attention(m=96, mask=window(200, -16)),
        "has queries that see no key, whose result is not 0",
    ),
    "no key": (
        substitute(
            attention(mask=CAUSAL), ("arith.cmpi sge, %row, %key : index", "arith.constant false")
        ),
        "masks all scores",
    ),
    "a head dimension of 80": (
        attention(d=80),
        "does not fit the attention kernel: the head dimension is 80; expected one of 64, 96, 128",
    ),
    "another head dimension of values": (
        attention(dv=128),
        "has a head dimension of 64, and values of 128; the kernel has one",
    ),
    "multiplied values": (
        substitute(
            attention(),
            (
                "%a = arith.extf %w : bf16 to f32",
                "%u = arith.extf %w : bf16 to f32\n%a = arith.mulf %u, %scale : f32",
            ),
        ),
        "multiplies weights by something else than values",
    ),
    "keys along the contiguous dimension": (
        substitute(
            attention(),
            (
                "#kn = affine_map<(b, h, m, n, d) -> (b, h, n, d)>",
                "#kn = affine_map<(b, h, m, n, d) -> (b, h, d, n)>",
            ),
        ),
        "has k with 64 elements between neighbours along the head dimension; TMA takes a contiguous one",
    ),
    "a configuration of a product": (
        substitute(
            attention(),
            ("{indexing_maps = [#qk", "{smem.config = {stages = 2 : i64}, indexing_maps = [#qk"),
        ),
        "has smem.config, the configuration of a product",
    ),
    "a mask of dynamic extents": (
        attention(m="?", n="?", mask=CAUSAL),
        "has a mask by places, and it is not known whether there are as many queries as keys; "
        "smem.shape of the function's arguments can name equal extents",
    ),
    "a mask of extents of different names": (
        attention(m="?", n="?", mask=CAUSAL, names="MN"),
        "has a mask by places, and it is not known whether there are as many queries as keys",
    ),
    "a mask of a dynamic number of queries": (
        attention(m="?", mask=CAUSAL, names="MM"),
        "has a mask by places, and it is not known whether there are as many queries as keys",
    ),
    "a result of f32": (
        substitute(
            attention(),
            ("!o = tensor<2x3x64x64xbf16>", "!o = tensor<2x3x64x64xf32>"),
            (
                "^bb0(%i: f32, %t: bf16):\n    %y = arith.truncf %i : f32 to bf16\n"
                "    linalg.yield %y : bf16",
                "^bb0(%i: f32, %t: f32):\n    linalg.yield %i : f32",
            ),
        ),
        "has q of bf16, k of bf16, v of bf16, o of f32; the kernel has one type",
    ),
}


@pytest.mark.parametrize("name", NOT_ATTENTION)
def test_what_is_not_attention(name):
    text, reason = NOT_ATTENTION[name]
    after, remarks = lower(text)
    assert "@attention" not in after
    about_attention = [remark for remark in remarks if "attention" in remark]
    assert len(about_attention) == 1, remarks
    assert about_attention[0].startswith(
        "'linalg.generic' is a product of its own, no attention: it "
    )
    assert reason in about_attention[0]
    # The softmax stays.
    assert "math.exp" in after


def test_operands_of_f32():
    text = attention(element="f32")
    for cast in ("extf", "truncf"):
        text = re.sub(rf"arith.{cast} (%\w) : f32 to f32", r"arith.mulf \1, %one : f32", text)
    text = substitute(text, ("%scale = ", "%one = arith.constant 1.0 : f32\n%scale = "))
    after, remarks = lower(text)
    assert "gpu." not in after
    assert any(
        "has queries and keys of f32; the kernel takes bf16 or f16" in remark for remark in remarks
    )


def test_narrow_sums():
    after, remarks = lower(attention(), narrow_sums="refuse")
    assert (after.count("gpu.launch_func"), "@attention" in after) == (2, False)
    (remark,) = (message for message in remarks if "attention" in message)
    assert (
        "has weights that the kernel rounds to bf16 before they are divided by their sum; "
        "narrow-sums=f32 allows it" in remark
    )


def test_products_of_other_exponentials():
    """The exponential of no product needs no remark."""
    text = substitute(
        attention(),
        ("%v: !v)", "%v: !v, %other: !s)"),
        ("ins(%seen", "ins(%other"),
    )
    _, remarks = lower(text)
    assert not any("attention" in remark for remark in remarks)
