"""Lowering of a module of another bindings package: their module in, their module out."""

from ..bindings.irtypes import Module
from ..dialect import new_context
from ..dialect.arguments import wrong_argument
from ..dialect.smem import Smem
from ..ir.walk import walk
from ..passes import parse_pipeline
from .exchange import BindingsContext, ExchangeError, exchange, is_module
from .text import PIPELINE


def lower(module: Module, pipeline: str = PIPELINE) -> Module:
    """Run passes over a module of any MLIR bindings package.

    Their context holds ops of `smem` if it has `allow_unregistered_dialects`. Ops of dialects that the
    bindings of mlir_smem do not have pass through unchanged.

    Args:
        module: an `ir.Module` of any bindings package, for example of `jaxlib.mlir`; it is not changed.
        pipeline: a textual pipeline, as for `parse_pipeline`.

    Returns:
        The module after the pipeline: of the same package, in the same context, with its locations.

    Raises:
        ExchangeError: if one package cannot read what the other printed, or would lose an attribute, or
            the pipeline leaves ops of `smem` that their context does not allow.
        MLIRError: of the bindings of mlir_smem, with diagnostics at the locations of the module, if it
            cannot be lowered.
        OptionError: for a malformed pipeline, an unknown pass or option.
        TypeError: if it is not a module.

    Example:
        >>> from mlir_smem.bindings import ir  # in place of another package's
        >>> with ir.Context() as context:
        ...     context.allow_unregistered_dialects = True
        ...     module = ir.Module.parse(mlir_smem.examples.path("mma.mlir").read_text())
        ...     lowered = mlir_smem.interop.lower(module)
        >>> "smem.mma" in str(lowered)
        False
    """
    if not is_module(module):
        raise wrong_argument(
            "mlir_smem.interop.lower", "module", module, "an ir.Module of any MLIR bindings package"
        )
    theirs = BindingsContext.of(module)
    with new_context() as context:
        # Ops of dialects that these bindings do not have are the host's.
        context.allow_unregistered_dialects = True
        passes = parse_pipeline(pipeline)
        ours = exchange(module, BindingsContext.ours(context))
        passes.run(ours.operation)
        _check_smem_ops(ours, theirs)
        return exchange(ours, theirs)


def _check_smem_ops(module: Module, theirs: BindingsContext) -> None:
    if theirs.context.allow_unregistered_dialects:
        return
    for op in walk(module):
        if op.operation.name.startswith(f"{Smem.DIALECT_NAMESPACE}."):
            raise ExchangeError(
                f"the pipeline leaves '{op.operation.name}' at {op.operation.location}, which "
                f"{theirs} reads only in a context with allow_unregistered_dialects"
            )
