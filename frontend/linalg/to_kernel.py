"""A transform op that says which configuration the kernel of a contraction has.

    "smem_transform.to_kernel"(%contraction) {tile = [128, 256, 64], stages = 4 : i64, cluster = [2, 1]}
        : (!transform.any_op) -> ()

It leaves the attribute `smem.config`, which `linalg-to-smem` honours.
"""

# The classes are written as the bindings' `ext` module reads them, which no type checker knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false

from contextlib import suppress
from typing import Any

from ...bindings.diagnostics import Invalid, remark
from ...bindings.irtypes import Op
from ...bindings.mlir import ext, ir
from ...dialect.verifier import verifier
from ...kernels.gemm.generator.config import Config
from ...passes.driver.transform import SmemTransform, TransformOp, transform
from .contraction import Contraction, contraction
from .epilogue import epilogue_of
from .plan import planned
from .schedule import CONFIG, config_from
from .unfit import Unfit


class ToKernelOp(SmemTransform.Operation, name="to_kernel"):
    """Give contractions of linalg the configuration of their kernels.

    Its attributes are fields of `kernels.gemm.Config`; those that are not given have their defaults. A
    payload op that is no contraction, and a configuration that does not fit one, are silenceable
    failures, with a remark at the payload op; no op has the attribute then.
    """

    target: ext.Operand[transform.AnyOpType]

    @verifier
    def verify_region_invariants(self) -> None:
        _config(self)


def _config(op: Op) -> Config:
    """Return the configuration that the op describes.

    Raises:
        Invalid: for an unknown field, or an attribute of another type than the field's.
    """
    try:
        return config_from(_given(op), "a configuration")
    except Unfit as unfit:
        raise Invalid(str(unfit)) from None


def _given(op: Op) -> dict[str, Any]:
    attributes = op.operation.attributes
    return {name: attributes[name] for name in attributes}


def _apply(op: Op, results: Any, state: Any) -> bool:
    config, payload = _config(op), [each.operation for each in state.get_payload_ops(op.target)]
    for each in payload:
        try:
            _check(each, config)
        except Unfit as unfit:
            remark(each.location, f"'{each.name}' has no kernel by this configuration: it {unfit}")
            return False
    for each in payload:
        each.attributes[CONFIG] = ir.DictAttr.get(_given(op))
    return True


def _check(op: Op, config: Config) -> None:
    """Check that a contraction has a kernel by a configuration, whatever options `linalg-to-smem` has.

    Raises:
        Unfit: if it has none.
    """
    product = contraction(op, tf32=True, sums_in_f32=True)
    epilogue = None
    if not product.on_memrefs:
        # Where there is no epilogue, the contraction alone becomes a kernel.
        with suppress(Unfit):
            epilogue = epilogue_of(product, _beside(op), approximate=True)
    planned(product, epilogue, True, config)


def _beside(op: Op) -> dict[Op, Contraction]:
    """Return the contractions of an op's block: two of them may be one kernel."""
    found: dict[Op, Contraction] = {}
    for each in op.block.operations:
        with suppress(Unfit):
            found[each.operation] = contraction(each.operation, tf32=True, sums_in_f32=True)
    return found


def _effects(op: Op, effects: Any) -> None:
    transform.only_reads_handle(op.op_operands, effects)
    transform.modifies_payload(effects)


TO_KERNEL = TransformOp(ToKernelOp, _apply, _effects)
