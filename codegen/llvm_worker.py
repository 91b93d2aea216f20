"""The process that runs LLVM: requests on standard input, answers on standard output."""

import math
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from .errors import CompileError, LLVMRefusal
from .llvm_protocol import AnswerKind, Request
from .nvptx_choice import nvptx_for
from .ptx import to_llvm_ir, to_ptx


def serve(bindings: str) -> None:
    """Answer requests until standard input ends.

    Args:
        bindings: the name of the MLIR bindings' package, which is loaded before the first request.
    """
    # Ctrl-C ends the parent process, which ends this one; an abort of LLVM leaves no core dump.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Other output to standard output goes to stderr, so that it does not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: SimpleQueue[Request] = SimpleQueue()
    Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    with suppress(CompileError, ImportError):  # the answer to a request says what is missing
        nvptx_for(bindings)
    while True:
        _answer(requests.get(), answers)


def _receive(stream: BinaryIO, requests: SimpleQueue[Request]) -> None:
    """Queue requests; end the process at once when the parent closes the stream."""
    try:
        while True:
            requests.put(pickle.load(stream))
    finally:
        os._exit(0)


def _answer(request: Request, answers: BinaryIO) -> None:
    # MLIR holds the GIL, so only a limit of CPU time can end an endless loop.
    end = math.ceil(time.process_time()) + request.seconds
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    end = end if hard_limit == resource.RLIM_INFINITY else min(end, hard_limit)
    resource.setrlimit(resource.RLIMIT_CPU, (end, hard_limit))

    def send(kind: AnswerKind, value: Any = None) -> None:
        pickle.dump((kind, value), answers)
        answers.flush()

    try:
        _compile(request, send)
    except LLVMRefusal as error:
        send(AnswerKind.REFUSED, str(error))
    except CompileError as error:
        send(AnswerKind.FAILED, str(error))
    except Exception as error:  # of any class: the other process waits for an answer
        send(AnswerKind.REFUSED, f"{type(error).__name__}: {error}")
    else:
        send(AnswerKind.DONE)


def _compile(request: Request, send: Callable[[AnswerKind, Any], None]) -> None:
    """Send the LLVM IR of a request, its PTX if that is wanted, and the errors of MLIR."""
    ir: Any = import_module(f"{request.bindings}.ir")

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            send(AnswerKind.DIAGNOSTIC, (str(diagnostic.location), diagnostic.message))
        return True

    with ir.Context(load_on_create_dialects=()) as context, ir.Location.unknown():
        for dialect in request.dialects:
            # Not `dialects[...]`: it imports the Python classes of all ops, for a tenth of a second.
            context.get_dialect_descriptor(dialect)
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = True  # attributes of other dialects may remain
        context.attach_diagnostic_handler(take)
        module = ir.Module.parse(request.bytecode)
        (kernels,) = module.body.operations
        llvm_ir = to_llvm_ir(kernels.operation, request.bindings)
        send(AnswerKind.LLVM, llvm_ir)
        if request.target is not None:
            llvm = nvptx_for(request.bindings)
            ptx = to_ptx(kernels.operation, llvm_ir, request.target, llvm, request.library)
            send(AnswerKind.PTX, ptx)
