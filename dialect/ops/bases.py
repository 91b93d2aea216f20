"""The descriptors of an `smem.wgmma` whose operands need more than one."""

from typing import Any

from ..bindings import ir
from ..diagnostics import Invalid


def descriptors_of(op: Any, operand: str) -> list[Any]:
    """For each block of operand "a" or "b", the descriptor that its step is added to."""
    own = op.operands["ab".index(operand)]
    if f"{operand}_bases" not in op.attributes:
        return [own] * len(op.attributes[f"{operand}_steps"])
    choices = [own, *_further(op)]
    return [choices[base] for base in op.attributes[f"{operand}_bases"]]


def check_bases(op: Any) -> None:
    """Checks that the blocks' bases are descriptors that the op has, and that it has no others.

    Raises:
        Invalid: if they are not.
    """
    count = len(_further(op))
    used: set[int] = set()
    for operand in "ab":
        name, steps = f"{operand}_bases", op.attributes[f"{operand}_steps"]
        if name not in op.attributes:
            continue
        bases = op.attributes[name]
        fits = isinstance(bases, ir.DenseI64ArrayAttr) and len(bases) == len(steps)
        if not fits or not all(0 <= base <= count for base in bases):
            raise Invalid(
                f"has {name} = {bases}; expected array<i64: ...> with 0 to {count} for each of "
                f"{len(steps)} blocks"
            )
        used |= set(bases)
    unused = sorted(set(range(1, count + 1)) - used)
    if unused:
        raise Invalid(
            f"has {count} further descriptors, but no block is a step from number "
            f"{', '.join(map(str, unused))}"
        )


def _further(op: Any) -> list[Any]:
    """The descriptors beside `a` and `b`."""
    return [v for v in list(op.operands)[2:] if str(v.type) == "i64"]
