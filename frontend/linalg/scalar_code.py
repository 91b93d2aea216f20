"""Bodies of `linalg.generic` as data, and their evaluation on fragments of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ... import language as sl
from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...language.dtypes import ALL
from .generic import constant_number, owner
from .unsupported import Unsupported

#: Floats that are f32 between ops; f32 has all of their values.
_NARROW = (sl.bf16, sl.f16, sl.e4m3, sl.e5m2)

#: Floats whose conversions saturate on the hardware; linalg's conversions return NaN or infinity.
_SATURATING = (sl.e4m3, sl.e5m2)

#: Ops on floats whose results need no rounding.
_EXACT = ("arith.select", "arith.negf", "arith.maximumf", "arith.minimumf", "arith.maxnumf")
_EXACT += ("arith.minnumf", "math.absf", "math.copysign")

_DIALECTS = ("arith", "math")

#: Powers up to this one are products.
_MAX_POWER = 8

_BY_MLIR = {dtype.mlir: dtype for dtype in ALL}


@dataclass(frozen=True)
class ScalarOp:
    """An op of a body.

    Attributes:
        name: for example "arith.addf".
        operands: the numbers of values: the body's arguments come first, then the ops' results in order.
        result: the element type of the result, in MLIR's syntax.
        attributes: by name, in MLIR's syntax.
    """

    name: str
    operands: tuple[int, ...]
    result: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ScalarCode:
    """A function of elements, independent of a context of MLIR.

    Attributes:
        arguments: their element types.
        ops: each has one result.
        results: the numbers of the values that it returns.
    """

    arguments: tuple[str, ...]
    ops: tuple[ScalarOp, ...]
    results: tuple[int, ...]

    def type_of(self, number: int) -> str:
        """Return the element type of a value."""
        arguments = len(self.arguments)
        return self.arguments[number] if number < arguments else self.ops[number - arguments].result


def read_body(block: Block) -> ScalarCode:
    """Read the body of a `linalg.generic`.

    Raises:
        Unsupported: for an op that kernels do not have, or a value from outside that is no constant.
    """
    reader = _Reader(block)
    results: tuple[int, ...] = ()
    for op in block.operations:
        if op.operation.name == "linalg.yield":
            results = tuple(reader.number(value) for value in op.operands)
        else:
            reader.read(op.operation)
    return ScalarCode(reader.arguments, tuple(reader.ops), results)


class _Reader:
    """Reads the ops of a body.

    Attributes:
        arguments: the element types of its arguments.
        ops: the ops read so far.
    """

    def __init__(self, block: Block) -> None:
        self.ops: list[ScalarOp] = []
        self.arguments = tuple(str(argument.type) for argument in block.arguments)
        self._numbers = list(zip(block.arguments, range(len(self.arguments)), strict=True))
        for type_ in self.arguments:
            if type_ not in _BY_MLIR:
                raise Unsupported(f"has elements of {type_}, a type that kernels do not compute")

    def number(self, value: Value) -> int:
        """Return the number of a value; a constant from outside is read."""
        for known_value, number in self._numbers:
            if known_value == value:
                return number
        constant_op = owner(value)
        if constant_op is None or constant_op.name != "arith.constant":
            raise Unsupported(
                f"has a body that uses {value.get_name()}, which is defined outside of it"
            )
        return self.read(constant_op)

    def read(self, op: Op) -> int:
        """Read an op, and return the number of its result."""
        if op.name.split(".")[0] not in _DIALECTS and op.name != "linalg.index":
            raise Unsupported(f"has a body with '{op.name}'; expected ops of arith and math")
        types = [str(op_result.type) for op_result in op.results]
        if len(types) != 1 or types[0] not in _BY_MLIR:
            raise Unsupported(
                f"has a body with '{op.name}' of {', '.join(types)}, a type that kernels do not compute"
            )
        number = self._number(op, types[0])
        self._numbers.append((op.results[0], number))
        return number

    def _number(self, op: Op, type_: str) -> int:
        if op.name == "math.fpowi":
            return self._power(op, type_)
        if op.name == "arith.truncf" and (unrounded := constant_number(op.operands[0])) is not None:
            # Upstream does not fold a conversion that rounds.
            value = str(ir.FloatAttr.get(op.results[0].type, unrounded))
            return self._add(ScalarOp("arith.constant", (), type_, (("value", value),)))
        operands = tuple(self.number(operand) for operand in op.operands)
        attributes = tuple((name, str(op.attributes[name])) for name in op.attributes)
        return self._add(ScalarOp(op.name, operands, type_, attributes))

    def _power(self, op: Op, type_: str) -> int:
        """Read a power as products: libdevice has none with exponents of i64, which PyTorch has."""
        exponent = constant_number(op.operands[1])
        if exponent is None or not 1 <= exponent <= _MAX_POWER:
            described = (
                "an exponent that is no constant" if exponent is None else f"exponent {exponent}"
            )
            raise Unsupported(
                f"has a body with 'math.fpowi' of {described}; expected 1 to {_MAX_POWER}"
            )
        base = power = self.number(op.operands[0])
        for _ in range(int(exponent) - 1):
            power = self._add(ScalarOp("arith.mulf", (power, base), type_, ()))
        return power

    def _add(self, op: ScalarOp) -> int:
        self.ops.append(op)
        return len(self.arguments) + len(self.ops) - 1


@dataclass(frozen=True)
class TypedFragment:
    """A fragment with its element type in linalg.

    Attributes:
        fragment: the elements; narrow floats as f32.
        dtype: the element type.
        exact: for a narrow float, the f32 before the last rounding; None if there is none.
    """

    fragment: Any
    dtype: sl.DType
    exact: Any = None


class FragmentEvaluator:
    """Builds a function of elements in the kernel language.

    Args:
        code: the function.
        approximate: whether divisions and functions may be approximations (`math=approx`), and
            conversions may saturate.
        loop_index: returns the index of a loop, for `linalg.index`.
    """

    def __init__(
        self, code: ScalarCode, approximate: bool, loop_index: Callable[[int], sl.Fragment]
    ) -> None:
        self._code, self._approximate, self._loop_index = code, approximate, loop_index

    def results(self, arguments: Sequence[Any]) -> list[TypedFragment]:
        """Evaluate the function; arguments that are narrow floats are passed as f32."""
        fragments = [
            TypedFragment(fragment, _BY_MLIR[type_])
            for fragment, type_ in zip(arguments, self._code.arguments, strict=True)
        ]
        for op in self._code.ops:
            fragments.append(self._compute(op, [fragments[number] for number in op.operands]))
        return [fragments[number] for number in self._code.results]

    def _compute(self, op: ScalarOp, operands: list[TypedFragment]) -> TypedFragment:
        dtype = _BY_MLIR[op.result]
        if op.name == "linalg.index":
            return TypedFragment(
                self._loop_index(int(dict(op.attributes)["dim"].split(" ")[0])), dtype
            )
        if op.name == "arith.extf":
            return TypedFragment(operands[0].fragment, dtype)
        if op.name == "arith.truncf" and dtype in _NARROW:
            return round_to(operands[0].fragment, dtype)
        wide = sl.f32 if dtype in _NARROW else dtype
        fragments = _as_matrices([operand.fragment for operand in operands])
        computed = sl.map(partial(_create_op, op, wide, self._approximate), *fragments, dtype=wide)
        if dtype not in _NARROW or op.name in _EXACT or op.name == "arith.constant":
            return TypedFragment(computed, dtype)
        return round_to(computed, dtype)


def _as_matrices(operands: list[Any]) -> list[Any]:
    """Let slices along both axes meet as in a matrix; return other operands as they are."""
    axes = [x.axis if isinstance(x, sl.Fragment) else None for x in operands]
    if len({axis for axis in axes if axis is not None}) < 2:
        return operands
    # What lacks the columns, axis 1, has an element for each row.
    indices = {0: (None, slice(None)), 1: (slice(None), None)}
    return [x if axis is None else x[indices[axis]] for x, axis in zip(operands, axes, strict=True)]


def round_to(exact: Any, dtype: sl.DType) -> TypedFragment:
    """Round an f32 to a narrow float."""
    return TypedFragment(exact.to(dtype).to(sl.f32), dtype, exact)


def check_code(code: ScalarCode, approximate: bool) -> None:
    """Check that a kernel computes the same elements as linalg.

    Raises:
        Unsupported: for an op whose result would differ.
    """
    for op in code.ops:
        dtypes = [_BY_MLIR[code.type_of(operand)] for operand in op.operands]
        dtype = _BY_MLIR[op.result]
        if sl.f64 in (dtype, *dtypes):
            raise Unsupported(f"has a body with '{op.name}' of f64; kernels compute in f32")
        if op.name == "arith.bitcast" and any(dtype_ in _NARROW for dtype_ in (dtype, *dtypes)):
            raise Unsupported(f"has a body with 'arith.bitcast' of {dtypes[0]}")
        if op.name in ("arith.sitofp", "arith.uitofp") and dtype in _NARROW:
            bits = dtypes[0].bits
            if bits > 16:
                raise Unsupported(
                    f"has a body with '{op.name}' of {bits}-bit integers to {dtype}; expected f32"
                )
        if op.name == "arith.truncf" and dtype in _SATURATING and not approximate:
            raise Unsupported(
                f"rounds to {op.result}: the hardware's conversion saturates, where linalg's does not; "
                "math=approx allows it"
            )


def _create_op(op: ScalarOp, result: sl.DType, approximate: bool, *operands: Any) -> Any:
    """Build an op on MLIR values; narrow floats are f32."""
    attributes = {name: ir.Attribute.parse(text) for name, text in op.attributes}
    if op.name == "arith.constant" and result == sl.f32:
        value = ir.FloatAttr(attributes["value"]).value
        attributes["value"] = ir.FloatAttr.get(result.type, value)
    if approximate and (op.name.startswith("math.") or op.name == "arith.divf"):
        attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")
    created = ir.Operation.create(op.name, [result.type], list(operands), attributes)
    return created.result
