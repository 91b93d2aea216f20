"""Translate a function's integers to those of its step program, and find how loops widen them."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of, is_wide
from .effects import is_constant_argument
from .integers import COMPARISONS, OPERATIONS, UNKNOWN, VARIES, Integer, exactly
from .program import ComputedInteger, LaunchInteger

#: Ops whose result the launch decides, with a value that it has in some run.
_LAUNCH_INTEGERS = {"gpu.block_id": 0, "gpu.cluster_block_id": 0, "gpu.grid_dim": 1}


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
        self._translations: dict[str, Callable[[Op], ComputedInteger | LaunchInteger | None]] = {
            **dict.fromkeys(OPERATIONS, self._arithmetic),
            **dict.fromkeys(_LAUNCH_INTEGERS, self._launch_integer),
            "arith.constant": self._constant,
            "arith.cmpi": self._compare,
            "arith.extsi": self._extend,
            "arith.trunci": self._truncate,
            "memref.dim": self._dimension,
            "memref.load": self._element,
            "gpu.block_dim": lambda op: ComputedInteger(
                self.number(op.results[0]), lambda: UNKNOWN, ()
            ),
        }

    def number(self, value: Value) -> int:
        """Return the number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def translate(self, op: Op) -> ComputedInteger | LaunchInteger | None:
        """Return the step of an op that computes an integer; None if nothing is known of one."""
        if op.name in self._translations:
            return self._translations[op.name](op)
        if op.name.startswith("arith.") and len(op.results) == 1:
            return self._unknown(op, list(op.operands))
        return None

    def argument(self, argument: Value) -> LaunchInteger:
        """Return the step of a function's argument, which is the same for all threads."""
        return LaunchInteger(self.number(argument), is_bool=str(argument.type) == "i1")

    def _unknown(self, op: Op, operands: list[Value]) -> ComputedInteger:
        """Translate an op whose result is the same for all threads if its operands are."""
        return ComputedInteger(
            self.number(op.results[0]), _unknown_of, tuple(map(self.number, operands))
        )

    def _element(self, op: Op) -> ComputedInteger | None:
        """Translate `memref.load`: uniform if the indices are, and if no op writes the argument."""
        array, *indices = op.operands
        if not is_constant_argument(array, self._function):
            return None
        return self._unknown(op, indices)

    def _constant(self, op: Op) -> ComputedInteger:
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.IntegerAttr | ir.BoolAttr) or is_wide(attribute.type):
            return self._unknown(op, [])
        number = exactly(int(attribute.value))
        result = self.number(op.results[0])
        self.widening.add_constant(result, number.residue)
        return ComputedInteger(result, lambda: number, ())

    def _arithmetic(self, op: Op) -> ComputedInteger:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(result, OPERATIONS[op.name], operands)

    def _compare(self, op: Op) -> ComputedInteger:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(
            result, COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value], operands
        )

    def _truncate(self, op: Op) -> ComputedInteger | None:
        narrow = op.results[0].type
        if not isinstance(narrow, ir.IntegerType):
            return None
        span = exactly(1 << narrow.width)
        remainder = OPERATIONS["arith.remui"]
        operands = (self.number(op.operands[0]),)
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(result, lambda x: remainder(x, span), operands)

    def _extend(self, op: Op) -> ComputedInteger | None:
        """Translate a sign extension; that of an `i1` is 0 or -1 and is not followed."""
        return None if str(op.operands[0].type) == "i1" else self._arithmetic(op)

    def _launch_integer(self, op: Op) -> LaunchInteger:
        return LaunchInteger(self.number(op.results[0]), _LAUNCH_INTEGERS[op.name])

    def _dimension(self, op: Op) -> ComputedInteger | LaunchInteger | None:
        """Translate `memref.dim`: each dimension of an argument is one integer."""
        memref, dim = op.operands[0], constant_of(op.operands[1])
        result = self.number(op.results[0])
        if not isinstance(memref.owner, ir.Block) or memref.owner.owner.operation != self._function:
            return None
        extents = memref.type.shape if isinstance(memref.type, ir.MemRefType) else []
        if dim is not None and 0 <= dim < len(extents) and not memref.type.is_dynamic_dim(dim):
            extent = exactly(extents[dim])
            return ComputedInteger(result, lambda: extent, ())
        same = self._dimensions.setdefault((memref, dim), result)
        return LaunchInteger(result) if same == result else ComputedInteger(result, _same, (same,))


def _same(x: Integer) -> Integer:
    return x


def _unknown_of(*operands: Integer) -> Integer:
    return UNKNOWN if all(x.uniform for x in operands) else VARIES


#: Larger moduli, and larger constants in comparisons, are ignored.
_LIMIT = 4096
_COMPARED = 64


class Widening:
    """Finds the modulus to which integers that loops carry are widened, so that remainders of them (as
    `i % stages`) stay known.

    An integer has the scale s if it is about 1/s of a carried one: its remainder by r needs the
    carried one modulo s * r.
    """

    def __init__(self) -> None:
        self._scale: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._modulus = 1
        self._bound = 1

    def add_constant(self, result: int, number: int) -> None:
        """Note that an integer is a constant."""
        self._constants[result] = number

    def add_carried(self, *integers: int) -> None:
        """Note integers that a loop changes."""
        self._scale.update(dict.fromkeys(integers, 1))

    def add_op(self, name: str, result: int, operands: tuple[int, ...]) -> None:
        """Note an op on integers."""
        scales = [self._scale[x] for x in operands if x in self._scale]
        if not scales:
            return
        scale = max(scales)
        constant = self._constants.get(operands[-1], 0)
        if name in ("arith.remui", "arith.remsi"):
            self._need(scale * constant)
        elif name == "arith.andi":
            self._need(scale * (constant + 1))
        elif name in ("arith.divui", "arith.divsi"):
            scale *= max(constant, 1)
        elif name == "arith.shrui":
            scale <<= min(max(constant, 0), 32)
        for x in operands:
            compared = self._constants.get(x, 0)
            if 0 < compared <= _COMPARED and name in ("arith.cmpi", "arith.xori"):
                self._bound = max(self._bound, 2 * compared)
        self._scale[result] = scale

    def _need(self, modulus: int) -> None:
        together = lcm(self._modulus, max(modulus, 1))
        if together <= _LIMIT:
            self._modulus = together

    def limits(self) -> tuple[int, int]:
        """Return the modulus, and the bound up to which integers are exact."""
        return self._modulus, max(self._modulus, self._bound)
