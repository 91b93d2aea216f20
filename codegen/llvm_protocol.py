"""Requests to the process that runs LLVM, and its answers; both are pickled."""

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from .targets import Target


@dataclass(frozen=True)
class Request:
    """A module to compile.

    Attributes:
        bytecode: MLIR bytecode of a gpu.module with ops of the LLVM and NVVM dialects.
        bindings: the name of the MLIR bindings' package.
        dialects: those that the translation to LLVM IR knows.
        target: the target of the PTX; None for LLVM IR only.
        library: CUDA's libdevice; None if none of its functions is called.
        seconds: the limit of CPU time.
    """

    bytecode: bytes
    bindings: str
    dialects: tuple[str, ...]
    target: Target | None
    library: Path | None
    seconds: int


class AnswerKind(Enum):
    """The kinds of answers, each with a value.

    An answer is sent as soon as it is known, so that it arrives even if the process crashes later.
    """

    #: (location, message): an error that MLIR's translation emits.
    DIAGNOSTIC = auto()
    #: The LLVM IR.
    LLVM = auto()
    #: The PTX.
    PTX = auto()
    #: The reason why LLVM does not compile the module; the last answer.
    REFUSED = auto()
    #: A failure that does not depend on the module; the last answer.
    FAILED = auto()
    #: None; the last answer.
    DONE = auto()


#: After these, the process waits for the next request.
LAST = (AnswerKind.REFUSED, AnswerKind.FAILED, AnswerKind.DONE)
