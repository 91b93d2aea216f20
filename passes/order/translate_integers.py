"""Translates a function's integers to those of the program that is followed."""

from __future__ import annotations

from collections.abc import Callable

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of, is_wide
from .integers import COMPARISONS, OPERATIONS, UNKNOWN, VARIES, Integer, exactly
from .memrefs import is_constant_argument
from .program import Given, Let
from .widening import Widening

#: Ops whose result other CTAs or the host decide, with a value that they have in some run.
_GIVEN = {"gpu.block_id": 0, "gpu.cluster_block_id": 0, "gpu.grid_dim": 1}


class IntegerTranslator:
    """Translates ops on integers one by one, and numbers values in the order of their first use.

    Args:
        function: the function.

    Attributes:
        widening: how the integers of loops are widened.
    """

    def __init__(self, function: Op) -> None:
        self._function = function
        self.widening = Widening()
        self._numbers: dict[Value, int] = {}
        self._dimensions: dict[tuple[Value, int | None], int] = {}
        self._translations: dict[str, Callable[[Op], Let | Given | None]] = {
            **dict.fromkeys(OPERATIONS, self._arithmetic),
            **dict.fromkeys(_GIVEN, self._given),
            "arith.constant": self._constant,
            "arith.cmpi": self._compare,
            "arith.extsi": self._extend,
            "arith.trunci": self._truncate,
            "memref.dim": self._dimension,
            "memref.load": self._element,
            "gpu.block_dim": lambda op: Let(self.number(op.results[0]), lambda: UNKNOWN, ()),
        }

    def number(self, value: Value) -> int:
        """Return the number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def translate(self, op: Op) -> Let | Given | None:
        """Return the step of an op that computes an integer; None if nothing is known of one."""
        if op.name in self._translations:
            return self._translations[op.name](op)
        if op.name.startswith("arith.") and len(op.results) == 1:
            return self._unknown(op, list(op.operands))
        return None

    def argument(self, argument: Value) -> Given:
        """Return the step of a function's argument, which is the same for all threads."""
        return Given(self.number(argument), is_bool=str(argument.type) == "i1")

    def _unknown(self, op: Op, operands: list[Value]) -> Let:
        """Translate an op whose result is the same for all threads if its operands are."""
        return Let(self.number(op.results[0]), _unknown_of, tuple(map(self.number, operands)))

    def _element(self, op: Op) -> Let | None:
        """Translate `memref.load`, whose result all that read the element may share."""
        array, *indices = op.operands
        if not is_constant_argument(array, self._function):
            return None
        return self._unknown(op, indices)

    def _constant(self, op: Op) -> Let:
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.IntegerAttr | ir.BoolAttr) or is_wide(attribute.type):
            return self._unknown(op, [])
        number = exactly(int(attribute.value))
        result = self.number(op.results[0])
        self.widening.constant(result, number.residue)
        return Let(result, lambda: number, ())

    def _arithmetic(self, op: Op) -> Let:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.follow(op.name, result, operands)
        return Let(result, OPERATIONS[op.name], operands)

    def _compare(self, op: Op) -> Let:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.follow(op.name, result, operands)
        return Let(result, COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value], operands)

    def _truncate(self, op: Op) -> Let | None:
        narrow = op.results[0].type
        if not isinstance(narrow, ir.IntegerType):
            return None
        span = exactly(1 << narrow.width)
        remainder = OPERATIONS["arith.remui"]
        operands = (self.number(op.operands[0]),)
        result = self.number(op.results[0])
        self.widening.follow(op.name, result, operands)
        return Let(result, lambda x: remainder(x, span), operands)

    def _extend(self, op: Op) -> Let | None:
        """Translate a sign extension; that of an `i1` is 0 or -1 and is not followed."""
        return None if str(op.operands[0].type) == "i1" else self._arithmetic(op)

    def _given(self, op: Op) -> Given:
        return Given(self.number(op.results[0]), _GIVEN[op.name])

    def _dimension(self, op: Op) -> Let | Given | None:
        """Translate `memref.dim`: each dimension of an argument is one integer."""
        memref, dim = op.operands[0], constant_of(op.operands[1])
        result = self.number(op.results[0])
        if not isinstance(memref.owner, ir.Block) or memref.owner.owner.operation != self._function:
            return None
        extents = memref.type.shape if isinstance(memref.type, ir.MemRefType) else []
        if dim is not None and 0 <= dim < len(extents) and not memref.type.is_dynamic_dim(dim):
            extent = exactly(extents[dim])
            return Let(result, lambda: extent, ())
        same = self._dimensions.setdefault((memref, dim), result)
        return Given(result) if same == result else Let(result, _same, (same,))


def _same(x: Integer) -> Integer:
    return x


def _unknown_of(*operands: Integer) -> Integer:
    return UNKNOWN if all(x.uniform for x in operands) else VARIES
