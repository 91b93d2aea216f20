"""Contractions as problems of the GEMM library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ...bindings.mlir import ir
from ...kernels.gemm.generator.candidates import rank
from ...kernels.gemm.generator.config import Config
from ...kernels.gemm.generator.fusion import EpilogueOperand
from ...kernels.gemm.generator.problem import Problem, multiplicand
from ...kernels.gemm.generator.problem import results as stored_types
from ...layout.wgmma import MN_MAJOR
from .arguments import (
    Argument,
    collapsible_dims,
    copy_of_strided,
    element_type,
    unaligned_dims,
)
from .contraction import ArrayAccess, Contraction, ContractionOperand
from .epilogue import Epilogue
from .fusing import convert_errors, fusion_of, operand_of
from .gemm_dims import GemmDims, Group, match_gemm_dims, merge_dims
from .memory import check_array
from .unsupported import Unsupported

#: Extents for which a kernel is chosen where they are dynamic: those of a large GEMM.
ASSUMED = 4096

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class GemmPlan:
    """A kernel for a contraction, and its arguments.

    Attributes:
        products: the contractions that the kernel computes.
        epilogue: the element-wise op after them; None if there is none.
        problem: the GEMM.
        config: the kernel's configuration.
        dims: the GEMM's dimensions.
        arguments: the kernel's arguments, in order.
        maybe_unaligned: the dimensions of arguments whose stride in bytes is not known to be a multiple
            of 16, as TMA requires.
    """

    products: tuple[Contraction, ...]
    epilogue: Epilogue | None
    problem: Problem
    config: Config
    dims: GemmDims
    arguments: tuple[Argument, ...]
    maybe_unaligned: tuple[tuple[Argument, Group], ...]

    @property
    def ops(self) -> list[Any]:
        """The ops that the kernel computes, in the order of the program."""
        products = [product.op for product in self.products]
        if len(products) > 1 and products[1].is_before_in_block(products[0]):
            products.reverse()
        return [*products, self.epilogue.op] if self.epilogue else products

    @property
    def op(self) -> Any:
        """The op whose results the kernel computes: the last one."""
        return self.epilogue.op if self.epilogue else self.products[0].op


def plan_gemm(
    product: Contraction,
    epilogue: Epilogue | None,
    approximate: bool,
    config: Config | None,
    copied: Mapping[int, int] | None = None,
) -> GemmPlan:
    """Plan a kernel for a contraction and its epilogue.

    What TMA cannot access is copied: an operand that is contiguous along no dimension of its matrix, and
    an array whose rows are known to begin at other addresses than multiples of 16 bytes.

    Args:
        product: the contraction.
        epilogue: its epilogue.
        approximate: see `FragmentEvaluator`.
        config: the configuration; None to choose one.
        copied: the arrays that are known to be copied, by their numbers, with `ArrayAccess.row`.

    Raises:
        Unsupported: if the GEMM library has no such kernel.
    """
    products = epilogue.products if epilogue else (product,)
    results = epilogue.results if epilogue else (ArrayAccess(product.c.value, product.c.loops),)
    epilogue_reads = list(epilogue.operands) if epilogue else []
    if product.init is not None:
        epilogue_reads.append(product.init)
    k = tuple(loop for loop in product.b.loops if loop in product.k)
    copied = dict(copied or {})
    matrices = [
        _readable(operand, k, number in copied)
        for number, operand in enumerate((product.a, *(gemm.b for gemm in products)))
    ]
    both = set(product.a.loops) & set(product.b.loops)
    accesses = [*matrices, *(_writable(result, both) for result in results), *epilogue_reads]
    for access in accesses:
        check_array(access.value.type)
    accesses = [
        _with_rows(copy_of_strided(access), copied.get(number, 0))
        for number, access in enumerate(accesses)
    ]
    matrices, others = accesses[: len(matrices)], accesses[len(matrices) :]
    results, epilogue_reads = others[: len(results)], others[len(results) :]
    if 0 in extents(accesses).values():
        raise Unsupported("has an extent of 0")
    groups = merge_dims(
        [access.loops for access in accesses],
        [collapsible_dims(access) for access in accesses],
        product.k,
    )
    groups_of = dict(zip(map(id, accesses), groups, strict=True))
    a, b, c = (groups_of[id(access)] for access in (matrices[0], matrices[1], results[0]))
    dims = match_gemm_dims(a, b, c, product.k)
    minor = {dims.k, dims.m, dims.n}
    if unreadable := {i: 0 for i, array in enumerate((a, b)) if array[-1] not in minor}:
        return plan_gemm(product, epilogue, approximate, config, copied | unreadable)
    if dims.exchanged and len(products) > 1:
        raise Unsupported(
            "is the gate of another product whose rows are along the shared operand's columns"
        )
    operands = [
        operand_of(f"e{number}", access, groups_of[id(access)], dims)
        for number, access in enumerate(epilogue_reads)
    ]
    first, second = (product.b, product.a) if dims.exchanged else (product.a, product.b)
    a, b = (b, a) if dims.exchanged else (a, b)
    fusion = fusion_of(product, epilogue, [operand for operand, _ in operands], dims, approximate)
    result_types = [element_type(access.value) for access in results]
    allowed_types = fusion.stored if fusion else (stored_types(first.element),)
    for type_, allowed in zip(result_types, allowed_types, strict=True):
        if type_ not in allowed:
            raise Unsupported(f"makes a tensor of {type_}; a kernel stores {' or '.join(allowed)}")
    problem = convert_errors(
        lambda: Problem(
            first.element,
            second.element,
            result_types[0],
            "k" if a[-1] == dims.k else "m",
            "k" if b[-1] == dims.k else "n",
            batch=dims.having,
            fusion=fusion,
            gated=len(products) > 1,
            d=result_types[1] if len(result_types) > 1 else None,
        )
    )
    chosen_config = _config(problem, dims, accesses, config)
    arguments = _arguments(problem, chosen_config, dims, matrices, results, operands)
    unaligned = [argument.access for argument, _ in unaligned_dims(arguments, known=True)]
    if unaligned:
        rows = {
            number: len(groups_of[id(access)][-1])
            for number, access in enumerate(accesses)
            if any(access is other for other in unaligned)
        }
        return plan_gemm(product, epilogue, approximate, config, copied | rows)
    return GemmPlan(
        products,
        epilogue,
        problem,
        chosen_config,
        dims,
        tuple(arguments),
        tuple(unaligned_dims(arguments, known=False)),
    )


def _readable(operand: ContractionOperand, k: tuple[int, ...], is_copied: bool) -> ArrayAccess:
    """Return an operand if a kernel can read it; else a copy of it in which K is contiguous.

    Args:
        operand: the operand.
        k: the loops that are summed over, in their order.
        is_copied: whether it is known that a kernel cannot.
    """
    loops = operand.loops
    first = min(map(loops.index, k))
    follow_each_other = loops[first : first + len(k)] == k
    by_columns = multiplicand(operand.element) in MN_MAJOR and not is_copied
    if follow_each_other and (loops[-1] in k or by_columns):
        return ArrayAccess(operand.value, loops)
    loops = (*(loop for loop in loops if loop not in k), *k)
    return ArrayAccess(operand.value, loops, tuple(map(operand.loops.index, loops)))


def _writable(result: ArrayAccess, both: set[int]) -> ArrayAccess:
    """Return a result if a kernel can write it; else a copy whose batches come first."""
    if not result.loops or result.loops[-1] not in both:
        return result
    loops = sorted(result.loops, key=lambda loop: loop not in both)
    return ArrayAccess(result.value, tuple(loops), tuple(map(result.loops.index, loops)))


def _with_rows(access: ArrayAccess, row: int) -> ArrayAccess:
    if not row:
        return access
    permutation = access.permutation or tuple(range(len(access.loops)))
    return replace(access, permutation=permutation, row=row)


def _config(
    problem: Problem, dims: GemmDims, accesses: Sequence[ArrayAccess], config: Config | None
) -> Config:
    """Return a configuration with `split_k == 1`: a host program has no workspace."""
    if config is not None:
        convert_errors(lambda: config.check(problem))
        if config.split_k > 1:
            raise Unsupported("has a configuration with split_k > 1; expected cluster_k")
        return config
    size = extents(accesses)
    m, n, k = (extent(group, size) or ASSUMED for group in (dims.m, dims.n, dims.k))
    batch = [extent(group, size) or 1 for group in dims.batch]
    ranked = rank(problem, m, n, k, batch=batch)
    fitting = next(
        (candidate.config for candidate in ranked if candidate.config.split_k == 1), None
    )
    if fitting is None:
        raise Unsupported("does not fit the GEMM kernel: no configuration has the shared memory")
    return fitting


def extents(accesses: Sequence[ArrayAccess]) -> Mapping[int, int | None]:
    """Return the extents of loops; None for dynamic ones."""
    extents_by_loop: dict[int, int | None] = {}
    for access in accesses:
        for loop, size in zip(access.loops, access.shape, strict=True):
            if size != _DYNAMIC:
                extents_by_loop[loop] = size
            extents_by_loop.setdefault(loop, None)
    return extents_by_loop


def extent(group: Group, sizes_by_loop: Mapping[int, int | None]) -> int | None:
    """Return the extent of a dimension; None if it is dynamic."""
    extents_of_group = [sizes_by_loop[loop] for loop in group]
    return (
        None
        if None in extents_of_group
        else prod(size for size in extents_of_group if size is not None)
    )


def _arguments(
    problem: Problem,
    config: Config,
    dims: GemmDims,
    matrices: Sequence[ArrayAccess],
    results: Sequence[ArrayAccess],
    operands: Sequence[tuple[EpilogueOperand, Argument]],
) -> list[Argument]:
    """Return the kernel's arguments, in order; see `generator.kernel.build`."""
    first, second, *gates = matrices
    if dims.exchanged:
        first, second = second, first
    batches = {
        name: tuple(
            group for group, having in zip(dims.batch, dims.having, strict=True) if name in having
        )
        for name in "ab"
    }
    a = Argument("A", first, (*batches["a"], dims.m, dims.k))
    b = Argument("B", second, (*batches["b"], dims.k, dims.n))
    c = [
        Argument(name, access, (*dims.batch, dims.m, dims.n), is_result=True)
        for name, access in zip("CD", results, strict=False)
    ]
    arguments = [a, b, c[0]]
    if config.exchanged:
        arguments = [
            _transpose(argument, name) for argument, name in zip((b, a, c[0]), "ABC", strict=True)
        ]
    if problem.gated:
        arguments.append(Argument("B2", gates[0], b.dims))
    if problem.d:
        arguments.append(_transpose(c[1], "D") if config.exchanged else c[1])
    return [*arguments, *(argument for _, argument in operands)]


def _transpose(argument: Argument, name: str) -> Argument:
    *batch, rows, columns = argument.dims
    return Argument(name, argument.access, (*batch, columns, rows), argument.is_result)
