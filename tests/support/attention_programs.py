"""Attention in linalg, as text."""

from string import Template

#: Bodies that make the masked score %y of the scaled score %x: every key is seen, or those up to the
#: query's place.
ALL = "%y = arith.addf %x, %zero : f32"
CAUSAL = """%row = linalg.index 2 : index
    %key = linalg.index 3 : index
    %sees = arith.cmpi sge, %row, %key : index
    %y = arith.select %sees, %x, %none : f32"""

#: Its last line, which selects.
SELECT = "%y = arith.select %sees, %x, %none : f32"

#: A mask by which queries see keys that a comparison of both tells.
SEES = CAUSAL.replace("%sees = arith.cmpi sge, %row, %key : index", "{}")


def window(left, right):
    """A mask of the keys at the query's place - left to + right, both compared as i32."""
    return SEES.format(
        f"""%i32 = arith.index_cast %row : index to i32
    %j32 = arith.index_cast %key : index to i32
    %left = arith.constant {left} : i32
    %right = arith.constant {right} : i32
    %first = arith.subi %i32, %left : i32
    %last = arith.addi %i32, %right : i32
    %before = arith.cmpi slt, %j32, %first : i32
    %true = arith.constant true
    %not_before = arith.xori %before, %true : i1
    %not_behind = arith.cmpi sle, %j32, %last : i32
    %sees = arith.andi %not_before, %not_behind : i1"""
    )


def near(sees):
    """A mask by the distance %far of a query and a key."""
    return SEES.format(
        f"""%i32 = arith.index_cast %row : index to i32
    %j32 = arith.index_cast %key : index to i32
    %d = arith.subi %i32, %j32 : i32
    %origin = arith.constant 0 : i32
    %is_behind = arith.cmpi sge, %d, %origin : i32
    %negated = arith.subi %origin, %d : i32
    %far = arith.select %is_behind, %d, %negated : i32
    %limit = arith.constant 12 : i32
    {sees}"""
    )


def constant_mask(sees):
    """Attention with a mask that is a constant matrix of truth values."""
    rows = ", ".join(str([bool(x) for x in row]).lower() for row in sees)
    mask = f"%mask = arith.constant dense<[{rows}]> : tensor<{len(sees)}x{len(sees[0])}xi1>"
    return substitute(
        attention(len(sees), len(sees[0]), mask="%y = arith.select %j, %x, %none : f32"),
        ("%scale =", f"{mask}\n  %scale ="),
        ("#row =", "#mask = affine_map<(b, h, m, n) -> (m, n)>\n#row ="),
        (
            "[#all, #all], iterator_types = #each}\n    ins(%scores : !s)",
            "[#all, #mask, #all], iterator_types = #each}\n"
            f"    ins(%scores, %mask : !s, tensor<{len(sees)}x{len(sees[0])}xi1>)",
        ),
        (
            "^bb0(%i: f32, %t: f32):\n    %x = arith.mulf",
            "^bb0(%i: f32, %j: i1, %t: f32):\n    %x = arith.mulf",
        ),
    )


def counted_places(places):
    """Causal attention by the places of queries and keys, which are one constant."""
    type_ = f"tensor<{len(places)}xi32>"
    return substitute(
        attention(
            len(places),
            len(places),
            mask="%sees = arith.cmpi sge, %j, %l : i32\n    " + SELECT,
        ),
        ("%scale =", f"%places = arith.constant dense<{list(places)}> : {type_}\n  %scale ="),
        (
            "#row =",
            "#m = affine_map<(b, h, m, n) -> (m)>\n#n = affine_map<(b, h, m, n) -> (n)>\n#row =",
        ),
        (
            "[#all, #all], iterator_types = #each}\n    ins(%scores : !s)",
            "[#all, #m, #n, #all], iterator_types = #each}\n"
            f"    ins(%scores, %places, %places : !s, {type_}, {type_})",
        ),
        (
            "^bb0(%i: f32, %t: f32):\n    %x = arith.mulf",
            "^bb0(%i: f32, %j: i32, %l: i32, %t: f32):\n    %x = arith.mulf",
        ),
    )


_TEXT = Template("""#qk = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#kn = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#sum = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#pn = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#nv = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#out = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#all = affine_map<(b, h, m, n) -> (b, h, m, n)>
#row = affine_map<(b, h, m, n) -> (b, h, m)>
#each = ["parallel", "parallel", "parallel", "parallel"]
#last = ["parallel", "parallel", "parallel", "reduction"]
#product = ["parallel", "parallel", "parallel", "parallel", "reduction"]
!q = tensor<2x3x${m}x${d}x$element>
!k = tensor<2x3x${n}x${d}x$element>
!v = tensor<2x3x${n}x${dv}x$element>
!s = tensor<2x3x${m}x${n}xf32>
!row = tensor<2x3x${m}xf32>
!p = tensor<2x3x${m}x${n}x$element>
!sum = tensor<2x3x${m}x${dv}xf32>
!o = tensor<2x3x${m}x${dv}x$element>
func.func @f(%q: !q, %k: !k, %v: !v) -> !o {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %scale = arith.constant $scale : f32
  %of_s = tensor.empty() : !s
  %of_row = tensor.empty() : !row
  %of_p = tensor.empty() : !p
  %of_sum = tensor.empty() : !sum
  %of_o = tensor.empty() : !o
  %zeros = linalg.fill ins(%zero : f32) outs(%of_s : !s) -> !s
  %scores = linalg.generic {indexing_maps = [#qk, #kn, #sum], iterator_types = #product}
    ins(%q, %k : !q, !k) outs(%zeros : !s) {
  ^bb0(%i: $element, %j: $element, %t: f32):
    %a = arith.extf %i : $element to f32
    %b = arith.extf %j : $element to f32
    %ab = arith.mulf %a, %b : f32
    %y = arith.addf %t, %ab : f32
    linalg.yield %y : f32
  } -> !s
  %seen = linalg.generic {indexing_maps = [#all, #all], iterator_types = #each}
    ins(%scores : !s) outs(%of_s : !s) {
  ^bb0(%i: f32, %t: f32):
    %x = arith.mulf %i, %scale : f32
    $mask
    linalg.yield %y : f32
  } -> !s
  %lowest = linalg.fill ins(%none : f32) outs(%of_row : !row) -> !row
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = #last}
    ins(%seen : !s) outs(%lowest : !row) {
  ^bb0(%i: f32, %t: f32):
    %y = arith.maximumf %i, %t : f32
    linalg.yield %y : f32
  } -> !row
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = #each}
    ins(%seen, %max : !s, !row) outs(%of_s : !s) {
  ^bb0(%i: f32, %j: f32, %t: f32):
    %x = arith.subf %i, %j : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> !s
  %nothing = linalg.fill ins(%zero : f32) outs(%of_row : !row) -> !row
  %total = linalg.generic {indexing_maps = [#all, #row], iterator_types = #last}
    ins(%exp : !s) outs(%nothing : !row) {
  ^bb0(%i: f32, %t: f32):
    %y = arith.addf %i, %t : f32
    linalg.yield %y : f32
  } -> !row
  %weights = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = #each}
    ins(%exp, %total : !s, !row) outs(%of_p : !p) {
  ^bb0(%i: f32, %j: f32, %t: $element):
    %x = arith.divf %i, %j : f32
    %y = arith.truncf %x : f32 to $element
    linalg.yield %y : $element
  } -> !p
  %begin = linalg.fill ins(%zero : f32) outs(%of_sum : !sum) -> !sum
  %sum = linalg.generic {indexing_maps = [#pn, #nv, #out], iterator_types = #product}
    ins(%weights, %v : !p, !v) outs(%begin : !sum) {
  ^bb0(%w: $element, %j: $element, %t: f32):
    %a = arith.extf %w : $element to f32
    %b = arith.extf %j : $element to f32
    %ab = arith.mulf %a, %b : f32
    %y = arith.addf %t, %ab : f32
    linalg.yield %y : f32
  } -> !sum
  %o = linalg.generic {indexing_maps = [#all, #all], iterator_types = #each}
    ins(%sum : !sum) outs(%of_o : !o) {
  ^bb0(%i: f32, %t: $element):
    %y = arith.truncf %i : f32 to $element
    linalg.yield %y : $element
  } -> !o
  return %o : !o
}
""")


def attention(m=64, n=64, d=64, dv=None, *, element="bf16", scale=0.125, mask=ALL, names=None):
    """Attention of q (2, 3, m, d), k (2, 3, n, d) and v (2, 3, n, dv), as a pass has prepared it.

    Args:
        m, n, d: the extents; m and n may be "?".
        dv: that of values; None for d.
        element: the type of q, k and v.
        scale: the factor of scores.
        mask: a body that makes the masked score %y of the scaled score %x.
        names: for `smem.shape`, the names of m and n.
    """
    text = _TEXT.substitute(
        m=m, n=n, d=d, dv=dv or d, element=element, scale=f"{scale:e}", mask=mask
    )
    dims = {"%m": ("%q", "!q") if m == "?" else None, "%n": ("%k", "!k") if n == "?" else None}
    for tensor, loops in {"s": "mn", "row": "m", "p": "mn", "sum": "m", "o": "m"}.items():
        sizes = [f"%{loop}" for loop in loops if dims[f"%{loop}"]]
        empty = "%of_{} = tensor.empty({}) : !{}"
        text = substitute(
            text, (empty.format(tensor, "", tensor), empty.format(tensor, ", ".join(sizes), tensor))
        )
    for name, source in dims.items():
        if source is not None:
            place = f"  %two_{name[1:]} = arith.constant 2 : index\n"
            dim = f"  {name} = tensor.dim {source[0]}, %two_{name[1:]} : {source[1]}\n  %zero ="
            text = substitute(text, ("  %zero =", place + dim))
    for argument, name in zip("qkv", (names[0], names[1], names[1]) if names else (), strict=False):
        named = f'%{argument}: !{argument} {{smem.shape = [2, 3, "{name}", {d}]}}'
        text = substitute(text, (f"%{argument}: !{argument}", named))
    return text


def substitute(text, *pairs):
    """Replace each pair (old, new) of texts; the program must contain `old`."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
