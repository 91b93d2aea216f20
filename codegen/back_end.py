"""From a gpu.module of the LLVM dialect to LLVM IR and PTX, with the location of an error of LLVM."""

from typing import Any

from ..bindings.diagnostics import file_position
from ..bindings.mlir import PACKAGE, bytecode_of, ir
from ..ir.walk import walk
from .errors import CompileError, located
from .libdevice import PREFIX, find_libdevice
from .llvm_process import LLVMDied, llvm_process
from .llvm_protocol import Answer, Request
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


class _Refused(Exception):
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
        return _compiled(kernels, target)
    except _Refused as refused:
        raise _placed(kernels, target, refused) from None


def _compiled(kernels: Any, target: Target | None) -> tuple[str, str | None]:
    library = find_libdevice().absolute() if target and _calls_libdevice(kernels) else None
    request = Request(bytecode_of(kernels), PACKAGE, TRANSLATED, target, library, MAX_SECONDS)
    answers: dict[Answer, Any] = {}
    errors: list[tuple[str, str]] = []
    try:
        with llvm_process() as llvm:
            for what, value in llvm.answers(request):
                if what is Answer.DIAGNOSTIC:
                    errors.append(value)
                answers[what] = value
    except LLVMDied as died:
        raise _Refused(f"LLVM aborts: {died}", errors) from None
    if Answer.FAILED in answers:
        raise CompileError(answers[Answer.FAILED])
    if Answer.REFUSED in answers:
        raise _Refused(answers[Answer.REFUSED], errors)
    return answers[Answer.LLVM], answers.get(Answer.PTX)


def _calls_libdevice(kernels: Any) -> bool:
    names = (ir.StringAttr(op.attributes["sym_name"]).value for op in walk(kernels, "llvm.func"))
    return any(name.startswith(PREFIX) for name in names)


def _placed(kernels: Any, target: Target | None, refused: _Refused) -> CompileError:
    """Emit the reason of a refusal at the op, where it is known; return the error to raise."""
    if refused.errors:
        return _emitted(refused.errors)
    culprit = _quoted(kernels, str(refused)) or _only_function(kernels)
    if culprit is None:
        culprit = _refused_alone(kernels, target)
    if culprit is None:
        return CompileError(str(refused))
    return located(culprit, f"cannot be compiled; {refused}")


def _emitted(errors: list[tuple[str, str]]) -> CompileError:
    """Emit errors of the LLVM process in this one; return the error to raise."""
    # An op's own error says more than the error that its translation has failed.
    errors = [each for each in errors if not each[1].startswith(_FAILED)] or errors
    messages = []
    for location, message in errors:
        place = file_position(location)
        at = ir.Location.file(*place) if place else ir.Location.unknown()
        at.emit_error(message)
        messages.append(f"{location}: {message}")
    return CompileError("\n".join(messages))


def _quoted(kernels: Any, problem: str) -> Any:
    """Return the op whose text LLVM quotes; None if there is none, or more than one."""
    found = []
    for op in walk(kernels, *_QUOTED):
        texts = (ir.StringAttr(op.attributes[name]).value for name in _QUOTED[op.name])
        if any(text and text in problem for text in texts):
            found.append(op)
    return found[0] if len(found) == 1 else None


def _only_function(kernels: Any) -> Any:
    """Return the function that has a body; None if several have."""
    functions = _functions(kernels)
    return functions[0] if len(functions) == 1 else None


def _functions(kernels: Any) -> list[Any]:
    return [op for op in walk(kernels, "llvm.func") if len(op.regions[0].blocks)]


def _refused_alone(kernels: Any, target: Target | None) -> Any:
    """Return the first kernel that LLVM refuses without the others; None if it compiles each alone."""
    for index, kernel in enumerate(_kernels(kernels)):
        alone = kernels.operation.clone()
        for at, other in enumerate(_kernels(alone)):
            if at != index:
                other.erase()
        try:
            _compiled(alone, target)
        except _Refused:
            return kernel
    return None


def _kernels(kernels: Any) -> list[Any]:
    return [op for op in _functions(kernels) if _KERNEL in op.attributes]
