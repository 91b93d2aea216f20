"""`smem.scale_d`: an accumulator that is added only if a condition holds."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Value
from ...bindings.mlir import ext, ir
from ..arguments import Condition, Fragment
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..types import FragmentType, check_fragment, is_accumulator
from ..verifier import verifier
from .mma import AnyMma
from .mma_rules import check_single_use

I1 = ir.IntegerType[1]


class ScaleDOp(SmemOp, name="scale_d"):
    """Gives `accumulator` to the mma that uses the result if `keep` is true, and zero if it is false.

    `keep` becomes the scale-d operand of the mma instructions (PTX ISA 9.7.15.5.2). With it, a loop can
    begin with an uninitialized accumulator. `keep` has the same value in all threads of the warpgroup.
    """

    accumulator: ext.Operand[FragmentType]
    keep: ext.Operand[I1]
    result: ext.Result[FragmentType]

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.accumulator, self.result
        check_fragment(source.type)
        if not is_accumulator(source.type):
            raise Invalid(f"takes an accumulator, not {source.type}")
        if result.type != source.type:
            raise Invalid(f"results in {result.type} of {source.type}; expected the same")
        check_single_use(source)
        users = [use.owner.operation for use in result.uses]
        if len(users) != 1 or not isinstance(users[0].opview, AnyMma):
            names = ", ".join(f"'{user.name}'" for user in users) or "nothing"
            raise Invalid(
                f"is used by {names}; expected a single smem.mma or smem.mma_sp, as its accumulator"
            )


@builder
def scale_d(accumulator: Fragment, keep: Condition) -> Value:
    """Build an `smem.scale_d`: `accumulator` if the i1 value `keep` is true, else zero.

    Example:
        >>> keep = arith.constant(ir.IntegerType.get_signless(1), 1)
        >>> start = smem.scale_d(smem.fill(0, (64, 64), in_flight=True), keep)
        >>> d = smem.wait(smem.mma(a, b, start))
    """
    return create(ScaleDOp, [accumulator, keep], [accumulator.type]).result
