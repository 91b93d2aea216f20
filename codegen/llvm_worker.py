"""The process that runs LLVM for another one: requests on standard input, answers on standard output."""

import math
import os
import pickle
import resource
import signal
import sys
import time
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from .errors import CompileError, LLVMRefusal
from .llvm_protocol import Answer, Request
from .ptx import to_llvm_ir, to_ptx


def serve() -> None:
    """Answers requests until there are no more."""
    # Ctrl-C is for the process that asks, and an abort of LLVM is no reason for a core dump.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What else writes to standard output must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: SimpleQueue[Request] = SimpleQueue()
    Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    while True:
        _answer(requests.get(), answers)


def _receive(stream: BinaryIO, requests: SimpleQueue[Request]) -> None:
    """Passes requests on; ends the process, whatever it does, when nobody is left who asks."""
    try:
        while True:
            requests.put(pickle.load(stream))
    finally:
        os._exit(0)


def _answer(request: Request, answers: BinaryIO) -> None:
    # MLIR lets no other thread run, so that nothing else ends what goes round and round.
    end = math.ceil(time.process_time()) + request.seconds
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    end = end if most == resource.RLIM_INFINITY else min(end, most)
    resource.setrlimit(resource.RLIMIT_CPU, (end, most))

    def say(what: Answer, value: Any = None) -> None:
        pickle.dump((what, value), answers)
        answers.flush()

    try:
        llvm_ir = _translated(request, lambda *error: say(Answer.DIAGNOSTIC, error))
        say(Answer.LLVM, llvm_ir)
        if request.target is not None:
            say(Answer.PTX, to_ptx(llvm_ir, request.target, request.library))
    except LLVMRefusal as error:
        say(Answer.REFUSED, str(error))
    except CompileError as error:
        say(Answer.FAILED, str(error))
    except Exception as error:
        say(Answer.REFUSED, f"{type(error).__name__}: {error}")
    else:
        say(Answer.DONE)


def _translated(request: Request, report: Any) -> str:
    """The LLVM IR of a request; `report(location, message)` is told of errors."""
    ir: Any = import_module(f"{request.bindings}.ir")

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            report(str(diagnostic.location), diagnostic.message)
        return True

    with ir.Context(load_on_create_dialects=request.dialects) as context, ir.Location.unknown():
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = True  # attributes of others may be left
        context.attach_diagnostic_handler(take)
        module = ir.Module.parse(request.bytecode)
        (kernels,) = module.body.operations
        return to_llvm_ir(kernels.operation, request.bindings)
