"""Entry points of the commands: nothing is imported before errors can be said in one message."""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

from .command import interrupted


def smem_opt() -> None:
    """`smem-opt`."""
    _without_threads()
    _run("smem_opt")


def smem_compile() -> None:
    """`smem-compile`."""
    _without_threads()
    if not any("nvvm" in word for word in sys.argv):
        _start_llvm()
    _run("smem_compile")


def smem_run() -> None:
    """`smem-run`."""
    _run("smem_run")


def smem_layout() -> None:
    """`smem-layout`."""
    _without_threads()
    _run("smem_layout")


def _start_llvm() -> None:
    """Lets LLVM be loaded, in its process, while this one loads MLIR."""
    from ..codegen.errors import CompileError
    from ..codegen.llvm_process import prepare

    with suppress(CompileError):  # who needs it says so
        prepare()


def _without_threads() -> None:
    """Lets NumPy start no threads for linear algebra, of which these commands do none: it would take a
    tenth of a second."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(name: str) -> None:
    command = name.replace("_", "-")
    # Extension modules make errors of their own of an interruption while they are imported.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(interrupted(command)))
    # What is imported stays: looking for garbage in it would take a fifth of the start.
    gc.disable()
    try:
        module = import_module(f".{name}", __package__)
    except ImportError as error:
        # The MLIR bindings are looked for while modules are imported.
        print(f"{command}: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    gc.freeze()
    gc.enable()
    try:
        signal.signal(signal.SIGINT, before)
        code = getattr(module, name)(sys.argv[1:])
    except KeyboardInterrupt:
        code = interrupted(command)
    # All is done but to leave.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)
