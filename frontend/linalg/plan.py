"""Contractions as problems of the GEMM library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...bindings.mlir import ir
from ...kernels.gemm.generator.candidates import rank
from ...kernels.gemm.generator.config import Config
from ...kernels.gemm.generator.fusion import EpilogueOperand
from ...kernels.gemm.generator.problem import Problem, multiplicand
from ...kernels.gemm.generator.problem import results as stored_types
from ...layout.wgmma import MN_MAJOR
from .access import Access
from .arguments import Argument, element, follows, unaligned
from .contraction import Contraction
from .contraction import Operand as MatrixOperand
from .epilogue import Epilogue
from .fusing import checked, fusion_of, operand_of
from .loops import Dims, Group, dims_of, merged
from .memory import check_array
from .unfit import Unfit

#: Extents for which a kernel is chosen where they are dynamic: those of a large GEMM.
ASSUMED = 4096

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Plan:
    """A kernel for a contraction, and what it is launched on.

    Attributes:
        products: the contractions that it computes.
        epilogue: the element-wise op behind them; None if there is none.
        problem: the GEMM.
        config: its configuration.
        dims: the GEMM's dimensions.
        arguments: of the kernel, in its order.
        unknown: the arguments and their dimensions of which it is not known whether neighbours are a
            multiple of 16 bytes apart, as TMA has it.
    """

    products: tuple[Contraction, ...]
    epilogue: Epilogue | None
    problem: Problem
    config: Config
    dims: Dims
    arguments: tuple[Argument, ...]
    unknown: tuple[tuple[Argument, Group], ...]

    @property
    def ops(self) -> list[Any]:
        """The ops that the kernel computes, in the order of the program."""
        products = [each.op for each in self.products]
        if len(products) > 1 and products[1].is_before_in_block(products[0]):
            products.reverse()
        return [*products, self.epilogue.op] if self.epilogue else products

    @property
    def op(self) -> Any:
        """The op whose results the kernel computes: the last one."""
        return self.epilogue.op if self.epilogue else self.products[0].op


def planned(
    product: Contraction,
    epilogue: Epilogue | None,
    approximate: bool,
    config: Config | None,
) -> Plan:
    """Return the plan for a contraction and its epilogue.

    Args:
        product: the contraction.
        epilogue: what is behind it.
        approximate: see `Evaluation`.
        config: the configuration; None to choose one.

    Raises:
        Unfit: if the GEMM library has no such kernel.
    """
    products = epilogue.products if epilogue else (product,)
    results = epilogue.results if epilogue else (Access(product.c.value, product.c.loops),)
    read = list(epilogue.operands) if epilogue else []
    if product.init is not None:
        read.append(product.init)
    k = tuple(loop for loop in product.b.loops if loop in product.k)
    matrices = [_readable(product.a, k)]
    matrices += [_readable(each.b, k) for each in products]
    accesses = [*matrices, *results, *read]
    for each in accesses:
        check_array(each.value.type)
    if 0 in extents(accesses).values():
        raise Unfit("has an extent of 0")
    groups = merged(
        [each.loops for each in accesses], [follows(each) for each in accesses], product.k
    )
    of_access = dict(zip(map(id, accesses), groups, strict=True))
    a, b, c = (of_access[id(each)] for each in (matrices[0], matrices[1], results[0]))
    dims = dims_of(a, b, c, product.k)
    if dims.exchanged and len(products) > 1:
        raise Unfit(
            "is the gate of another product whose rows are along the shared operand's columns"
        )
    operands = [
        operand_of(f"e{number}", each, of_access[id(each)], dims)
        for number, each in enumerate(read)
    ]
    first, second = (product.b, product.a) if dims.exchanged else (product.a, product.b)
    a, b = (b, a) if dims.exchanged else (a, b)
    fusion = fusion_of(product, epilogue, [each for each, _ in operands], dims, approximate)
    stored = [element(each.value) for each in results]
    fitting = fusion.stored if fusion else (stored_types(first.element),)
    for made, types in zip(stored, fitting, strict=True):
        if made not in types:
            raise Unfit(f"makes a tensor of {made}; a kernel stores {' or '.join(types)}")
    problem = checked(
        lambda: Problem(
            first.element,
            second.element,
            stored[0],
            "k" if a[-1] == dims.k else "m",
            "k" if b[-1] == dims.k else "n",
            batch=dims.having,
            fusion=fusion,
            gated=len(products) > 1,
            d=stored[1] if len(stored) > 1 else None,
        )
    )
    chosen = _config(problem, dims, accesses, config)
    arguments = _arguments(problem, chosen, dims, matrices, results, operands)
    unknown = unaligned(arguments)
    return Plan(products, epilogue, problem, chosen, dims, tuple(arguments), tuple(unknown))


def _readable(operand: MatrixOperand, k: tuple[int, ...]) -> Access:
    """Return what a kernel can read of an operand: itself, or a copy in which K is contiguous.

    Args:
        operand: the operand.
        k: the loops that are summed over, in their order.
    """
    loops = operand.loops
    first = min(map(loops.index, k))
    follow_each_other = loops[first : first + len(k)] == k
    if follow_each_other and (loops[-1] in k or multiplicand(operand.element) in MN_MAJOR):
        return Access(operand.value, loops)
    loops = (*(loop for loop in loops if loop not in k), *k)
    return Access(operand.value, loops, tuple(map(operand.loops.index, loops)))


def _config(
    problem: Problem, dims: Dims, accesses: Sequence[Access], config: Config | None
) -> Config:
    """Return a configuration without parts of K in a workspace, which the host would have to keep."""
    if config is not None:
        checked(lambda: config.check(problem))
        if config.split_k > 1:
            raise Unfit("has a configuration with split_k > 1; expected cluster_k")
        return config
    size = extents(accesses)
    m, n, k = (extent(group, size) or ASSUMED for group in (dims.m, dims.n, dims.k))
    batch = [extent(group, size) or 1 for group in dims.batch]
    ranked = rank(problem, m, n, k, batch=batch)
    found = next((each.config for each in ranked if each.config.split_k == 1), None)
    if found is None:
        raise Unfit("does not fit the GEMM kernel: no configuration has the shared memory")
    return found


def extents(accesses: Sequence[Access]) -> Mapping[int, int | None]:
    """Return the extents of loops; None of those that are dynamic."""
    found: dict[int, int | None] = {}
    for access in accesses:
        for loop, size in zip(access.loops, access.shape, strict=True):
            if size != _DYNAMIC:
                found[loop] = size
            found.setdefault(loop, None)
    return found


def extent(group: Group, size: Mapping[int, int | None]) -> int | None:
    """Return the extent of a dimension; None if it is dynamic."""
    sizes = [size[loop] for loop in group]
    return None if None in sizes else prod(each for each in sizes if each is not None)


def _arguments(
    problem: Problem,
    config: Config,
    dims: Dims,
    matrices: Sequence[Access],
    results: Sequence[Access],
    operands: Sequence[tuple[EpilogueOperand, Argument]],
) -> list[Argument]:
    """Return the kernel's arguments, in its order; see `generator.kernel.build`."""
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
        Argument(name, each, (*dims.batch, dims.m, dims.n), is_result=True)
        for name, each in zip("CD", results, strict=False)
    ]
    found = [a, b, c[0]]
    if config.exchanged:
        found = [_transposed(each, name) for each, name in zip((b, a, c[0]), "ABC", strict=True)]
    if problem.gated:
        found.append(Argument("B2", gates[0], b.dims))
    if problem.d:
        found.append(_transposed(c[1], "D") if config.exchanged else c[1])
    return [*found, *(argument for _, argument in operands)]


def _transposed(argument: Argument, name: str) -> Argument:
    *batch, rows, columns = argument.dims
    return Argument(name, argument.access, (*batch, columns, rows), argument.is_result)
