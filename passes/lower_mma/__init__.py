"""`smem-lower-mma`: lower fragments to registers, and mma to instructions of the architecture."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Module, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.ops import DescriptorMma, ScaleDOp, TensorMemoryOp, TileMma, WaitOp
from ...dialect.types import FragmentType
from ...ir.errors import OpError
from ...ir.kernel import check_collective
from ...ir.lowerings import load
from ...ir.walk import gather, walk
from ...layout.arch import Arch
from ..driver.base import Pass, option
from . import fragments
from .target import FRAGMENTS, MmaTarget, TypedOp, check_operands, target_of

load(__name__, __path__)
load(fragments.__name__, fragments.__path__)

#: From a fragment type to its LLVM type.
_RegisterType = Callable[[Type], Type]


@dataclass(frozen=True)
class LowerMma(Pass):
    """Lowers mma, and all ops on fragments: conversions, elementwise functions, loads and stores. No
    fragment is left."""

    name = "smem-lower-mma"
    description = "lower mma, and what is done with fragments, to NVVM and LLVM"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")

    def run(self, module: Module) -> None:
        tile_mmas, lowered, scales, memories = gather(
            module,
            [TileMma],
            [DescriptorMma, WaitOp, *FRAGMENTS.classes],
            [ScaleDOp],
            [TensorMemoryOp],
        )
        for mma in tile_mmas:
            raise OpError(mma, "still reads tiles; run smem-materialize-descriptors before")
        for op in lowered:
            check_collective(op)
            if isinstance(op, DescriptorMma):
                check_operands(op, self.arch)
        target = target_of(self.arch)
        target.check(lowered, memories)
        ops = [TypedOp(op) for op in lowered]
        target.record(ops)
        _convert_types(module, target.register_type)
        target.prepare(memories)
        for op in ops:
            _lower(op, target)
        # Already folded into the instructions that used them.
        for op in scales:
            op.operation.erase()


def _lower(typed: TypedOp, target: MmaTarget) -> None:
    """Replace an op by instructions."""
    op = typed.op
    with ir.InsertionPoint(op), op.location:
        lower = target.lowerings.find(op) or FRAGMENTS[op]
        replacement = lower(typed, target)
    if replacement is not None:
        op.results[0].replace_all_uses_with(replacement)
    op.operation.erase()


def _convert_types(module: Module, register_type: _RegisterType) -> None:
    """Convert the type of every fragment in a module to its LLVM type.

    Results and block arguments of all ops, and signatures of functions, are converted, so that ops of
    other dialects can pass fragments on.

    Args:
        module: the module.
        register_type: from a fragment type to the LLVM type that replaces it.

    Raises:
        OpError: if an op of another dialect has a fragment that no registers can hold.
    """
    for op in walk(module):
        try:
            _convert_values(op.results, register_type)
            for region in op.regions:
                for block in region.blocks:
                    _convert_values(block.arguments, register_type)
            if "function_type" in op.attributes:
                _convert_signature(op, register_type)
        except Invalid as error:
            raise OpError(op, str(error)) from None


def _convert_values(values: Iterable[Value], register_type: _RegisterType) -> None:
    for value in values:
        if isinstance(value.type, FragmentType):
            value.set_type(register_type(value.type))


def _convert_type(type_: Type, register_type: _RegisterType) -> Type:
    return register_type(type_) if isinstance(type_, FragmentType) else type_


def _convert_signature(function: Op, register_type: _RegisterType) -> None:
    signature = function.attributes["function_type"].value
    if not isinstance(signature, ir.FunctionType):
        return
    inputs, results = (
        [_convert_type(t, register_type) for t in types]
        for types in (signature.inputs, signature.results)
    )
    if inputs != list(signature.inputs) or results != list(signature.results):
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
