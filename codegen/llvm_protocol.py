"""What a process asks the one that runs LLVM, and what that answers; both as pickles."""

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from .targets import Target


@dataclass(frozen=True)
class Request:
    """A module to compile.

    Attributes:
        bytecode: MLIR's, of a gpu.module whose ops are of the LLVM and NVVM dialects.
        bindings: the name of the MLIR bindings' package.
        dialects: those whose attributes say something to the translation.
        target: what PTX is wanted for; None for LLVM IR alone.
        library: CUDA's libdevice, where functions of it are called.
        seconds: of the processor's time that it may take.
    """

    bytecode: bytes
    bindings: str
    dialects: tuple[str, ...]
    target: Target | None
    library: Path | None
    seconds: int


class Answer(Enum):
    """What an answer says; a value goes with it. They come as they are known, so that they outlive the
    process that gave them."""

    #: (location, message): an error that MLIR's translation emits.
    DIAGNOSTIC = auto()
    #: The LLVM IR.
    LLVM = auto()
    #: The PTX.
    PTX = auto()
    #: Why LLVM does not compile the module; the last answer.
    REFUSED = auto()
    #: Why there is no code, whatever the module is; the last answer.
    FAILED = auto()
    #: None; the last answer.
    DONE = auto()


#: After these, the process waits for the next request.
LAST = (Answer.REFUSED, Answer.FAILED, Answer.DONE)
