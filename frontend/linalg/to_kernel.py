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
from .contraction import Contraction, match_contraction
from .epilogue import match_epilogue
from .gemm_plan import plan_gemm
from .schedule import CONFIG, config_from
from .unsupported import Unsupported


class ToKernelOp(SmemTransform.Operation, name="to_kernel"):
    """Give contractions of linalg the configuration of their kernels.

    Its attributes are fields of `kernels.gemm.Config`; omitted ones have their defaults. If a payload op
    is no contraction, or the configuration does not fit one, the failure is silenceable, with a remark at
    the payload op; no op has the attribute then.
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
        return config_from(_attributes(op), "a configuration")
    except Unsupported as error:
        raise Invalid(str(error)) from None


def _attributes(op: Op) -> dict[str, Any]:
    attributes = op.operation.attributes
    return {name: attributes[name] for name in attributes}


def _apply(op: Op, results: Any, state: Any) -> bool:
    config, payload = (
        _config(op),
        [payload_op.operation for payload_op in state.get_payload_ops(op.target)],
    )
    for payload_op in payload:
        try:
            _check(payload_op, config)
        except Unsupported as error:
            remark(
                payload_op.location,
                f"'{payload_op.name}' has no kernel by this configuration: it {error}",
            )
            return False
    for payload_op in payload:
        payload_op.attributes[CONFIG] = ir.DictAttr.get(_attributes(op))
    return True


def _check(op: Op, config: Config) -> None:
    """Check that a contraction has a kernel with a configuration under some options of `linalg-to-smem`.

    Raises:
        Unsupported: if it has none.
    """
    product = match_contraction(op, tf32=True, sums_in_f32=True)
    epilogue = None
    if not product.on_memrefs:
        # Where there is no epilogue, the contraction alone becomes a kernel.
        with suppress(Unsupported):
            epilogue = match_epilogue(product, _block_contractions(op), approximate=True)
    plan_gemm(product, epilogue, True, config)


def _block_contractions(op: Op) -> dict[Op, Contraction]:
    """Return the contractions of an op's block: one kernel may compute two of them."""
    contractions: dict[Op, Contraction] = {}
    for block_op in op.block.operations:
        with suppress(Unsupported):
            contractions[block_op.operation] = match_contraction(
                block_op.operation, tf32=True, sums_in_f32=True
            )
    return contractions


def _effects(op: Op, effects: Any) -> None:
    transform.only_reads_handle(op.op_operands, effects)
    transform.modifies_payload(effects)


TO_KERNEL = TransformOp(ToKernelOp, _apply, _effects)
