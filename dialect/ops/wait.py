"""`smem.wait`: waits for mma, and makes an accumulator in flight readable."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ext, ir
from ..arguments import Fragment
from ..build import create
from ..builder import builder
from ..effects import Completion, Effects, Scope
from ..op import SmemOp
from ..types import FragmentType, fragment, is_accumulator, is_in_flight, shape_of, tensor_of
from ..verifier import verifier
from .mma import AnyMma
from .mma_rules import check_single_use


class WaitOp(SmemOp, name="wait"):
    """Waits until at most the `pending` latest `smem.mma` of the warpgroup are unfinished.

    `result` is the accumulator `fragment`. It can be readable if its own mma is known to be complete:
    with `pending = 0`, or if at least `pending` mma follow it in the same basic block before the wait.
    It can also stay in flight: the tiles of the completed mma can then be overwritten while the latest
    mma still run.
    """

    fragment: ext.Operand[FragmentType]
    pending: ir.IntegerAttr
    result: ext.Result[FragmentType]

    i32 = ("pending",)
    effects = Effects(Scope.WARPGROUP, awaits=Completion.WGMMA_GROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.fragment, self.result.type
        pending = self.pending.value
        if pending < 0:
            raise Invalid(f"has pending = {pending}; expected 0 or more mma")
        if not is_in_flight(source.type):
            raise Invalid(f"waits for {source.type}, which is not in flight")
        if tensor_of(result) != tensor_of(source.type):
            raise Invalid(f"results in {tensor_of(result)} of {tensor_of(source.type)}")
        if not is_accumulator(result):
            raise Invalid(f"results in {result}; expected #smem.accumulator or #smem.in_flight")
        check_single_use(source)
        if not is_in_flight(result) and pending > (after := mma_after(source, self)):
            raise Invalid(
                f"has pending = {pending}, but only {after} mma are known to follow the one that it "
                f"waits for, which may thus still run; expected pending = {after} or less, or a "
                "result that stays in flight"
            )


def mma_after(value: Value, op: Op) -> int:
    """The number of mma that are known to run between the one that makes `value` and an op."""
    producer = value.owner
    if isinstance(producer, ir.Block) or not isinstance(producer.opview, AnyMma):
        return 0
    if producer.operation.block != op.operation.block:
        return 0
    ops = [inner.operation for inner in op.operation.block.operations]
    between = ops[ops.index(producer.operation) + 1 : ops.index(op.operation)]
    return sum(isinstance(inner.opview, AnyMma) for inner in between)


@builder
def wait(value: Fragment, pending: int = 0, in_flight: bool = False) -> Value:
    """Build an `smem.wait` for all but the latest `pending` mma; the result is readable unless
    `in_flight`.

    Args:
        value: a fragment in flight, the D of an mma.
        pending: the number of latest mma that may be unfinished.
        in_flight: whether the result stays in flight, as an accumulator to add to.

    Returns:
        The fragment.

    Example:
        >>> d = smem.wait(smem.mma(a, b))
        >>> print(d.type)
        !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    """
    result = fragment(shape_of(value.type), tensor_of(value.type).element_type, in_flight)
    return create(WaitOp, [value], [result], pending=pending).result
