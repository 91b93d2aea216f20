"""Epilogues of contractions in the kernel language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from math import prod
from typing import Any

from ... import language as sl
from ...bindings.mlir import ir
from ...kernels.gemm.generator.config import ConfigError
from ...kernels.gemm.generator.fusion import EpilogueOperand, Fusion, trace_epilogue
from ...kernels.gemm.generator.problem import ProblemError, accumulator
from ...language.errors import TraceError
from ...layout.elements import UNIT_BYTES
from ...runtime.arguments import DTYPES
from .access import Access
from .arguments import Argument, element
from .contraction import Contraction
from .epilogue import Epilogue
from .loops import Dims, Group
from .scalar_code import Evaluation, Held, rounded
from .unfit import Unfit

#: Element types of matrices that TMA loads for an epilogue.
_LOADED = ("bf16", "f16", "f32")

#: What `EpilogueOperand.shape` calls the dimensions of an operand.
_SHAPES = {(): "", ("m",): "m", ("n",): "n", ("m", "n"): "mn"}

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def operand_of(
    name: str, access: Access, groups: tuple[Group, ...], dims: Dims
) -> tuple[EpilogueOperand, Argument]:
    """Return an operand of the epilogue, and the argument that it is."""
    if element(access.value) not in DTYPES:
        raise Unfit(f"reads elements of {element(access.value)}, a type that kernels do not load")
    roles: dict[Group, str] = {dims.n: "n"}
    if dims.m:
        roles[dims.m] = "m"
    for group in groups:
        if group not in roles:
            loops = " ".join(f"d{loop}" for loop in group)
            raise Unfit(
                f"reads a tensor that varies along {loops}, a dimension of a batch or a part of one"
            )
    named = tuple(sorted((roles[group] for group in groups), key="mn".index))
    shape = _SHAPES[named]
    by_tma = shape == "mn" and groups[-1] == dims.n and element(access.value) in _LOADED
    by_tma = by_tma and _are_rows_aligned(access, groups)
    order = {"mn": (dims.m, dims.n), "m": (dims.m,), "n": (dims.n,), "": ((),)}[shape]
    operand = EpilogueOperand(name, element(access.value), shape, by_tma)
    return operand, Argument(name, access, order, by_tma=by_tma)


def _are_rows_aligned(access: Access, groups: tuple[Group, ...]) -> bool:
    """Whether it is known that rows begin at multiples of 16 bytes."""
    if isinstance(access.value.type, ir.MemRefType):
        return False  # whose offset may be anything
    extents = access.shape[-len(groups[-1]) :]
    if _DYNAMIC in extents:
        return False
    return prod(extents) * DTYPES[element(access.value)].itemsize % UNIT_BYTES == 0


def fusion_of(
    product: Contraction,
    epilogue: Epilogue | None,
    operands: Sequence[EpilogueOperand],
    dims: Dims,
    approximate: bool,
) -> Fusion | None:
    """Return the kernel's epilogue; None if it stores sums as they are."""
    if epilogue is None and product.init is None:
        return None
    products = len(epilogue.products) if epilogue else 1
    function = _function(product, epilogue, operands, dims, products, approximate)
    return checked(
        lambda: trace_epilogue(function, operands, accumulator(product.a.element), products)
    )


def _function(
    product: Contraction,
    epilogue: Epilogue | None,
    operands: Sequence[EpilogueOperand],
    dims: Dims,
    products: int,
    approximate: bool,
) -> Callable[..., Any]:
    """Return the epilogue as a function of the kernel language."""
    sums = sl.dtype_of(product.c.element)
    has_init = product.init is not None
    indexed = epilogue is not None and any(op.name == "linalg.index" for op in epilogue.code.ops)
    positions = ("row", "col") if indexed else ()

    def apply(*given: Any, **named: Any) -> Any:
        totals = [each + named[operands[-1].name] for each in given] if has_init else list(given)
        held = [_held(each, sums) for each in totals]
        if epilogue is None:
            return held[0].exact if held[0].exact is not None else held[0].fragment
        read = iter(operands)
        arguments = [
            None
            if each is None
            else held[each].fragment
            if isinstance(each, int)
            else named[next(read).name]
            for each in epilogue.arguments
        ]

        loops = epilogue.loops

        def place(loop: int) -> sl.Fragment:
            return named["row" if (loops[loop],) == dims.m else "col"]

        made = Evaluation(epilogue.code, approximate, place).results(arguments)
        stored = [_stored(each) for each in made]
        return stored[0] if len(stored) == 1 else tuple(stored)

    if indexed:
        assert epilogue is not None
        _check_positions(epilogue, dims)
    kinds = [
        *(Parameter(f"p{number}", Parameter.POSITIONAL_ONLY) for number in range(products)),
        *(
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)
            for name in (*(each.name for each in operands), *positions)
        ),
    ]
    apply.__signature__ = Signature(kinds)  # type: ignore[attr-defined]
    return apply


def _check_positions(epilogue: Epilogue, dims: Dims) -> None:
    for op in epilogue.code.ops:
        if op.name == "linalg.index":
            loop = epilogue.loops[int(dict(op.attributes)["dim"].split(" ")[0])]
            if (loop,) not in (dims.m, dims.n):
                raise Unfit(
                    f"has a body with the index of d{loop}, a dimension of a batch or a part of one"
                )


def _held(total: Any, sums: sl.DType) -> Held:
    """Return a product as the contraction's element type holds it."""
    return rounded(total, sums) if sums.is_float and sums != sl.f32 else Held(total, sums)


def _stored(held: Held) -> Any:
    """Return the fragment to store, of the element type of an accumulator; its elements are exact, or
    will be rounded once."""
    if held.exact is not None:
        return held.exact
    if held.dtype.kind in ("integer", "bool") and held.dtype != sl.i32:
        if held.dtype.bits > 8:
            raise Unfit(f"makes a tensor of {held.dtype}; a kernel stores i32 or i8")
        return held.fragment.to(sl.i32)
    return held.fragment


def checked(make: Callable[[], Any]) -> Any:
    """Return what a function makes; what it refuses is why an op stays."""
    try:
        return make()
    except (ProblemError, ConfigError, TraceError) as error:
        raise Unfit(f"does not fit the GEMM kernel: {error}") from None
