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
from .arguments import Argument, element_type
from .contraction import ArrayAccess, Contraction
from .epilogue import Epilogue
from .gemm_dims import GemmDims, Group
from .scalar_code import FragmentEvaluator, TypedFragment, round_to
from .unsupported import Unsupported

#: Element types of matrices that TMA loads for an epilogue.
_LOADED = ("bf16", "f16", "f32")

#: What `EpilogueOperand.shape` calls the dimensions of an operand.
_SHAPES = {(): "", ("m",): "m", ("n",): "n", ("m", "n"): "mn"}

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def operand_of(
    name: str, access: ArrayAccess, groups: tuple[Group, ...], dims: GemmDims
) -> tuple[EpilogueOperand, Argument]:
    """Return an operand of the epilogue, and the kernel's argument for it."""
    if element_type(access.value) not in DTYPES:
        raise Unsupported(
            f"reads elements of {element_type(access.value)}, a type that kernels do not load"
        )
    roles: dict[Group, str] = {dims.n: "n"}
    if dims.m:
        roles[dims.m] = "m"
    batch = tuple(number for number, group in enumerate(dims.batch) if group in groups)
    of_batch = [dims.batch[number] for number in batch]
    for group in groups:
        if group not in roles and group not in of_batch:
            loops = " ".join(f"d{loop}" for loop in group)
            raise Unsupported(f"reads a tensor that varies along {loops}, a part of a dimension")
    of_matrix = sorted((roles[group] for group in groups if group in roles), key="mn".index)
    shape = _SHAPES[tuple(of_matrix)]
    by_tma = shape == "mn" and groups[-1] == dims.n and element_type(access.value) in _LOADED
    by_tma = by_tma and _are_rows_aligned(access, groups)
    order: tuple[Group, ...] = tuple({"m": dims.m, "n": dims.n}[role] for role in shape)
    if not groups:
        order = ((),)
    operand = EpilogueOperand(name, element_type(access.value), shape, by_tma, batch)
    return operand, Argument(name, access, (*of_batch, *order), by_tma=by_tma)


def _are_rows_aligned(access: ArrayAccess, groups: tuple[Group, ...]) -> bool:
    """Whether it is known that rows begin at multiples of 16 bytes."""
    if isinstance(access.value.type, ir.MemRefType):
        return False  # whose offset may be anything
    extents = access.shape[-len(groups[-1]) :]
    if _DYNAMIC in extents:
        return False
    return prod(extents) * DTYPES[element_type(access.value)].itemsize % UNIT_BYTES == 0


def fusion_of(
    product: Contraction,
    epilogue: Epilogue | None,
    operands: Sequence[EpilogueOperand],
    dims: GemmDims,
    approximate: bool,
) -> Fusion | None:
    """Return the kernel's epilogue; None if the kernel stores the sums."""
    if epilogue is None and product.init is None:
        return None
    products = len(epilogue.products) if epilogue else 1
    function = _function(product, epilogue, operands, dims, products, approximate)
    return convert_errors(
        lambda: trace_epilogue(function, operands, accumulator(product.a.element), products)
    )


def _function(
    product: Contraction,
    epilogue: Epilogue | None,
    operands: Sequence[EpilogueOperand],
    dims: GemmDims,
    product_count: int,
    approximate: bool,
) -> Callable[..., Any]:
    """Return the epilogue as a function of the kernel language."""
    sums = sl.dtype_of(product.c.element)
    has_init = product.init is not None
    has_index = epilogue is not None and any(op.name == "linalg.index" for op in epilogue.code.ops)
    positions = ("row", "col") if has_index else ()

    def apply(*products: Any, **named: Any) -> Any:
        totals = (
            [product + named[operands[-1].name] for product in products]
            if has_init
            else list(products)
        )
        rounded_sums = [_round_sum(total, sums) for total in totals]
        if epilogue is None:
            return (
                rounded_sums[0].exact
                if rounded_sums[0].exact is not None
                else rounded_sums[0].fragment
            )
        operand_iter = iter(operands)
        arguments = [
            None
            if argument is None
            else rounded_sums[argument].fragment
            if isinstance(argument, int)
            else named[next(operand_iter).name]
            for argument in epilogue.arguments
        ]

        loops = epilogue.loops

        def position(loop: int) -> sl.Fragment:
            return named["row" if (loops[loop],) == dims.m else "col"]

        results = FragmentEvaluator(epilogue.code, approximate, position).results(arguments)
        fragments = [_stored_fragment(fragment) for fragment in results]
        return fragments[0] if len(fragments) == 1 else tuple(fragments)

    if has_index:
        assert epilogue is not None
        _check_positions(epilogue, dims)
    parameters = [
        *(Parameter(f"p{number}", Parameter.POSITIONAL_ONLY) for number in range(product_count)),
        *(
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)
            for name in (*(operand.name for operand in operands), *positions)
        ),
    ]
    apply.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return apply


def _check_positions(epilogue: Epilogue, dims: GemmDims) -> None:
    for op in epilogue.code.ops:
        if op.name == "linalg.index":
            loop = epilogue.loops[int(dict(op.attributes)["dim"].split(" ")[0])]
            if (loop,) not in (dims.m, dims.n):
                raise Unsupported(
                    f"has a body with the index of d{loop}, a dimension of a batch or a part of one"
                )


def _round_sum(total: Any, sums: sl.DType) -> TypedFragment:
    """Round a sum to the contraction's element type."""
    return round_to(total, sums) if sums.is_float and sums != sl.f32 else TypedFragment(total, sums)


def _stored_fragment(typed: TypedFragment) -> Any:
    """Return the fragment to store, with the element type of an accumulator.

    The store rounds its elements, so they are not rounded before.
    """
    if typed.exact is not None:
        return typed.exact
    if typed.dtype.kind in ("integer", "bool") and typed.dtype != sl.i32:
        if typed.dtype.bits > 8:
            raise Unsupported(f"makes a tensor of {typed.dtype}; a kernel stores i32 or i8")
        return typed.fragment.to(sl.i32)
    return typed.fragment


def convert_errors(build: Callable[[], Any]) -> Any:
    """Return `build()`.

    Raises:
        Unsupported: for a problem, configuration or epilogue that the GEMM library refuses.
    """
    try:
        return build()
    except (ProblemError, ConfigError, TraceError) as error:
        raise Unsupported(f"does not fit the GEMM kernel: {error}") from None
