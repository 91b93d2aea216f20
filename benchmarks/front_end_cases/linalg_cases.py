"""Modules of linalg on tensors and memrefs: products and attentions as compilers make them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from .case import Case, linalg_case, normal, whole

#: NumPy's types of MLIR's element types.
DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
_BITS = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64, "f8E4M3FN": 8, "f8E5M2": 8}


def tensor(shape: Sequence[int | str], element: str, kind: str = "tensor") -> str:
    """The type of a tensor or a memref."""
    return f"{kind}<{''.join(f'{extent}x' for extent in shape)}{element}>"


def element_of(type_: str) -> str:
    """The element type of a tensor or memref without a layout."""
    return type_[type_.index("<") + 1 : -1].split(",")[0].split("x")[-1]


def maps_of(spec: str, loops: str) -> str:
    """The indexing maps of an expression as einsum's, whose letters are the loops."""
    domain = ", ".join(loops)
    parts = spec.replace("->", ",").split(",")
    return ", ".join(f"affine_map<({domain}) -> ({', '.join(part)})>" for part in parts)


def iterators(loops: str, result: str) -> str:
    """The iterator types of loops, of which those of the result are parallel."""
    return ", ".join('"parallel"' if x in result else '"reduction"' for x in loops)


def widen(value: str, made: str, source: str, target: str, unsigned: bool = False) -> str:
    """An op that converts a number to a type at least as wide; none if it has that type."""
    if source == target:
        return ""
    floats = source in _BITS, target in _BITS
    unsigned = unsigned or source == "i1"
    op = {
        (True, True): "extf",
        (False, False): "extui" if unsigned else "extsi",
        (False, True): "uitofp" if unsigned else "sitofp",
    }[floats]
    return f"{made} = arith.{op} {value} : {source} to {target}\n    "


def multiply_add(
    a: str,
    b: str,
    c: str,
    unsigned: bool = False,
    product_swapped: bool = False,
    sum_swapped: bool = False,
) -> str:
    """The body of a product of the element types `a` and `b` that are summed in `c`."""
    x, y = "%pp" if a == c else "%xx", "%qq" if b == c else "%yy"
    suffix = "f" if c in _BITS else "i"
    factors = f"{y}, {x}" if product_swapped else f"{x}, {y}"
    terms = "%zz, %oo" if sum_swapped else "%oo, %zz"
    return (
        f"^bb0(%pp: {a}, %qq: {b}, %oo: {c}):\n    "
        f"{widen('%pp', '%xx', a, c, unsigned)}{widen('%qq', '%yy', b, c, unsigned)}"
        f"%zz = arith.mul{suffix} {factors} : {c}\n    "
        f"%tt = arith.add{suffix} {terms} : {c}\n    linalg.yield %tt : {c}"
    )


def product(
    made: str,
    spec: str,
    a: tuple[str, str],
    b: tuple[str, str],
    c: tuple[str, str],
    loops: str = "",
    **order: bool,
) -> str:
    """A product as `linalg.generic`; operands are values and their types."""
    loops = loops or "".join(dict.fromkeys(spec.split("->")[1] + spec.split("->")[0]))
    loops = loops.replace(",", "").replace("0", "")
    body = multiply_add(*(element_of(type_) for _, type_ in (a, b, c)), **order)
    results = f" -> {c[1]}" if c[1].startswith("tensor") else ""
    head = f"%{made} = " if results else ""
    return f"""  {head}linalg.generic {{indexing_maps = [{maps_of(spec, loops)}],
    iterator_types = [{iterators(loops, spec.split("->")[1])}]}}
    ins({a[0]}, {b[0]} : {a[1]}, {b[1]}) outs({c[0]} : {c[1]}) {{
  {body}
  }}{results}
"""


def zeros(made: str, type_: str, value: str = "", extents: str = "") -> str:
    """A tensor that is filled with a number, 0 without one."""
    element = element_of(type_)
    value = value or ("0.0" if element in _BITS else "0")
    if element == "i1":
        value = "false"
    of_type = "" if element == "i1" else f" : {element}"
    return f"""  %{made}_v = arith.constant {value}{of_type}
  %{made}_e = tensor.empty({extents}) : {type_}
  %{made} = linalg.fill ins(%{made}_v : {element}) outs(%{made}_e : {type_}) -> {type_}
"""


def each(
    made: str,
    spec: str,
    operands: Sequence[tuple[str, str]],
    out: str,
    body: str,
    loops: str = "",
    extents: str = "",
) -> str:
    """An element-wise op of `%i0`, `%i1`, and so on, that yields `%r`."""
    result = spec.split("->")[1]
    loops = loops or result
    values = ", ".join(value for value, _ in operands)
    types = ", ".join(type_ for _, type_ in operands)
    ins = f"ins({values} : {types}) " if operands else ""
    named = "".join(f"%i{i}: {element_of(type_)}, " for i, (_, type_) in enumerate(operands))
    spec = spec if operands else result
    body = body.replace("; ", "\n    ")
    return f"""  %{made}_e = tensor.empty({extents}) : {out}
  %{made} = linalg.generic {{indexing_maps = [{maps_of(spec, loops)}],
    iterator_types = [{iterators(loops, result)}]}} {ins}outs(%{made}_e : {out}) {{
  ^bb0({named}%o: {element_of(out)}):
    {body}
    linalg.yield %r : {element_of(out)}
  }} -> {out}
"""


def function(arguments: str, result: str, body: str, returned: str, before: str = "") -> str:
    """A module of a function."""
    results = f" -> {result}" if result.startswith("(") else f" -> ({result})" if result else ""
    listed = f" {returned} : {result.strip('()')}" if result else ""
    return f"{before}func.func @f({arguments}){results} {{\n{body}  return{listed}\n}}\n"


def einsum(spec: str, element: str, *arrays: np.ndarray) -> np.ndarray:
    """The sum of products of whole numbers."""
    wide = np.float64 if element in _BITS else np.int64
    return np.asarray(np.einsum(spec, *(x.astype(wide) for x in arrays))).astype(DTYPES[element])


def _mm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32)


def _bf(x: Any) -> np.ndarray:
    return np.asarray(x).astype(ml_dtypes.bfloat16)


def _named_op(
    name: str,
    op: str,
    shapes: Sequence[Sequence[int]],
    expected: str | Callable[..., Any],
    elements: tuple[str, str, str] = ("bf16", "bf16", "f32"),
    attributes: str = "",
    begin: str = "",
    **options: Any,
) -> Case:
    """A named op with a fill in front."""
    a, b, c = (tensor(shape, element) for shape, element in zip(shapes, elements, strict=True))
    arrays = [whole(shapes[i], DTYPES[elements[i]], i) for i in range(2)]
    text = function(
        f"%a: {a}, %b: {b}",
        c,
        zeros("c", c, begin)
        + f"  %y = linalg.{op} {attributes} ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}\n",
        "%y",
    )
    if isinstance(expected, str):
        spec = expected
        return linalg_case(
            name, 1, text, arrays, lambda a, b: einsum(spec, elements[2], a, b), **options
        )
    return linalg_case(name, 1, text, arrays, expected, **options)


def _maps(spec: str, loops: str) -> str:
    return f"indexing_maps = [{maps_of(spec, loops)}]"


def _patches(x: np.ndarray, size: int) -> np.ndarray:
    """The patches of images in NHWC, as N, rows, columns, and what is in a patch."""
    n, h, w, c = x.shape
    x = x.reshape(n, h // size, size, w // size, size, c).swapaxes(2, 3)
    return x.reshape(n, h // size, w // size, size * size * c)


def _quantized_matmul(name: str, zero_a: int, zero_b: int) -> Case:
    a, b, c = tensor((32, 64), "i8"), tensor((64, 48), "i8"), tensor((32, 48), "i32")
    text = function(
        f"%a: {a}, %b: {b}",
        c,
        f"  %za = arith.constant {zero_a} : i32\n  %zb = arith.constant {zero_b} : i32\n"
        + zeros("c", c)
        + f"  %y = linalg.quantized_matmul ins(%a, %b, %za, %zb : {a}, {b}, i32, i32)"
        f" outs(%c : {c}) -> {c}\n",
        "%y",
    )
    arrays = [whole((32, 64), np.int8, 1), whole((64, 48), np.int8, 2)]
    return linalg_case(
        name,
        1,
        text,
        arrays,
        lambda a, b: (a.astype(np.int32) - zero_a) @ (b.astype(np.int32) - zero_b),
    )


_MM = ((32, 64), (64, 48), (32, 48))

_NAMED = [
    _named_op("named/matmul", "matmul", _MM, "mk,kn->mn"),
    _named_op(
        "named/matmul, A transposed",
        "matmul",
        ((64, 32), (64, 48), (32, 48)),
        "km,kn->mn",
        attributes=_maps("km,kn->mn", "mnk"),
    ),
    _named_op(
        "named/matmul, B transposed",
        "matmul",
        ((32, 64), (48, 64), (32, 48)),
        "mk,nk->mn",
        attributes=_maps("mk,nk->mn", "mnk"),
    ),
    _named_op(
        "named/matmul, A broadcast from a vector",
        "matmul",
        ((64,), (64, 48), (32, 48)),
        lambda a, b: np.repeat(_mm(a[None], b), 32, 0),
        attributes=_maps("k,kn->mn", "mnk"),
    ),
    _named_op(
        "named/batch_matmul",
        "batch_matmul",
        ((3, 32, 64), (3, 64, 40), (3, 32, 40)),
        "bmk,bkn->bmn",
    ),
    _named_op(
        "named/batch_matmul, B transposed",
        "batch_matmul",
        ((3, 32, 64), (3, 40, 64), (3, 32, 40)),
        "bmk,bnk->bmn",
        attributes=_maps("bmk,bnk->bmn", "bmnk"),
    ),
    _named_op(
        "named/batch_matmul, B for all batches",
        "batch_matmul",
        ((3, 32, 64), (64, 40), (3, 32, 40)),
        "bmk,kn->bmn",
        attributes=_maps("bmk,kn->bmn", "bmnk"),
    ),
    _named_op(
        "named/batch_reduce_matmul",
        "batch_reduce_matmul",
        ((4, 32, 24), (4, 24, 40), (32, 40)),
        "bmk,bkn->mn",
    ),
    _named_op("named/matvec", "matvec", ((64, 96), (96,), (64,)), "mk,k->m"),
    _named_op("named/vecmat", "vecmat", ((96,), (96, 64), (64,)), "k,kn->n"),
    _named_op("named/batch_matvec", "batch_matvec", ((3, 32, 64), (3, 64), (3, 32)), "bmk,bk->bm"),
    _named_op("named/dot", "dot", ((96,), (96,), ()), "k,k->"),
    _named_op(
        "named/contract to a transposed result",
        "contract",
        ((32, 64), (64, 48), (48, 32)),
        "mk,kn->nm",
        attributes=_maps("mk,kn->nm", "mnk"),
    ),
    _named_op(
        "named/contract of two batch and two reduction dimensions",
        "contract",
        ((2, 3, 16, 4, 8), (2, 3, 4, 8, 24), (2, 3, 16, 24)),
        "abmkl,abkln->abmn",
        attributes=_maps("abmkl,abkln->abmn", "abmnkl"),
    ),
    _named_op(
        "named/mmt4d", "mmt4d", ((4, 6, 8, 16), (5, 6, 16, 16), (4, 5, 8, 16)), "mkac,nkbc->mnab"
    ),
    _quantized_matmul("named/quantized_matmul, zero points that are 0", 0, 0),
    _quantized_matmul("named/quantized_matmul", 3, -2),
    _named_op(
        "named/conv_2d_nhwc_hwcf of 1x1",
        "conv_2d_nhwc_hwcf",
        ((2, 6, 8, 32), (1, 1, 32, 48), (2, 6, 8, 48)),
        lambda x, w: np.einsum("nhwc,cf->nhwf", x.astype(np.float32), w[0, 0].astype(np.float32)),
        attributes="{strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}",
    ),
    _named_op(
        "named/conv_2d_nchw_fchw of 1x1",
        "conv_2d_nchw_fchw",
        ((2, 32, 6, 8), (48, 32, 1, 1), (2, 48, 6, 8)),
        lambda x, w: np.einsum(
            "nchw,fc->nfhw", x.astype(np.float32), w[..., 0, 0].astype(np.float32)
        ),
        attributes="{strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}",
    ),
    _named_op(
        "named/conv_2d_nhwc_hwcf of patches",
        "conv_2d_nhwc_hwcf",
        ((2, 16, 16, 8), (4, 4, 8, 32), (2, 4, 4, 32)),
        lambda x, w: _mm(_patches(x, 4), w.reshape(-1, 32)),
        attributes="{strides = dense<4> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}",
    ),
]


def _product_case(
    name: str,
    spec: str,
    extents: dict[str, int],
    elements: tuple[str, str, str] = ("bf16", "bf16", "f32"),
    loops: str = "",
    options: dict[str, Any] | None = None,
    **order: bool,
) -> Case:
    """A product as `linalg.generic`, behind a fill with 0."""
    parts = spec.replace("->", ",").split(",")
    shapes = [[1 if x == "0" else extents[x] for x in part] for part in parts]
    a, b, c = (tensor(shape, element) for shape, element in zip(shapes, elements, strict=True))
    body = zeros("c", c) + product("y", spec, ("%a", a), ("%b", b), ("%c", c), loops, **order)
    arrays = [whole(shapes[i], DTYPES[elements[i]], i + 3) for i in range(2)]

    def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if order.get("unsigned"):
            a, b = (x.view(np.uint8) if x.dtype == np.int8 else x for x in (a, b))
        squeezed = [
            x.reshape([n for n, letter in zip(x.shape, part, strict=True) if letter != "0"])
            for x, part in zip((a, b), parts, strict=False)
        ]
        return einsum(spec.replace("0", ""), elements[2], *squeezed)

    text = function(f"%a: {a}, %b: {b}", c, body, "%y")
    return linalg_case(name, 1, text, arrays, reference, **(options or {}))


_SIZES = {"m": 32, "n": 48, "k": 64, "l": 8, "b": 3, "h": 2}
_GENERIC = [
    _product_case("generic/loops in the order k, n, m", "mk,kn->mn", _SIZES, loops="knm"),
    _product_case("generic/two reductions in opposite orders", "mkl,lkn->mn", {**_SIZES, "k": 16}),
    _product_case("generic/two rows and two columns", "mlk,kbn->mlbn", {**_SIZES, "b": 4, "n": 16}),
    _product_case(
        "generic/rows and columns that alternate in the result",
        "mlk,kbn->mbln",
        {**_SIZES, "b": 4, "n": 16},
    ),
    _product_case("generic/heads behind rows in the result", "bhmk,bhkn->bmhn", _SIZES),
    _product_case("generic/heads that share B", "bhmk,bkn->bhmn", _SIZES),
    _product_case("generic/a batch as the last dimension of A", "mkb,bkn->bmn", {**_SIZES, "b": 8}),
    _product_case("generic/dimensions of extent 1", "bmk,bkn->bmn", {**_SIZES, "b": 1, "m": 1}),
    _product_case("generic/a constant 0 in the maps", "0mk,k0n->mn", _SIZES, loops="mnk"),
    _product_case("generic/an outer product", "m,n->mn", _SIZES),
]


def _cast_before(
    name: str, source: str, target: str, result: str, unsigned: bool = False, **options: Any
) -> Case:
    """A product of operands that element-wise ops have converted."""
    a, b = tensor((32, 64), source), tensor((64, 48), source)
    wide_a, wide_b, c = tensor((32, 64), target), tensor((64, 48), target), tensor((32, 48), result)
    cast = widen("%i0", "%r", source, target, unsigned)
    if not cast or (source in _BITS and target in _BITS and _BITS[source] > _BITS[target]):
        cast = f"%r = arith.truncf %i0 : {source} to {target}"
    text = function(
        f"%a: {a}, %b: {b}",
        c,
        each("x", "mk->mk", [("%a", a)], wide_a, cast)
        + each("w", "kn->kn", [("%b", b)], wide_b, cast)
        + zeros("c", c)
        + f"  %y = linalg.matmul ins(%x, %w : {wide_a}, {wide_b}) outs(%c : {c}) -> {c}\n",
        "%y",
    )
    arrays = [whole((32, 64), DTYPES[source], 1), whole((64, 48), DTYPES[source], 2)]

    def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if unsigned and source == "i8":
            a, b = a.view(np.uint8), b.view(np.uint8)
        return einsum("mk,kn->mn", result, a, b)

    return linalg_case(name, 1, text, arrays, reference, **options)


def _types(name: str, a: str, b: str, c: str, **options: Any) -> Case:
    return _named_op(f"types/{name}", "matmul", _MM, "mk,kn->mn", (a, b, c), **options)


_TYPES = [
    _types("f16 in f32", "f16", "f16", "f32"),
    _types("f16 in f16", "f16", "f16", "f16"),
    _types("bf16 in bf16", "bf16", "bf16", "bf16"),
    _types("bf16 by f16 in f32", "bf16", "f16", "f32"),
    _types("f32 as tf32", "f32", "f32", "f32", f32="tf32"),
    _types("f32 as it is", "f32", "f32", "f32"),
    _types("e4m3 in f32", "f8E4M3FN", "f8E4M3FN", "f32"),
    _types("e4m3 by e5m2 in f32", "f8E4M3FN", "f8E5M2", "f32"),
    _types("i8 in i32", "i8", "i8", "i32"),
    _types("i8 in f32", "i8", "i8", "f32"),
    _types("i16 in i32", "i16", "i16", "i32"),
    _types("i8 in i64", "i8", "i8", "i64"),
    _product_case("types/i1 in i32", "mk,kn->mn", _SIZES, ("i1", "i1", "i32")),
    _product_case(
        "types/unsigned bytes in i32", "mk,kn->mn", _SIZES, ("i8", "i8", "i32"), unsigned=True
    ),
    _product_case("types/i1 by bf16 in f32", "mk,kn->mn", _SIZES, ("i1", "bf16", "f32")),
    _product_case(
        "types/bf16 by f32 in f32",
        "mk,kn->mn",
        _SIZES,
        ("bf16", "f32", "f32"),
        options={"f32": "tf32"},
    ),
    _product_case("types/i8 by bf16 in f32", "mk,kn->mn", _SIZES, ("i8", "bf16", "f32")),
    _cast_before("types/bf16 widened before", "bf16", "f32", "f32"),
    _cast_before("types/i8 to i32 before", "i8", "i32", "i32"),
    _cast_before("types/f32 rounded to bf16 before", "f32", "bf16", "f32"),
    _cast_before("types/unsigned bytes to bf16 before", "i8", "bf16", "f32", unsigned=True),
    _cast_before("types/e5m2 widened to bf16 before", "f8E5M2", "bf16", "f32"),
]

_A, _B, _C = tensor((32, 64), "bf16"), tensor((64, 48), "bf16"), tensor((32, 48), "f32")
_CB, _CT, _M, _N = (
    tensor((32, 48), "bf16"),
    tensor((48, 32), "f32"),
    "tensor<32xf32>",
    "tensor<48xf32>",
)
_MATMUL = f"linalg.matmul ins(%a, %b : {_A}, {_B})"
_Y = zeros("c", _C) + f"  %y = {_MATMUL} outs(%c : {_C}) -> {_C}\n"


def _arrays(*more: np.ndarray, exact: bool = True) -> list[np.ndarray]:
    """A and B, and further arguments."""
    if exact:
        return [whole((32, 64), seed=1), whole((64, 48), seed=2), *more]
    return [normal((32, 64), seed=1, scale=0.25), normal((64, 48), seed=2, scale=0.5), *more]


def _begins(
    name: str,
    arguments: str,
    more: Sequence[np.ndarray],
    body: str,
    expected: Any,
    result: str = _C,
    contractions: int = 1,
    before: str = "",
) -> Case:
    text = function(f"%a: {_A}, %b: {_B}{arguments}", result, body, "%y", before)
    return linalg_case(f"begins/{name}", contractions, text, _arrays(*more), expected)


def _f32(*shape: int, seed: int = 5) -> np.ndarray:
    return whole(shape, np.float32, seed)


_ON_C = f"  %y = {_MATMUL} outs(%c : {_C}) -> {_C}\n"
_BATCHES = [tensor((3, 16, 32), "bf16"), tensor((3, 32, 24), "bf16"), tensor((3, 16, 24), "f32")]


def _batch_begins(name: str, c_shape: tuple[int, ...], spec: str) -> Case:
    a, b, c = _BATCHES
    begin = tensor(c_shape, "f32")
    body = (
        ""
        if spec == "bmn"
        else each("d", f"{spec}->bmn", [("%c", begin)], c, "%r = arith.addf %i0, %i0 : f32")
    )
    begins = "%c" if spec == "bmn" else "%d"
    body += f"  %y = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs({begins} : {c}) -> {c}\n"
    arrays = [whole((3, 16, 32), seed=1), whole((3, 32, 24), seed=2), _f32(*c_shape)]

    def reference(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return _mm(a, b) + (
            c if spec == "bmn" else 2 * np.einsum(f"{spec}->bmn", c) if len(spec) == 3 else 2 * c
        )

    text = function(f"%a: {a}, %b: {b}, %c: {begin}", c, body, "%y")
    return linalg_case(f"begins/{name}", 1, text, arrays, reference)


_SLICES = f"""  %0 = arith.constant 0 : index
  %16 = arith.constant 16 : index
  %64 = arith.constant 64 : index
{zeros("c", _C)}  %y = scf.for %i = %0 to %64 step %16 iter_args(%sum = %c) -> ({_C}) {{
    %as = tensor.extract_slice %a[0, %i] [32, 16] [1, 1] : {_A} to tensor<32x16xbf16>
    %bs = tensor.extract_slice %b[%i, 0] [16, 48] [1, 1] : {_B} to tensor<16x48xbf16>
    %next = linalg.matmul ins(%as, %bs : tensor<32x16xbf16>, tensor<16x48xbf16>)
      outs(%sum : {_C}) -> {_C}
    scf.yield %next : {_C}
  }}
"""

_BEGINS = [
    _begins("a constant", "", [], zeros("c", _C, "1.5") + _ON_C, lambda a, b: _mm(a, b) + 1.5),
    _begins("an argument", f", %c: {_C}", [_f32(32, 48)], _ON_C, lambda a, b, c: _mm(a, b) + c),
    _batch_begins("an argument by batch", (3, 16, 24), "bmn"),
    _batch_begins("twice a matrix for all batches", (16, 24), "mn"),
    _batch_begins("twice a permuted argument", (16, 24, 3), "mnb"),
    _begins(
        "a vector by column, by linalg.broadcast",
        f", %v: {_N}",
        [_f32(48)],
        f"  %e = tensor.empty() : {_C}\n"
        f"  %c = linalg.broadcast ins(%v : {_N}) outs(%e : {_C}) dimensions = [0]\n" + _ON_C,
        lambda a, b, v: _mm(a, b) + v,
    ),
    _begins(
        "a vector by row, by a generic",
        f", %v: {_M}",
        [_f32(32)],
        each("c", "m->mn", [("%v", _M)], _C, "%r = arith.addf %i0, %i0 : f32") + _ON_C,
        lambda a, b, v: _mm(a, b) + 2 * v[:, None],
    ),
    _begins(
        "a transposed argument",
        f", %t: {_CT}",
        [_f32(48, 32)],
        f"  %e = tensor.empty() : {_C}\n"
        f"  %c = linalg.transpose ins(%t : {_CT}) outs(%e : {_C}) permutation = [1, 0]\n" + _ON_C,
        lambda a, b, t: _mm(a, b) + t.T,
    ),
    _begins(
        "bf16 widened",
        f", %h: {_CB}",
        [whole((32, 48), seed=5)],
        each("c", "mn->mn", [("%h", _CB)], _C, "%r = arith.extf %i0 : bf16 to f32") + _ON_C,
        lambda a, b, h: _mm(a, b) + h.astype(np.float32),
    ),
    _begins(
        "0, and rounded behind",
        "",
        [],
        _Y.replace("%y =", "%s =")
        + each("y", "mn->mn", [("%s", _C)], _CB, "%r = arith.truncf %i0 : f32 to bf16"),
        lambda a, b: _bf(_mm(a, b)),
        result=_CB,
    ),
    _begins("a loop over K that carries C", "", [], _SLICES, _mm),
    _begins(
        "the sum of another product",
        f", %d: {_A}, %e: {_B}",
        [whole((32, 64), seed=6), whole((64, 48), seed=7)],
        _Y.replace("%y =", "%p =")
        + f"  %y = linalg.matmul ins(%d, %e : {_A}, {_B}) outs(%p : {_C}) -> {_C}\n",
        lambda a, b, d, e: _mm(a, b) + _mm(d, e),
        contractions=2,
    ),
    _begins(
        "a dense constant of zeros",
        "",
        [],
        f"  %c = arith.constant dense<0.0> : {_C}\n" + _ON_C,
        _mm,
    ),
    _begins(
        "a dense constant of rows",
        "",
        [],
        "  %v = arith.constant dense<["
        + ", ".join(f"{float(i % 5)}" for i in range(48))
        + f"]> : {_N}\n"
        f"  %e = tensor.empty() : {_C}\n"
        f"  %c = linalg.broadcast ins(%v : {_N}) outs(%e : {_C}) dimensions = [0]\n" + _ON_C,
        lambda a, b: _mm(a, b) + (np.arange(48) % 5).astype(np.float32),
    ),
]


def _behind(
    name: str,
    arguments: str,
    more: Sequence[Any],
    tail: str,
    expected: Callable[..., Any],
    result: str = _C,
    exact: bool = True,
    returned: str = "%z",
    before: str = "",
    **options: Any,
) -> Case:
    """A product `%y`, and ops behind it that make `%z`; `expected` gets the sums first."""
    text = function(f"%a: {_A}, %b: {_B}{arguments}", result, _Y + tail, returned, before)
    return linalg_case(
        f"epilogue/{name}",
        1,
        text,
        _arrays(*more, exact=exact),
        lambda a, b, *rest: expected(_mm(a, b), *rest),
        exact,
        **options,
    )


_YC = ("%y", _C)


def _map(
    name: str, body: str, expected: Callable[..., Any], exact: bool = False, **options: Any
) -> Case:
    """An element-wise function behind a product."""
    return _behind(
        name, "", [], each("z", "mn->mn", [_YC], _C, body), expected, exact=exact, **options
    )


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


_ADD = "%r = arith.addf %i0, %i1 : f32"
_MUL = "%r = arith.mulf %i0, %i1 : f32"
_RELU = "%n = arith.constant 0.0 : f32; %r = arith.maximumf %i0, %n : f32"
_PLACES = "%m = linalg.index 0 : index; %n = linalg.index 1 : index; "
_ONE, _HALF = "%one = arith.constant 1.0 : f32; ", "%half = arith.constant 0.5 : f32; "


def _reduce(made: str, source: str, begin: str, op: str) -> str:
    """A reduction of the rows of a matrix."""
    return zeros(f"{made}_0", _M, begin) + (
        f"  %{made} = linalg.reduce {{ {op} }} ins({source} : {_C}) outs(%{made}_0 : {_M})"
        " dimensions = [1]\n"
    )


_EPILOGUES = [
    _behind(
        "bias by column",
        f", %v: {_N}",
        [_f32(48)],
        each("z", "mn,n->mn", [_YC, ("%v", _N)], _C, _ADD),
        lambda y, v: y + v,
    ),
    _behind(
        "bias by row, by linalg.broadcast and linalg.add",
        f", %v: {_M}",
        [_f32(32)],
        f"  %e = tensor.empty() : {_C}\n"
        f"  %w = linalg.broadcast ins(%v : {_M}) outs(%e : {_C}) dimensions = [1]\n"
        f"  %z = linalg.add ins(%y, %w : {_C}, {_C}) outs(%e : {_C}) -> {_C}\n",
        lambda y, v: y + v[:, None],
    ),
    _behind(
        "scales by row and column and a bias of bf16",
        f", %u: {_M}, %v: {_N}, %w: tensor<48xbf16>",
        [_f32(32), _f32(48), whole((48,), seed=8)],
        each(
            "z",
            "mn,m,n,n->mn",
            [_YC, ("%u", _M), ("%v", _N), ("%w", "tensor<48xbf16>")],
            _C,
            "%1 = arith.mulf %i0, %i1 : f32; %2 = arith.mulf %1, %i2 : f32; "
            "%3 = arith.extf %i3 : bf16 to f32; %r = arith.addf %2, %3 : f32",
        ),
        lambda y, u, v, w: y * u[:, None] * v + w.astype(np.float32),
    ),
    _behind(
        "a scalar tensor<f32>",
        ", %s: tensor<f32>",
        [np.array(2, np.float32)],
        each("z", "mn,->mn", [_YC, ("%s", "tensor<f32>")], _C, _MUL),
        lambda y, s: y * s,
    ),
    _behind(
        "a scalar tensor<1xf32>",
        ", %s: tensor<1xf32>",
        [np.array([2], np.float32)],
        each("z", "mn,0->mn", [_YC, ("%s", "tensor<1xf32>")], _C, _MUL),
        lambda y, s: y * s,
    ),
    _behind(
        "a scalar tensor<1x1xf32>",
        ", %s: tensor<1x1xf32>",
        [np.array([[2]], np.float32)],
        each("z", "mn,00->mn", [_YC, ("%s", "tensor<1x1xf32>")], _C, _MUL),
        lambda y, s: y * s,
    ),
    _behind(
        "an argument of f32 in the body",
        ", %s: f32",
        [np.float32(2)],
        each("z", "mn->mn", [_YC], _C, "%r = arith.mulf %i0, %s : f32"),
        lambda y, s: y * s,
    ),
    _behind(
        "vectors that meet before the matrix",
        f", %u: {_M}, %v: {_N}",
        [_f32(32), _f32(48)],
        each("w", "m,n->mn", [("%u", _M), ("%v", _N)], _C, _MUL)
        + each("z", "mn,mn->mn", [_YC, ("%w", _C)], _C, _ADD),
        lambda y, u, v: y + u[:, None] * v,
    ),
    _behind(
        "a comparison of vectors, then a select",
        ", %u: tensor<32xi32>, %v: tensor<48xi32>",
        [whole((32,), np.int32, 5), whole((48,), np.int32, 6)],
        each(
            "w",
            "m,n->mn",
            [("%u", "tensor<32xi32>"), ("%v", "tensor<48xi32>")],
            tensor((32, 48), "i1"),
            "%r = arith.cmpi eq, %i0, %i1 : i32",
        )
        + each(
            "z",
            "mn,mn->mn",
            [_YC, ("%w", tensor((32, 48), "i1"))],
            _C,
            "%n = arith.constant -1.0 : f32; %r = arith.select %i1, %i0, %n : f32",
        ),
        lambda y, u, v: np.where(u[:, None] == v, y, np.float32(-1)),
    ),
    _map("relu", _RELU, lambda y: np.maximum(y, 0), True),
    _behind(
        "relu by linalg.elementwise",
        "",
        [],
        zeros("n", _C) + f"  %z = linalg.elementwise kind=#linalg.elementwise_kind<max_signed>"
        f" ins(%y, %n : {_C}, {_C}) outs(%n : {_C}) -> {_C}\n",
        lambda y: np.maximum(y, 0),
    ),
    _behind(
        "a map that rounds to bf16",
        "",
        [],
        f"  %e = tensor.empty() : {_CB}\n"
        f"  %z = linalg.map ins(%y : {_C}) outs(%e : {_CB}) (%i: f32, %o: bf16) {{\n"
        "    %n = math.absf %i : f32\n    %r = arith.truncf %n : f32 to bf16\n"
        "    linalg.yield %r : bf16\n  }\n",
        lambda y: _bf(np.abs(y)),
        result=_CB,
    ),
    _map(
        "gelu by tanh",
        _ONE + _HALF + "%k = arith.constant 0.044715 : f32; %w = arith.constant 0.797884583 : f32; "
        "%1 = arith.mulf %i0, %i0 : f32; %2 = arith.mulf %1, %i0 : f32; "
        "%3 = arith.mulf %2, %k : f32; "
        "%4 = arith.addf %i0, %3 : f32; %5 = arith.mulf %4, %w : f32; %6 = math.tanh %5 : f32; "
        "%7 = arith.addf %6, %one : f32; %8 = arith.mulf %i0, %half : f32; "
        "%r = arith.mulf %8, %7 : f32",
        lambda y: (
            0.5 * y * (1 + np.tanh(np.float32(0.797884583) * (y + np.float32(0.044715) * y**3)))
        ),
    ),
    _map(
        "gelu by erf",
        _ONE + _HALF + "%k = arith.constant 0.707106769 : f32; %1 = arith.mulf %i0, %k : f32; "
        "%2 = math.erf %1 : f32; %3 = arith.addf %2, %one : f32; %4 = arith.mulf %i0, %half : f32; "
        "%r = arith.mulf %3, %4 : f32",
        lambda y: (0.5 * y * (1 + _erf(y * 0.707106769))).astype(np.float32),
    ),
    _map(
        "silu",
        _ONE + "%1 = arith.negf %i0 : f32; %2 = math.exp %1 : f32; %3 = arith.addf %2, %one : f32; "
        "%r = arith.divf %i0, %3 : f32",
        lambda y: y / (1 + np.exp(-y)),
    ),
    _map(
        "a clamp",
        "%l = arith.constant -3.0 : f32; %h = arith.constant 4.0 : f32; "
        "%1 = arith.maximumf %i0, %l : f32; %r = arith.minimumf %1, %h : f32",
        lambda y: np.clip(y, -3, 4),
        True,
    ),
    _map(
        "roots of the absolute value",
        _ONE + "%1 = math.absf %i0 : f32; %2 = arith.addf %1, %one : f32; "
        "%3 = math.sqrt %2 : f32; %4 = math.rsqrt %2 : f32; %r = arith.addf %3, %4 : f32",
        lambda y: np.sqrt(abs(y) + 1) + 1 / np.sqrt(abs(y) + 1),
    ),
    _map(
        "a power",
        "%p = arith.constant 1.5 : f32; %1 = math.absf %i0 : f32; %r = math.powf %1, %p : f32",
        lambda y: np.abs(y) ** np.float32(1.5),
    ),
    _behind(
        "a select by an i1 tensor",
        ", %w: tensor<32x48xi1>",
        [whole((32, 48), np.bool_, 5)],
        each(
            "z",
            "mn,mn->mn",
            [_YC, ("%w", "tensor<32x48xi1>")],
            _C,
            "%n = arith.constant 0.0 : f32; %r = arith.select %i1, %i0, %n : f32",
        ),
        lambda y, w: np.where(w, y, np.float32(0)),
    ),
    _map(
        "a causal mask of -inf",
        _PLACES + "%l = arith.constant 0xFF800000 : f32; "
        "%w = arith.cmpi sge, %m, %n : index; %r = arith.select %w, %i0, %l : f32",
        lambda y: np.where(np.tri(32, 48, dtype=bool), y, np.float32(-np.inf)),
        True,
    ),
    _map(
        "a diagonal that is added",
        _PLACES + _ONE + "%w = arith.cmpi eq, %m, %n : index; "
        "%1 = arith.addf %i0, %one : f32; %r = arith.select %w, %1, %i0 : f32",
        lambda y: y + np.eye(32, 48, dtype=np.float32),
        True,
    ),
    _behind(
        "a residual matrix of bf16",
        f", %w: {_CB}",
        [whole((32, 48), seed=5)],
        each(
            "z",
            "mn,mn->mn",
            [_YC, ("%w", _CB)],
            _CB,
            "%1 = arith.truncf %i0 : f32 to bf16; %r = arith.addf %1, %i1 : bf16",
        ),
        lambda y, w: _bf(y) + w,
        result=_CB,
    ),
    _behind(
        "a transposed residual",
        f", %w: {_CT}",
        [_f32(48, 32)],
        each("z", "mn,nm->mn", [_YC, ("%w", _CT)], _C, _ADD),
        lambda y, w: y + w.T,
    ),
    _behind(
        "a transposed result",
        "",
        [],
        each("z", "nm->mn", [_YC], _CT, "%r = arith.negf %i0 : f32"),
        lambda y: -y.T,
        result=_CT,
    ),
    _behind(
        "two results of one generic",
        "",
        [],
        f"""  %e = tensor.empty() : {_C}
  %g = tensor.empty() : {_CB}
  %z:2 = linalg.generic {{indexing_maps = [{maps_of("mn,mn,mn", "mn")}],
    iterator_types = ["parallel", "parallel"]}} ins(%y : {_C}) outs(%e, %g : {_C}, {_CB}) {{
  ^bb0(%i: f32, %o: f32, %q: bf16):
    %1 = arith.negf %i : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %i, %2 : f32, bf16
  }} -> ({_C}, {_CB})
""",
        lambda y: (y, _bf(-y)),
        result=f"({_C}, {_CB})",
        returned="%z#0, %z#1",
    ),
    _behind(
        "sums of rows",
        "",
        [],
        _reduce("z", "%y", "0.0", "arith.addf"),
        lambda y: y.sum(1),
        result=_M,
    ),
    _behind(
        "relu, and the largest of each row",
        "",
        [],
        each("x", "mn->mn", [_YC], _C, _RELU) + _reduce("z", "%x", "0.0", "arith.maximumf"),
        lambda y: (np.maximum(y, 0), np.maximum(y, 0).max(1)),
        result=f"({_C}, {_M})",
        returned="%x, %z",
    ),
    _behind(
        "linalg.softmax",
        "",
        [],
        f"  %e = tensor.empty() : {_C}\n"
        f"  %z = linalg.softmax dimension(1) ins(%y : {_C}) outs(%e : {_C}) -> {_C}\n",
        _softmax,
        exact=False,
    ),
    _behind(
        "a softmax of generics",
        "",
        [],
        _reduce("x", "%y", "0xFF800000", "arith.maximumf")
        + each(
            "p",
            "mn,m->mn",
            [_YC, ("%x", _M)],
            _C,
            "%1 = arith.subf %i0, %i1 : f32; %r = math.exp %1 : f32",
        )
        + _reduce("t", "%p", "0.0", "arith.addf")
        + each("z", "mn,m->mn", [("%p", _C), ("%t", _M)], _C, "%r = arith.divf %i0, %i1 : f32"),
        _softmax,
        exact=False,
    ),
    _behind(
        "a chain of two, bias and relu",
        f", %v: {_N}",
        [_f32(48)],
        each("x", "mn,n->mn", [_YC, ("%v", _N)], _C, _ADD)
        + each("z", "mn->mn", [("%x", _C)], _C, _RELU),
        lambda y, v: np.maximum(y + v, 0),
    ),
    _behind(
        "used twice",
        "",
        [],
        each("x", "mn->mn", [_YC], _C, _RELU)
        + each("w", "mn->mn", [("%x", _C)], _CB, "%r = arith.truncf %i0 : f32 to bf16"),
        lambda y: (np.maximum(y, 0), _bf(np.maximum(y, 0))),
        result=f"({_C}, {_CB})",
        returned="%x, %w",
    ),
    _behind(
        "stored in a slice",
        ", %w: tensor<64x128xf32>",
        [_f32(64, 128)],
        each("x", "mn->mn", [_YC], _C, _RELU)
        + f"  %z = tensor.insert_slice %x into %w[16, 32] [32, 48] [1, 1]"
        f" : {_C} into tensor<64x128xf32>\n",
        lambda y, w: (
            np.pad(np.maximum(y, 0), ((16, 16), (32, 48)))
            + w * (1 - np.pad(np.ones_like(y), ((16, 16), (32, 48))))
        ),
        result="tensor<64x128xf32>",
    ),
    _behind(
        "collapsed behind",
        "",
        [],
        each("x", "mn->mn", [_YC], _C, _RELU)
        + f"  %z = tensor.collapse_shape %x [[0, 1]] : {_C} into tensor<1536xf32>\n",
        lambda y: np.maximum(y, 0).reshape(-1),
        result="tensor<1536xf32>",
    ),
    _behind(
        "expanded before an element-wise op of heads",
        ", %v: tensor<3xf32>",
        [_f32(3)],
        f"  %x = tensor.expand_shape %y [[0], [1, 2]] output_shape [32, 3, 16]"
        f" : {_C} into tensor<32x3x16xf32>\n"
        + each(
            "z",
            "mhn,h->hmn",
            [("%x", "tensor<32x3x16xf32>"), ("%v", "tensor<3xf32>")],
            "tensor<3x32x16xf32>",
            _MUL,
        ),
        lambda y, v: (y.reshape(32, 3, 16) * v[:, None]).swapaxes(0, 1),
        result="tensor<3x32x16xf32>",
    ),
    _behind(
        "linalg.transpose behind",
        "",
        [],
        f"  %e = tensor.empty() : {_CT}\n"
        f"  %z = linalg.transpose ins(%y : {_C}) outs(%e : {_CT}) permutation = [1, 0]\n",
        lambda y: np.ascontiguousarray(y.T),
        result=_CT,
    ),
    _behind(
        "packed behind",
        "",
        [],
        "  %e = tensor.empty() : tensor<4x3x8x16xf32>\n"
        f"  %z = linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [8, 16] into %e : {_C}"
        " -> tensor<4x3x8x16xf32>\n",
        lambda y: np.ascontiguousarray(y.reshape(4, 8, 3, 16).swapaxes(1, 2)),
        result="tensor<4x3x8x16xf32>",
    ),
]


def _attention(
    name: str,
    batch: Sequence[int] = (2,),
    m: int | str = 32,
    n: int | str = 64,
    element: str = "bf16",
    k_spec: str = "nd",
    v_spec: str = "nd",
    before: float = 0.0,
    scale: float = 0.125,
    mask: str = "",
    masked: Callable[[np.ndarray], np.ndarray] = lambda s: s,
    mask_argument: np.ndarray | None = None,
    largest: str = "maximumf",
    exponent: str = "%1 = arith.subf %i0, %i1 : f32; %r = math.exp %1 : f32",
    summed: str = "%r = arith.addf %o, %i0 : f32",
    weights: Callable[[np.ndarray], np.ndarray] = _softmax,
    divided_behind: bool = False,
    softmax_op: bool = False,
    tail: str = "",
    tail_of: Callable[[np.ndarray], np.ndarray] = lambda o: o,
    extents: tuple[int, int] = (32, 64),
) -> Case:
    """Two products with a softmax between them, or with almost one."""
    d = 64
    dynamic = m == "?"
    h = "bh"[: len(batch)]
    at = {"m": m, "n": n, "d": d}

    def of(spec: str, element: str) -> str:
        return tensor([*batch, *(at[x] for x in spec)], element)

    q, k, v = of("md", element), of(k_spec, element), of(v_spec, element)
    s, row, acc, o = of("mn", "f32"), of("m", "f32"), of("md", "f32"), of("md", element)
    weight, all_, one = of("mn", element), f"{h}mn", f"{h}m"
    sizes_s, sizes_m = ("%dm, %dn", "%dm") if dynamic else ("", "")
    text = ""
    if dynamic:
        text += (
            f"  %at = arith.constant {len(batch)} : index\n  %dm = tensor.dim %query, %at : {q}\n"
            f"  %dn = tensor.dim %keys, %at : {k}\n"
        )
    used = "%query"
    if before:
        used = "%u"
        text += each(
            "u",
            f"{h}md->{h}md",
            [("%query", q)],
            q,
            f"%k0 = arith.constant {before} : {element}; %r = arith.mulf %i0, %k0 : {element}",
            extents=sizes_m,
        )
    text += zeros("s0", s, extents=sizes_s)
    text += product("s", f"{h}md,{h}{k_spec}->{all_}", (used, q), ("%keys", k), ("%s0", s))
    inputs, spec = [("%s", s)], f"{all_}->{all_}"
    if mask_argument is not None:
        inputs, spec = (
            [("%s", s), ("%added", tensor(mask_argument.shape, "f32"))],
            f"{all_},mn->{all_}",
        )
    text += each(
        "x",
        spec,
        inputs,
        s,
        f"%k0 = arith.constant {scale} : f32; %{'y' if mask else 'r'} = arith.mulf %i0, %k0 : f32"
        + ("; " + mask if mask else ""),
        extents=sizes_s,
    )
    if softmax_op:
        text += f"""  %p_e = tensor.empty() : {s}
  %p = linalg.softmax dimension({len(batch) + 1}) ins(%x : {s}) outs(%p_e : {s}) -> {s}
"""
    else:
        lowest = "0xFF800000" if largest == "maximumf" else "0x7F800000"
        loops = maps_of(f"{all_}->{one}", all_)
        kinds = iterators(all_, one)
        for made, source, begin, body in (
            ("largest", "%x", lowest, f"%r = arith.{largest} %o, %i0 : f32"),
            ("total", "%e", "0.0", summed),
        ):
            if made == "total":
                text += each(
                    "e",
                    f"{all_},{one}->{all_}",
                    [("%x", s), ("%largest", row)],
                    s,
                    exponent,
                    extents=sizes_s,
                )
            text += zeros(f"{made}0", row, begin, extents=sizes_m)
            text += f"""  %{made} = linalg.generic {{indexing_maps = [{loops}],
    iterator_types = [{kinds}]}} ins({source} : {s}) outs(%{made}0 : {row}) {{
  ^bb0(%i0: f32, %o: f32):
    {body.replace("; ", chr(10) + "    ")}
    linalg.yield %r : f32
  }} -> {row}
"""
        if not divided_behind:
            text += each(
                "p",
                f"{all_},{one}->{all_}",
                [("%e", s), ("%total", row)],
                s,
                "%r = arith.divf %i0, %i1 : f32",
                extents=sizes_s,
            )
    narrow = f"%r = arith.truncf %i0 : f32 to {element}"
    text += each(
        "narrow",
        f"{all_}->{all_}",
        [("%e" if divided_behind else "%p", s)],
        weight,
        narrow,
        extents=sizes_s,
    )
    text += zeros("a0", acc, extents=sizes_m)
    text += product(
        "a", f"{all_},{h}{v_spec}->{h}md", ("%narrow", weight), ("%values", v), ("%a0", acc)
    )
    last = f"{h}md"
    if divided_behind:
        text += each(
            "b",
            f"{last},{one}->{last}",
            [("%a", acc), ("%total", row)],
            acc,
            "%r = arith.divf %i0, %i1 : f32",
            extents=sizes_m,
        )
    text += each(
        "result",
        f"{last}->{last}",
        [("%b" if divided_behind else "%a", acc)],
        o,
        (tail.replace("%r", "%r0") + "; " + narrow.replace("%i0", "%r0")) if tail else narrow,
        extents=sizes_m,
    )
    arguments = f"%query: {q}, %keys: {k}, %values: {v}"
    real = {"m": extents[0] if dynamic else m, "n": extents[1] if dynamic else n, "d": d}
    arrays = [
        normal([*batch, *(real[x] for x in spec)], DTYPES[element], i)
        for i, spec in enumerate(("md", k_spec, v_spec))
    ]
    if mask_argument is not None:
        arguments += f", %added: {tensor(mask_argument.shape, 'f32')}"
        arrays.append(mask_argument)

    def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, *_: np.ndarray) -> np.ndarray:
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        k = k if k_spec == "nd" else k.swapaxes(-1, -2)
        v = v if v_spec == "nd" else v.swapaxes(-1, -2)
        scores = masked(q * (before or 1) @ k.swapaxes(-1, -2) * scale)
        return tail_of(weights(scores) @ v).astype(DTYPES[element])

    return linalg_case(
        f"attention/{name}", 1, function(arguments, o, text, "%result"), arrays, reference, False
    )


def _see(rank: int, condition: str) -> str:
    """A mask by the places of a query `%m` and a key `%n`."""
    return (
        f"%m = linalg.index {rank} : index; %n = linalg.index {rank + 1} : index; "
        f"%l = arith.constant 0xFF800000 : f32; {condition}; %r = arith.select %w, %y, %l : f32"
    )


def _hide(sees: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda s: np.where(sees, s, -np.inf)


_ROW, _KEY = np.ogrid[:32, :64]
_ALIBI = (-0.125 * np.abs(_ROW - _KEY)).astype(np.float32)
_CAUSAL = "%w = arith.cmpi sge, %m, %n : index"
_EXP = "%r = math.exp %i0 : f32"

_ATTENTION = [
    _attention("three dimensions"),
    _attention("four dimensions, f16", (2, 3), element="f16"),
    _attention("K transposed", k_spec="dn"),
    _attention("values transposed", v_spec="dn"),
    _attention("Q scaled before", before=0.125, scale=1.0),
    _attention("Q and scores scaled", before=0.5, scale=0.25),
    _attention("causal", n=32, mask=_see(1, _CAUSAL), masked=_hide(np.tri(32, dtype=bool))),
    _attention(
        "causal, four dimensions",
        (1, 2),
        n=32,
        mask=_see(2, _CAUSAL),
        masked=_hide(np.tri(32, dtype=bool)),
    ),
    _attention(
        "causal, aligned to the last key",
        mask=_see(
            1,
            "%c = arith.constant 32 : index; %g = arith.addi %m, %c : index; "
            "%w = arith.cmpi sge, %g, %n : index",
        ),
        masked=_hide(_KEY <= _ROW + 32),
    ),
    _attention("causal, more keys than queries", mask=_see(1, _CAUSAL), masked=_hide(_KEY <= _ROW)),
    _attention(
        "a mask as an argument",
        mask="%r = arith.addf %y, %i1 : f32",
        mask_argument=_ALIBI,
        masked=lambda s: s + _ALIBI,
    ),
    _attention(
        "a bias by place",
        mask="%m = linalg.index 1 : index; %n = linalg.index 2 : index; "
        "%c = arith.subi %m, %n : index; %g = arith.index_cast %c : index to i32; "
        "%f = arith.sitofp %g : i32 to f32; %t = math.absf %f : f32; "
        "%k = arith.constant -0.125 : f32; "
        "%u = arith.mulf %t, %k : f32; %r = arith.addf %y, %u : f32",
        masked=lambda s: s + _ALIBI,
    ),
    _attention(
        "every second key",
        mask=_see(
            1,
            "%c = arith.constant 2 : index; %g = arith.remui %n, %c : index; "
            "%z = arith.constant 0 : index; %w = arith.cmpi eq, %g, %z : index",
        ),
        masked=_hide(_KEY % 2 == 0),
    ),
    _attention("linalg.softmax", softmax_op=True),
    _attention("divided behind", divided_behind=True),
    _attention("dynamic lengths", m="?", n="?", extents=(24, 40)),
    _attention("relu behind", tail=_RELU, tail_of=lambda o: np.maximum(o, 0)),
    _attention("near: no maximum", exponent=_EXP, weights=_softmax),
    _attention("near: a minimum", largest="minimumf", scale=0.03125),
    _attention(
        "near: sums of squares",
        summed="%1 = arith.mulf %i0, %i0 : f32; %r = arith.addf %o, %1 : f32",
        weights=lambda s: (lambda e: e / (e * e).sum(-1, keepdims=True))(
            np.exp(s - s.max(-1, keepdims=True))
        ),
    ),
    _attention(
        "near: powers of two",
        exponent="%1 = arith.subf %i0, %i1 : f32; %r = math.exp2 %1 : f32",
        weights=lambda s: _softmax(s * np.log(2)),
    ),
    _attention(
        "near: a soft cap by tanh",
        mask="%t = math.tanh %y : f32; %k = arith.constant 4.0 : f32; %r = arith.mulf %t, %k : f32",
        masked=lambda s: 4 * np.tanh(s),
    ),
]


def _structure(
    name: str,
    text: str,
    arrays: Sequence[Any],
    expected: Any,
    contractions: int = 1,
    **options: Any,
) -> Case:
    return linalg_case(f"structure/{name}", contractions, text, arrays, expected, **options)


_DYN = tensor("??", "bf16")
_DYNC = tensor("??", "f32")


def _dynamic(name: str, m: int, n: int, k: int) -> Case:
    text = f"""func.func @f(%a: {_DYN}, %b: {_DYN}) -> {_DYNC} {{
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %dm = tensor.dim %a, %0 : {_DYN}
  %dn = tensor.dim %b, %1 : {_DYN}
{zeros("c", _DYNC, extents="%dm, %dn")}  %y = linalg.matmul ins(%a, %b : {_DYN}, {_DYN})
    outs(%c : {_DYNC}) -> {_DYNC}
{each("z", "mn->mn", [("%y", _DYNC)], _DYNC, _RELU, extents="%dm, %dn")}  return %z : {_DYNC}
}}
"""
    arrays = [whole((m, k), seed=1), whole((k, n), seed=2)]
    return _structure(name, text, arrays, lambda a, b: np.maximum(_mm(a, b), 0))


_MA, _MB, _MC = (x.replace("tensor", "memref") for x in (_A, _B, _C))
_ON_MEMORY = f"  linalg.matmul ins(%a, %b : {_MA}, {_MB}) outs(%c : {_MC})\n"


def _add_to(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    c += _mm(a, b)


def _blocks(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    c[8:40, 16:64] += _mm(a[16:48, :64], b[:, 8:56])


def _in_place(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    a[:] = _bf(a.astype(np.float32) + _mm(a, b))
    c[:] = a


def _twice(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    c[:] = 1
    c += _mm(a, b)
    c *= 2


_STRUCTURE = [
    _dynamic("dynamic extents", 40, 24, 56),
    _dynamic("dynamic extents, rows that are not aligned", 5, 7, 9),
    _dynamic("a sum over no elements", 8, 16, 0),
    _structure(
        "a function that calls another one",
        f"""func.func @f(%a: {_A}, %b: {_B}) -> {_C} {{
  %x = func.call @g(%a, %b) : ({_A}, {_B}) -> {_C}
  %e = tensor.empty() : {_C}
  %z = linalg.negf ins(%x : {_C}) outs(%e : {_C}) -> {_C}
  return %z : {_C}
}}
func.func private @g(%a: {_A}, %b: {_B}) -> {_C} {{
{_Y}  return %y : {_C}
}}
""",
        _arrays(),
        lambda a, b: -_mm(a, b),
    ),
    _structure(
        "a product behind a condition",
        function(
            f"%a: {_A}, %b: {_B}, %w: i1",
            _C,
            f"""  %z = scf.if %w -> ({_C}) {{
{_Y}    scf.yield %y : {_C}
  }} else {{
{zeros("d", _C, "7.0")}    scf.yield %d : {_C}
  }}
""",
            "%z",
        ),
        _arrays(np.bool_(True)),
        lambda a, b, w: _mm(a, b),
    ),
    _structure(
        "memory that is written in place",
        function(f"%a: {_MA}, %b: {_MB}, %c: {_MC}", "", _ON_MEMORY, ""),
        _arrays(_f32(32, 48)),
        _add_to,
    ),
    _structure(
        "strided and offset memory",
        """func.func @f(%a: memref<64x128xbf16>, %b: memref<64x64xbf16>, %c: memref<48x80xf32>) {
  %x = memref.subview %a[16, 0] [32, 64] [1, 1]
    : memref<64x128xbf16> to memref<32x64xbf16, strided<[128, 1], offset: 2048>>
  %w = memref.subview %b[0, 8] [64, 48] [1, 1]
    : memref<64x64xbf16> to memref<64x48xbf16, strided<[64, 1], offset: 8>>
  %z = memref.subview %c[8, 16] [32, 48] [1, 1]
    : memref<48x80xf32> to memref<32x48xf32, strided<[80, 1], offset: 656>>
  linalg.matmul ins(%x, %w : memref<32x64xbf16, strided<[128, 1], offset: 2048>>,
    memref<64x48xbf16, strided<[64, 1], offset: 8>>)
    outs(%z : memref<32x48xf32, strided<[80, 1], offset: 656>>)
  return
}
""",
        [whole((64, 128), seed=1), whole((64, 64), seed=2), _f32(48, 80)],
        _blocks,
    ),
    _structure(
        "sums over memory that is also an operand",
        """func.func @f(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xbf16>) {
  %t = memref.alloc() : memref<64x64xbf16>
  memref.copy %a, %t : memref<64x64xbf16> to memref<64x64xbf16>
  linalg.matmul ins(%t, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%a : memref<64x64xbf16>)
  memref.copy %a, %c : memref<64x64xbf16> to memref<64x64xbf16>
  memref.dealloc %t : memref<64x64xbf16>
  return
}
""",
        [whole((64, 64), seed=i) for i in (1, 2, 3)],
        _in_place,
    ),
    _structure(
        "loops of affine besides the product",
        function(
            f"%a: {_MA}, %b: {_MB}, %c: {_MC}",
            "",
            f"""  %1 = arith.constant 1.0 : f32
  affine.for %i = 0 to 32 {{
    affine.for %j = 0 to 48 {{
      affine.store %1, %c[%i, %j] : {_MC}
    }}
  }}
{_ON_MEMORY}  affine.for %i = 0 to 32 {{
    affine.for %j = 0 to 48 {{
      %x = affine.load %c[%i, %j] : {_MC}
      %z = arith.addf %x, %x : f32
      affine.store %z, %c[%i, %j] : {_MC}
    }}
  }}
""",
            "",
        ),
        _arrays(_f32(32, 48)),
        _twice,
    ),
    _structure(
        "a dense constant as B",
        function(f"%a: {_A}", _C, f"  %b = arith.constant dense<0.5> : {_B}\n" + _Y, "%y"),
        _arrays()[:1],
        lambda a: _mm(a, np.full((64, 48), 0.5)),
    ),
    _structure(
        "two products with two results, one of them twice",
        function(
            f"%a: {_A}, %b: {_B}, %w: tensor<48x32xbf16>",
            f"({_C}, tensor<32x32xf32>, {_C})",
            _Y
            + each("h", "mn->mn", [_YC], _CB, "%r = arith.truncf %i0 : f32 to bf16")
            + zeros("d", "tensor<32x32xf32>")
            + f"  %z = linalg.matmul ins(%h, %w : {_CB}, tensor<48x32xbf16>)"
            " outs(%d : tensor<32x32xf32>) -> tensor<32x32xf32>\n",
            "%y, %z, %y",
        ),
        _arrays(whole((48, 32), seed=3)),
        lambda a, b, w: (_mm(a, b), _mm(_bf(_mm(a, b)), w), _mm(a, b)),
        2,
    ),
    _structure(
        "two products of one operand that meet",
        function(
            f"%a: {_A}, %b: {_B}, %w: {_B}",
            _C,
            _Y
            + _Y.replace("%b", "%w").replace("%c", "%g").replace("%y", "%x")
            + each("z", "mn,mn->mn", [_YC, ("%x", _C)], _C, _MUL),
            "%z",
        ),
        _arrays(whole((64, 48), seed=3)),
        lambda a, b, w: _mm(a, b) * _mm(a, w),
        2,
    ),
    _structure(
        "arguments that nothing uses, an i64 and an index that are added",
        function(
            f"%a: {_A}, %u: tensor<5xf32>, %b: {_B}, %i: i64, %j: index",
            f"({_C}, i64)",
            _Y + "  %k = arith.index_cast %j : index to i64\n  %s = arith.addi %i, %k : i64\n",
            "%y, %s",
        ),
        [whole((32, 64), seed=1), _f32(5), whole((64, 48), seed=2), np.int64(5), np.int64(7)],
        lambda a, u, b, i, j: (_mm(a, b), np.int64(i + j)),
    ),
    _structure(
        "operands that are slices, and a pad before",
        function(
            "%a: tensor<30x64xbf16>, %b: tensor<64x96xbf16>",
            _C,
            f"""  %n = arith.constant 0.0 : bf16
  %x = tensor.pad %a low[0, 0] high[2, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %n : bf16
  }} : tensor<30x64xbf16> to {_A}
  %w = tensor.extract_slice %b[0, 16] [64, 48] [1, 1] : tensor<64x96xbf16> to {_B}
"""
            + _Y.replace("%a,", "%x,").replace("%b :", "%w :"),
            "%y",
        ),
        [whole((30, 64), seed=1), whole((64, 96), seed=2)],
        lambda a, b: np.pad(_mm(a, b[:, 16:64]), ((0, 2), (0, 0))),
    ),
]

#: The modules.
CASES: list[Case] = [*_NAMED, *_GENERIC, *_TYPES, *_BEGINS, *_EPILOGUES, *_ATTENTION, *_STRUCTURE]
