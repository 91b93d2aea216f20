"""Element-wise ops after contractions, which become epilogues of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...kernels.gemm.generator.fusion import MAX_RESULTS
from .contraction import ArrayAccess, Contraction
from .generic import GENERIC, body, inputs_of, is_reduction, maps_of, outputs_of, uses_of
from .scalar_code import ScalarCode, check_code, read_body
from .unsupported import Unsupported


@dataclass(frozen=True)
class Epilogue:
    """An element-wise function of one or two contractions with the same loops.

    Attributes:
        op: the `linalg.generic`.
        code: its body.
        products: the contractions, in the order of the kernel's products.
        arguments: for each argument of the body, the number of a product or the array that is read; None
            if it is not used.
        results: the results.
        loops: for each loop of `op`, the loop of the contraction.
    """

    op: Op
    code: ScalarCode
    products: tuple[Contraction, ...]
    arguments: tuple[int | ArrayAccess | None, ...]
    results: tuple[ArrayAccess, ...]
    loops: tuple[int, ...]

    @property
    def operands(self) -> list[ArrayAccess]:
        """The arrays that it reads besides products."""
        return [argument for argument in self.arguments if isinstance(argument, ArrayAccess)]


def match_epilogue(
    product: Contraction, others: Mapping[Op, Contraction], approximate: bool
) -> Epilogue | None:
    """Match the element-wise op that uses a contraction's result; None if there is none.

    Args:
        product: the contraction, on tensors.
        others: the contractions of the module, by their ops.
        approximate: see `FragmentEvaluator`.

    Raises:
        Unsupported: for an element-wise op that no kernel computes as an epilogue.
    """
    users = uses_of(list(product.op.results))
    if not users or users[0].name != GENERIC or any(is_reduction(users[0])):
        return None
    user = users[0]
    if len(users) > 1:
        raise Unsupported(
            f"reads a product that has {len(users)} uses; an epilogue is the only one"
        )
    if user.block != product.op.block:
        raise Unsupported("is in another block than the product that it reads")
    maps = maps_of(user)
    operands = [*inputs_of(user), *outputs_of(user)]
    product_number = next(
        number for number, value in enumerate(operands) if value == product.c.value
    )
    if product_number >= len(inputs_of(user)):
        raise Unsupported("writes to the product that it could be the epilogue of")
    if sorted(maps[product_number]) != list(range(len(is_reduction(user)))):
        raise Unsupported("broadcasts the product, so each sum is needed more than once")
    of_loop = dict(zip(maps[product_number], product.c.loops, strict=True))
    results = [
        ArrayAccess(value, tuple(of_loop[loop] for loop in loops))
        for value, loops in zip(user.results, maps[len(inputs_of(user)) :], strict=True)
    ]
    if len(results) > MAX_RESULTS:
        raise Unsupported(f"makes {len(results)} tensors; an epilogue makes up to {MAX_RESULTS}")
    for access in results:
        if sorted(access.loops) != sorted(product.c.loops):
            raise Unsupported("broadcasts its result")
        if access.loops != results[0].loops:
            raise Unsupported("makes two tensors with their dimensions in different orders")
    code = read_body(body(user))
    check_code(code, approximate)
    products = [product]
    arguments: list[int | ArrayAccess | None] = []
    for number, (value, loops) in enumerate(zip(operands, maps, strict=True)):
        access = ArrayAccess(value, tuple(of_loop[loop] for loop in loops))
        if not list(body(user).arguments[number].uses):
            arguments.append(None)
        elif number == product_number:
            arguments.append(0)
        elif len(products) == 1 and (gate := _gate(product, access, others)) is not None:
            products.append(gate)
            arguments.append(1)
        else:
            arguments.append(access)
    loops = tuple(of_loop[loop] for loop in range(len(of_loop)))
    return Epilogue(user, code, tuple(products), tuple(arguments), tuple(results), loops)


def _gate(
    product: Contraction, access: ArrayAccess, others: Mapping[Op, Contraction]
) -> Contraction | None:
    """Return the contraction that computes an operand of the epilogue, if one kernel computes both.

    It must have the product's A, a B of the same type, and the same loops.
    """
    value = access.value
    if isinstance(value.owner, ir.Block):
        return None
    gate = others.get(value.owner.operation)
    if gate is None or gate.on_memrefs or len(uses_of(list(gate.op.results))) != 1:
        return None
    same = (
        access.loops == gate.c.loops == product.c.loops
        and (gate.a.loops, gate.b.loops, gate.k) == (product.a.loops, product.b.loops, product.k)
        and gate.b.value.type == product.b.value.type
        and gate.c.element == product.c.element
        and gate.a.value == product.a.value
        and (gate.a.element, gate.b.element) == (product.a.element, product.b.element)
    )
    return gate if same and gate.init is None and product.init is None else None
