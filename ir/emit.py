"""Functions that create ops of lowerings; they use `ir.Operation.create`, the fastest way."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..bindings.irtypes import Attribute, Op, Type, Value
from ..bindings.mlir import ir
from ..layout.transfer import WARP
from .loops import LOOP_ANNOTATION


def i32() -> Type:
    """Return the type i32."""
    return ir.IntegerType.get_signless(32)


def i64() -> Type:
    """Return the type i64."""
    return ir.IntegerType.get_signless(64)


def pointer(space: int) -> Type:
    """Return `!llvm.ptr<space>` of the current context."""
    return ir.Type.parse(f"!llvm.ptr<{space}>")


def op(
    name: str,
    operands: Sequence[Value] = (),
    results: Sequence[Type] = (),
    regions: int = 0,
    **attributes: Attribute,
) -> Op:
    """Create an op at the current insertion point."""
    return ir.Operation.create(
        name, results=results, operands=operands, attributes=attributes, regions=regions
    )


def value(name: str, operands: Sequence[Value], result: Type, **attributes: Attribute) -> Value:
    """Create an op with one result of type `result`, and return it."""
    return ir.Operation.create(
        name, results=[result], operands=operands, attributes=attributes
    ).result


def constant(number: float, type_: Type) -> Value:
    """Create a constant of a float type for a float, of an integer type for an integer."""
    attribute = ir.FloatAttr if isinstance(number, float) else ir.IntegerAttr
    return value("arith.constant", (), type_, value=attribute.get(type_, number))


def binary(name: str, left: Value, right: Value | int) -> Value:
    """Create `arith.<name>` of two integers of the same type; a number becomes a constant.

    A neutral right operand (adding 0, multiplying or dividing by 1) emits nothing.
    """
    if isinstance(right, int):
        if right == 0 and name in ("addi", "ori", "xori", "shrui", "shli"):
            return left
        if right == 1 and name in ("muli", "divui"):
            return left
        right = constant(right, left.type)
    return value(f"arith.{name}", (left, right), left.type)


def cast_index(index: Value, type_: Type) -> Value:
    """Cast an index value to an integer of `type_`."""
    return index if index.type == type_ else value("arith.index_cast", (index,), type_)


def extract_element(vector: Value, position: int) -> Value:
    """Extract an element of a vector."""
    element = vector.type.element_type
    static_position = ir.DenseI64ArrayAttr.get([position])
    return value("vector.extract", (vector,), element, static_position=static_position)


#: Predicates of `arith.cmpi` (MLIR, arith dialect).
_PREDICATES = {"eq": 0, "ne": 1, "slt": 2, "sgt": 4, "ult": 6, "ule": 7, "uge": 9}


def compare(predicate: str, left: Value, right: Value | int) -> Value:
    """Create `arith.cmpi` (i1) of two integers of the same type; a number becomes a constant."""
    if isinstance(right, int):
        right = constant(right, left.type)
    number = ir.IntegerAttr.get(i64(), _PREDICATES[predicate])
    return value("arith.cmpi", (left, right), ir.IntegerType.get_signless(1), predicate=number)


def conjunction(conditions: Sequence[Value]) -> Value:
    """Create the `arith.andi` of conditions (i1), of which there is at least one."""
    first, *others = conditions
    for condition in others:
        first = binary("andi", first, condition)
    return first


def select(condition: Value, yes: Value | int, no: Value | int) -> Value:
    """Create `arith.select` of two i32; numbers become constants."""
    operands = [constant(v, i32()) if isinstance(v, int) else v for v in (yes, no)]
    return value("arith.select", (condition, *operands), operands[0].type)


@contextmanager
def scf_if(condition: Value) -> Iterator[None]:
    """Create an `scf.if`, and build the ops of the `with` block in it."""
    branch = op("scf.if", (condition,), regions=2)
    with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
        yield
        op("scf.yield")


def scf_if_else(
    condition: Value, type_: Type, first: Callable[[], Value], second: Callable[[], Value]
) -> Value:
    """Create an `scf.if` with a value of `type_`: of `first` if the condition holds, else of `second`."""
    branch = op("scf.if", (condition,), [type_], regions=2)
    for region, build in zip(branch.regions, (first, second), strict=True):
        with ir.InsertionPoint(ir.Block.create_at_start(region)):
            op("scf.yield", (build(),))
    return branch.results[0]


@contextmanager
def scf_for(count: int) -> Iterator[Value]:
    """Emit what is emitted in the context as a loop over the numbers from 0, which LLVM does not unroll;
    without a loop if there is one number."""
    index = ir.IndexType.get()
    zero, one = constant(0, index), constant(1, index)
    if count == 1:
        yield zero
        return
    rolled = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>")
    loop = op("scf.for", (zero, constant(count, index), one), [], regions=1)
    loop.attributes[LOOP_ANNOTATION] = rolled
    block = ir.Block.create_at_start(loop.regions[0], [index])
    with ir.InsertionPoint(block):
        yield block.arguments[0]
        op("scf.yield", ())


def warp_uniform(index: Value) -> Value:
    """Create a shuffle of an index from the first thread of the warp: where all have the same one, ptxas
    knows it. All threads of the warp execute it; the index is from 0 to 2^31 - 1."""
    first, word = constant(0, i32()), value("arith.index_cast", (index,), i32())
    mode = ir.Attribute.parse("#gpu<shuffle_mode idx>")
    results = (i32(), ir.IntegerType.get_signless(1))
    shuffled = op("gpu.shuffle", (word, first, constant(WARP, i32())), results, mode=mode)
    return value("arith.index_cast", (shuffled.results[0],), index.type)


def zero(type_: Type) -> Value:
    """Create the 0 of a type of LLVM."""
    return value("llvm.mlir.zero", (), type_)


def value_or_zero(condition: Value, type_: Type, build: Callable[[], Value]) -> Value:
    """Create an `scf.if` with a value of `type_` if the condition holds, else 0."""
    return scf_if_else(condition, type_, build, lambda: zero(type_))


def has_bit(number: Value, bit: int) -> Value:
    """Test whether an i32 has a bit set (i1); `bit` is a mask."""
    return compare("ne", binary("andi", number, bit), 0)


def prmt(low: Value, high: Value, selector: Value | int) -> Value:
    """Create `prmt`: an i32 of four bytes of `low` and `high`, selected by the four digits of
    `selector`."""
    if isinstance(selector, int):
        selector = constant(selector, i32())
    mode = ir.Attribute.parse("#nvvm.permute_mode<default>")
    return value("nvvm.prmt", (low, high, selector), i32(), mode=mode)


def to_tf32(number: Value) -> Value:
    """Round an f32 to tf32, to nearest with ties away from zero; the result is its bits (i32)."""
    nearest = ir.Attribute.parse("#nvvm.fp_rnd_mode<rna>")
    return value("nvvm.convert.float.to.tf32", (number,), i32(), rnd=nearest)


def index_sum(values: tuple[Value, ...], constant: int, type_: Type) -> Value:
    """Compute the sum of index values (at least one) and a number, as an integer of `type_`."""
    total, *addends = (cast_index(value, type_) for value in values)
    for addend in addends:
        total = binary("addi", total, addend)
    return binary("addi", total, constant)


def term_value(term: Any, position: Any, type_: Type, unit: int) -> Value:
    """Compute the contribution of a run-time start to an address; see `layout.modes.Term`.

    Args:
        term: the term.
        position: the start, a `subtiles.IndexSum`.
        type_: the integer type of the result.
        unit: elements per unit of the result.
    """
    number = index_sum(position.values, position.constant + term.added, type_)
    number = binary("divui", number, term.divisor)
    if term.modulus is not None:
        number = binary("remui", number, term.modulus)
    if term.stride % unit == 0:
        return binary("muli", number, term.stride // unit)
    return binary("divui", binary("muli", number, term.stride), unit)
