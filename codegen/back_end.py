"""From a gpu.module of the LLVM dialect to LLVM IR and PTX, with the location of an error of LLVM."""

from typing import Any

from ..bindings.diagnostics import file_position
from ..bindings.mlir import PACKAGE, bytecode_of, ir
from ..ir.walk import walk
from .errors import CompileError, error_at
from .libdevice import PREFIX, find_libdevice
from .llvm_process import LLVMDied, llvm_process
from .llvm_protocol import AnswerKind, Request
from .targets import Target

#: Dialects whose ops and attributes MLIR's translation to LLVM IR knows.
TRANSLATED = ("llvm", "nvvm", "gpu")

#: CPU time after which LLVM is taken to be in an endless loop: a GEMM takes less than one second.
MAX_SECONDS = 600

#: Attributes of ops that reach LLVM as text; LLVM quotes them in its errors.
_QUOTED = {
    "llvm.call_intrinsic": ("intrin",),
    "llvm.inline_asm": ("asm_string", "constraints"),
}

#: The error of MLIR's translation for each op around one that it cannot translate.
_FAILED = "LLVM Translation failed for operation"

#: The attribute that marks a function of the LLVM dialect as a kernel.
_KERNEL = "nvvm.kernel"


class Refusal(Exception):
    """LLVM does not compile a module; the message is LLVM's.

    Attributes:
        errors: (location, message) of the errors of MLIR's translation.
    """

    def __init__(self, problem: str, errors: list[tuple[str, str]]) -> None:
        super().__init__(problem)
        self.errors = errors


def to_llvm(kernels: Any, target: Target | None) -> tuple[str, str | None]:
    """Return the LLVM IR of a gpu.module, and its PTX for a target; None without a target.

    Raises:
        CompileError: if LLVM refuses the module or crashes; with a located diagnostic, where the op is
            known.
    """
    try:
        return run_llvm(request_of(kernels, target))
    except Refusal as refusal:
        raise locate_refusal(kernels, target, refusal) from None


def request_of(kernels: Any, target: Target | None) -> Request:
    """Return what LLVM is asked to do with a gpu.module; the target as for `to_llvm`."""
    library = find_libdevice().absolute() if target and _calls_libdevice(kernels) else None
    return Request(bytecode_of(kernels), PACKAGE, TRANSLATED, target, library, MAX_SECONDS)


def run_llvm(request: Request) -> tuple[str, str | None]:
    """Return the LLVM IR and the PTX of a request. Any thread can call it.

    Raises:
        Refusal: if LLVM refuses the module or crashes.
        CompileError: if no process can run LLVM.
    """
    answers: dict[AnswerKind, Any] = {}
    errors: list[tuple[str, str]] = []
    try:
        with llvm_process() as llvm:
            for kind, value in llvm.answers(request):
                if kind is AnswerKind.DIAGNOSTIC:
                    errors.append(value)
                answers[kind] = value
    except LLVMDied as died:
        raise Refusal(f"LLVM aborts: {died}", errors) from None
    if AnswerKind.FAILED in answers:
        raise CompileError(answers[AnswerKind.FAILED])
    if AnswerKind.REFUSED in answers:
        raise Refusal(answers[AnswerKind.REFUSED], errors)
    return answers[AnswerKind.LLVM], answers.get(AnswerKind.PTX)


def _calls_libdevice(kernels: Any) -> bool:
    names = (ir.StringAttr(op.attributes["sym_name"]).value for op in walk(kernels, "llvm.func"))
    return any(name.startswith(PREFIX) for name in names)


def locate_refusal(kernels: Any, target: Target | None, refusal: Refusal) -> CompileError:
    """Emit the reason of a refusal at the op, where it is known; return the error to raise."""
    if refusal.errors:
        return _emit_errors(refusal.errors)
    op = _find_quoted_op(kernels, str(refusal)) or _only_function(kernels)
    if op is None:
        op = _find_refused_kernel(kernels, target)
    if op is None:
        return CompileError(str(refusal))
    return error_at(op, f"cannot be compiled; {refusal}")


def _emit_errors(errors: list[tuple[str, str]]) -> CompileError:
    """Emit errors of the LLVM process in this one; return the error to raise."""
    # An op's own error says more than the error that its translation has failed.
    errors = [error for error in errors if not error[1].startswith(_FAILED)] or errors
    messages = []
    for location, message in errors:
        position = file_position(location)
        op_location = ir.Location.file(*position) if position else ir.Location.unknown()
        op_location.emit_error(message)
        messages.append(f"{location}: {message}")
    return CompileError("\n".join(messages))


def _find_quoted_op(kernels: Any, problem: str) -> Any:
    """Return the op whose text LLVM quotes; None if there is none, or more than one."""
    quoted_ops = []
    for op in walk(kernels, *_QUOTED):
        texts = (ir.StringAttr(op.attributes[name]).value for name in _QUOTED[op.name])
        if any(text and text in problem for text in texts):
            quoted_ops.append(op)
    return quoted_ops[0] if len(quoted_ops) == 1 else None


def _only_function(kernels: Any) -> Any:
    """Return the function that has a body; None if several have."""
    functions = _functions(kernels)
    return functions[0] if len(functions) == 1 else None


def _functions(kernels: Any) -> list[Any]:
    return [op for op in walk(kernels, "llvm.func") if len(op.regions[0].blocks)]


def _find_refused_kernel(kernels: Any, target: Target | None) -> Any:
    """Return the first kernel that LLVM refuses without the others; None if it compiles each alone."""
    for index, kernel in enumerate(_kernels(kernels)):
        clone = kernels.operation.clone()
        for other_index, other in enumerate(_kernels(clone)):
            if other_index != index:
                other.erase()
        try:
            run_llvm(request_of(clone, target))
        except Refusal:
            return kernel
    return None


def _kernels(kernels: Any) -> list[Any]:
    return [op for op in _functions(kernels) if _KERNEL in op.attributes]
