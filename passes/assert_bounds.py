"""`smem-assert-bounds`: assert that run-time positions are within their tiles, for the emulator."""

from dataclasses import dataclass

from ..bindings.irtypes import Module, Value
from ..bindings.mlir import ir
from ..dialect.divisibility import divisor
from ..ir import emit
from ..ir.kernel import functions_of
from ..ir.walk import walk
from .check_async.bounds import DynamicStart, ranges_of_dynamic_starts
from .driver.base import Pass

#: The attribute of the ops that this pass emits, and their names.
ASSERTS_BOUNDS = "smem.asserts_bounds"
_EMITTED = ("cf.assert", "arith.cmpi", "arith.remui", "arith.constant")


@dataclass(frozen=True)
class AssertBounds(Pass):
    """Emits `cf.assert` for what is not proven of run-time positions in tiles.

    A position is asserted to be within its tile if `smem-check-async` does not prove it, and to be a
    multiple if a `multiple_of` is not known to hold.

    The conditions are those of the ops' operands, and follow from no layout. They are for the emulator:
    `mlir_smem.compile` emits them into the module that it runs, and into no other, so the code for a GPU
    does not change.
    """

    name = "smem-assert-bounds"
    description = "assert that run-time positions are within their tiles, for the emulator"

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            for access, position, start, _ in list(ranges_of_dynamic_starts(function)):
                with ir.InsertionPoint(access), access.location:
                    _assert(position, start.is_within(0, position.last))


def _assert(position: DynamicStart, is_within: bool) -> None:
    start, condition = position.start, position.condition
    if not is_within:
        # Compared as unsigned, a negative start is a large one.
        _emit("ule", start, position.last, condition)
    if divisor(start) % position.multiple:
        multiple = _mark(emit.constant(position.multiple, start.type))
        remainder = _mark(emit.binary("remui", start, multiple))
        _emit("eq", remainder, 0, f"{condition}, at a multiple of {position.multiple}")


def _emit(predicate: str, value: Value, number: int, message: str) -> None:
    constant = _mark(emit.constant(number, value.type))
    condition = _mark(emit.compare(predicate, value, constant))
    attributes = {"msg": ir.StringAttr.get(message), ASSERTS_BOUNDS: ir.UnitAttr.get()}
    ir.Operation.create("cf.assert", operands=[condition], attributes=attributes)


def _mark(value: Value) -> Value:
    """Mark the op of a value as one that this pass emits."""
    value.owner.attributes[ASSERTS_BOUNDS] = ir.UnitAttr.get()
    return value


def erase_assertions(module: Module) -> None:
    """Erase what `smem-assert-bounds` has emitted into a module."""
    for op in reversed(list(walk(module.operation, *_EMITTED))):
        if ASSERTS_BOUNDS in op.attributes and not any(len(list(r.uses)) for r in op.results):
            op.erase()
