"""A transform op that applies passes of this project.

`transform.apply_registered_pass` knows the passes that are registered in C++ alone (llvm-project issue
157850). The op here has its attributes:

    %done = "smem_transform.apply_registered_pass"(%module)
        {pass_name = "smem-to-nvvm", options = {arch = "sm_100", explain = true}}
        : (!transform.any_op) -> !transform.any_op
"""

# The classes are written as the bindings' `ext` module reads them, which no type checker knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false

from typing import Any

from ...bindings.diagnostics import Invalid, emit_op_error
from ...bindings.irtypes import Op
from ...bindings.mlir import ext, ir
from ...dialect.verifier import verifier
from ...ir.kernel import MODULES
from .base import OptionError, Pass, pass_named, run_all
from .transform import SmemTransform, TransformOp, transform


class ApplyRegisteredPassOp(SmemTransform.Operation, name="apply_registered_pass"):
    """Apply a pass of this project to modules; the handle is consumed, and the result has the modules.

    The optional attribute `options` is a dictionary of the pass's options, or their text. A pass that
    fails, and an op that is no module, are silenceable failures.
    """

    target: ext.Operand[transform.AnyOpType]
    pass_name: ir.StringAttr
    result: ext.Result[transform.AnyOpType]

    @verifier
    def verify_region_invariants(self) -> None:
        pass_of(self)


def pass_of(op: Op) -> Pass:
    """Return the pass that an op names, with its options.

    Raises:
        Invalid: for an unknown pass or option, or a value that the option does not take.
    """
    attributes = op.operation.attributes
    options = attributes["options"] if "options" in attributes else ir.DictAttr.get({})
    try:
        pass_class = pass_named(attributes["pass_name"].value)
        if isinstance(options, ir.StringAttr):
            return pass_class.from_text(options.value)
        if isinstance(options, ir.DictAttr):
            return pass_class.from_options({named.name: _value(named.attr) for named in options})
    except OptionError as error:
        raise Invalid(str(error)) from None
    raise Invalid(f"has options = {options}; expected a dictionary or text")


def _value(attribute: Any) -> Any:
    """Return the value of an option; the text that MLIR prints, for an attribute that is no value."""
    if isinstance(attribute, ir.StringAttr | ir.BoolAttr | ir.IntegerAttr):
        return attribute.value
    return str(attribute)


def _apply(op: Op, results: Any, state: Any) -> bool:
    pass_, modules = pass_of(op), list(state.get_payload_ops(op.target))
    for module in modules:
        if not _is_target(op, module) or not run_all(pass_, module):
            return False
    results.set_ops(op.result, modules)
    return True


def _is_target(op: Op, module: Op) -> bool:
    """Return whether the op can be applied to a payload op; emit an error if not."""
    name = module.operation.name
    if name not in MODULES:
        emit_op_error(op, f"has a target '{name}'; expected {' or '.join(MODULES)}")
        return False
    parent = op.operation.parent
    while parent is not None:
        if parent.operation == module.operation:
            emit_op_error(op, f"is in its target '{name}', which it cannot change")
            return False
        parent = parent.operation.parent
    return True


def _effects(op: Op, effects: Any) -> None:
    transform.consumes_handle(op.op_operands, effects)
    transform.produces_handle(op.results, effects)
    transform.modifies_payload(effects)


APPLY_REGISTERED_PASS = TransformOp(ApplyRegisteredPassOp, _apply, _effects)
