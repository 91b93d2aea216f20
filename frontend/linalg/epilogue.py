"""Element-wise ops behind contractions, which become their epilogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...kernels.gemm.generator.fusion import MAX_RESULTS
from .access import Access
from .contraction import Contraction
from .generic import GENERIC, body, inputs_of, is_reduction, maps_of, outputs_of, uses_of
from .scalar_code import ScalarCode, check_code, scalar_code
from .unfit import Unfit


@dataclass(frozen=True)
class Epilogue:
    """An element-wise function of one or two contractions with the same loops.

    Attributes:
        op: the `linalg.generic`.
        code: its body.
        products: the contractions, in the order of the kernel's products.
        arguments: for each argument of the body, what it is: the number of a product, what is read, or
            None if it is not used.
        results: what it makes.
        loops: the contraction's loop for each of its own.
    """

    op: Op
    code: ScalarCode
    products: tuple[Contraction, ...]
    arguments: tuple[int | Access | None, ...]
    results: tuple[Access, ...]
    loops: tuple[int, ...]

    @property
    def operands(self) -> list[Access]:
        """What it reads besides products."""
        return [each for each in self.arguments if isinstance(each, Access)]


def epilogue_of(
    product: Contraction, others: Mapping[Op, Contraction], approximate: bool
) -> Epilogue | None:
    """Return the element-wise op that a contraction's result goes to; None if there is none.

    Args:
        product: the contraction, on tensors.
        others: the contractions of the module, by their ops.
        approximate: see `Evaluation`.

    Raises:
        Unfit: for an element-wise op that no kernel computes behind the product.
    """
    users = uses_of(list(product.op.results))
    if not users or users[0].name != GENERIC or any(is_reduction(users[0])):
        return None
    user = users[0]
    if len(users) > 1:
        raise Unfit(f"reads a product that has {len(users)} uses; an epilogue is the only one")
    if user.block != product.op.block:
        raise Unfit("is in another block than the product that it reads")
    maps = maps_of(user)
    given = [*inputs_of(user), *outputs_of(user)]
    at = next(number for number, value in enumerate(given) if value == product.c.value)
    if at >= len(inputs_of(user)):
        raise Unfit("writes to the product that it could be the epilogue of")
    if sorted(maps[at]) != list(range(len(is_reduction(user)))):
        raise Unfit("broadcasts the product, so each sum is needed more than once")
    of_loop = dict(zip(maps[at], product.c.loops, strict=True))
    results = [
        Access(value, tuple(of_loop[loop] for loop in loops))
        for value, loops in zip(user.results, maps[len(inputs_of(user)) :], strict=True)
    ]
    if len(results) > MAX_RESULTS:
        raise Unfit(f"makes {len(results)} tensors; an epilogue makes up to {MAX_RESULTS}")
    for each in results:
        if sorted(each.loops) != sorted(product.c.loops):
            raise Unfit("broadcasts its result")
        if each.loops != results[0].loops:
            raise Unfit("makes two tensors with their dimensions in different orders")
    code = scalar_code(body(user))
    check_code(code, approximate)
    products = [product]
    arguments: list[int | Access | None] = []
    for number, (value, loops) in enumerate(zip(given, maps, strict=True)):
        access = Access(value, tuple(of_loop[loop] for loop in loops))
        if not list(body(user).arguments[number].uses):
            arguments.append(None)
        elif number == at:
            arguments.append(0)
        elif len(products) == 1 and (other := _gate(product, access, others)) is not None:
            products.append(other)
            arguments.append(1)
        else:
            arguments.append(access)
    loops = tuple(of_loop[loop] for loop in range(len(of_loop)))
    return Epilogue(user, code, tuple(products), tuple(arguments), tuple(results), loops)


def _gate(
    product: Contraction, access: Access, others: Mapping[Op, Contraction]
) -> Contraction | None:
    """Return the contraction that an operand is, if one kernel computes it with the product: it has the
    same A, a B of the same type, and the same loops."""
    value = access.value
    if isinstance(value.owner, ir.Block):
        return None
    other = others.get(value.owner.operation)
    if other is None or other.on_memrefs or len(uses_of(list(other.op.results))) != 1:
        return None
    same = (
        access.loops == other.c.loops == product.c.loops
        and (other.a.loops, other.b.loops, other.k) == (product.a.loops, product.b.loops, product.k)
        and other.b.value.type == product.b.value.type
        and other.c.element == product.c.element
        and other.a.value == product.a.value
        and (other.a.element, other.b.element) == (product.a.element, product.b.element)
    )
    return other if same and other.init is None and product.init is None else None


def last(products: Sequence[Contraction]) -> Contraction:
    """Return the contraction that comes last in its block."""
    found = products[0]
    for each in products[1:]:
        if found.op.is_before_in_block(each.op):
            found = each
    return found
