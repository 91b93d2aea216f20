"""Lowering of a module given as text or bytecode, for hosts that exchange no objects."""

from typing import Literal, overload

from ..bindings.mlir import bytecode_of
from ..bindings.parsing import parse_module
from ..dialect import new_context
from ..dialect.arguments import wrong_argument
from ..passes import parse_pipeline
from .host_version import for_llvm, from_llvm

#: The pipeline that leaves no op of `smem`.
PIPELINE = "builtin.module(smem-to-nvvm)"


@overload
def lower_text(
    text: str | bytes,
    pipeline: str = ...,
    *,
    host_llvm: int | None = ...,
    generic: bool = ...,
    bytecode: Literal[False] = ...,
) -> str: ...


@overload
def lower_text(text: str | bytes, pipeline: str = ..., *, bytecode: Literal[True]) -> bytes: ...


def lower_text(
    text: str | bytes,
    pipeline: str = PIPELINE,
    *,
    host_llvm: int | None = None,
    generic: bool = True,
    bytecode: bool = False,
) -> str | bytes:
    """Run passes over a module given as text or bytecode.

    Locations are kept; an op of a text without them has its line and column in that text. Ops of dialects
    that the bindings of mlir_smem do not have pass through unchanged.

    Args:
        text: MLIR text, or bytecode.
        pipeline: a textual pipeline, as for `parse_pipeline`.
        host_llvm: the major version of LLVM of a host that prints `text`, in the generic form, and reads
            the result; None if it is that of the bindings of mlir_smem.
        generic: whether the result is in the generic form, which depends least on the version of MLIR
            that reads it.
        bytecode: whether the result is bytecode.

    Returns:
        The module after the pipeline: text with locations, or bytecode.

    Raises:
        MLIRError: of the bindings of mlir_smem, with located diagnostics, if the text is malformed or
            cannot be lowered.
        OptionError: for a malformed pipeline, an unknown pass or option.
        HostVersionError: at an op that one of the two versions of LLVM cannot represent.
        ValueError: for a version that is too old, or one together with bytecode or the pretty form.
        TypeError: if `text` is neither text nor bytes.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> "nvvm.wgmma.mma_async" in mlir_smem.lower_text(text)
        True
    """
    if not isinstance(text, str | bytes):
        raise wrong_argument("mlir_smem.lower_text", "text", text, "MLIR text, or bytecode")
    if host_llvm is not None:
        if bytecode or not generic or isinstance(text, bytes):
            raise ValueError(
                f"mlir_smem.lower_text: host_llvm is {host_llvm}; expected with text in the generic "
                "form alone, which is what can be changed for another version"
            )
        text = from_llvm(text, host_llvm)
    with new_context() as context:
        context.allow_unregistered_dialects = True
        passes = parse_pipeline(pipeline)
        module = parse_module(text)
        passes.run(module.operation)
        if bytecode:
            return bytecode_of(module)
        printed = module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=True)
        return printed if host_llvm is None else for_llvm(printed, host_llvm)
