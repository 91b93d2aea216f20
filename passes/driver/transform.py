"""The dialect `smem_transform`, whose ops are for scripts of the transform dialect."""

# The classes are written as the bindings' `ext` module reads them, which no type checker knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ...bindings.irtypes import Context, Op
from ...bindings.mlir import PACKAGE, ext, ir, is_dialect_loaded, load_dialect
from ...dialect import register

transform: Any = import_module(f"{PACKAGE}.dialects.transform")

NAMESPACE = "smem_transform"

#: Entry points of this group add ops: each names a `TransformOp`.
GROUP = "mlir_smem.transform_ops"


class SmemTransform(ext.Dialect, name=NAMESPACE):
    """Transform ops of this project."""


@dataclass(frozen=True)
class TransformOp:
    """An op of `smem_transform`, and what it does.

    Attributes:
        op: its class.
        apply: applies it; takes the op, its results and the state of the interpreter, and returns False
            for a silenceable failure.
        effects: adds its effects on handles and on the payload; takes the op and a list of effects.
    """

    op: type[Any]
    apply: Callable[[Op, Any, Any], bool]
    effects: Callable[[Op, Any], None]

    def attach(self, context: Context) -> None:
        """Attach the op's interfaces in a context that has loaded the dialect."""
        name = self.op.OPERATION_NAME
        _interpretation(self.apply).attach(name, context=context)
        _effects(self.effects).attach(name, context=context)


def load(context: Context, own_ops: Sequence[TransformOp]) -> None:
    """Load `smem` and `smem_transform` into a context; a second call has no effect.

    Args:
        context: a context of the bindings.
        own_ops: ops beside those of entry points.

    Raises:
        NotImplementedError: if the bindings cannot define transform ops in Python.
    """
    register(context)
    if is_dialect_loaded(context, NAMESPACE):
        return
    _check_bindings()
    # The dialect is loaded with the classes that there are.
    ops = [*own_ops, *(entry.load() for entry in entry_points(group=GROUP))]
    _ = context.dialects["transform"]
    with context:
        load_dialect(SmemTransform)
        for op in ops:
            op.attach(context)


def _check_bindings() -> None:
    for module, interface in (
        (transform, "TransformOpInterface"),
        (ir, "MemoryEffectsOpInterface"),
    ):
        if not hasattr(module, interface):
            raise NotImplementedError(
                f"the bindings package {PACKAGE} has no {interface}, so a transform script cannot apply "
                "passes of smem; use a pipeline"
            )


def _interpretation(apply: Callable[[Op, Any, Any], bool]) -> Any:
    """Return the class that interprets an op; the base class is not in all versions of the bindings."""

    class Interpretation(transform.TransformOpInterface):
        @staticmethod
        def apply(op: Op, rewriter: Any, results: Any, state: Any) -> Any:
            is_applied = apply(op, results, state)
            outcome = transform.DiagnosedSilenceableFailure
            return outcome.Success if is_applied else outcome.SilenceableFailure

        @staticmethod
        def allow_repeated_handle_operands(op: Op) -> bool:
            return False

    return Interpretation


def _effects(add: Callable[[Op, Any], None]) -> Any:
    class TransformEffects(ir.MemoryEffectsOpInterface):
        @staticmethod
        def get_effects(op: Op, effects: Any) -> None:
            add(op, effects)

    return TransformEffects
