"""Entry points of the commands; import errors become one message."""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

from .command import interrupted, print_versions


def smem_opt() -> None:
    """`smem-opt`."""
    _without_threads()
    _run("smem_opt")


def smem_compile() -> None:
    """`smem-compile`."""
    _without_threads()
    if not any("nvvm" in word or word == "--version" for word in sys.argv):
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
    """Start the LLVM process, which loads LLVM while this process loads MLIR."""
    from ..codegen.errors import CompileError
    from ..codegen.llvm_process import prepare

    with suppress(CompileError):  # reported when LLVM is used
        prepare()


def _without_threads() -> None:
    """Disable NumPy's threads for linear algebra, which these commands do not use; starting them takes a
    tenth of a second."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(name: str) -> None:
    command = name.replace("_", "-")
    # Extension modules raise other errors on an interruption while they are imported.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(interrupted(command)))
    # Imported modules are not garbage: collection would take a fifth of the start-up time.
    gc.disable()
    if sys.argv[1:] == ["--version"]:
        # The modules of the commands import much more than the versions need.
        print_versions()
    try:
        module = import_module(f".{name}", __package__)
    except ImportError as error:
        # The modules import the MLIR bindings. The versions tell which are missing.
        if "--version" in sys.argv:
            print_versions()
        print(f"{command}: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    gc.freeze()
    gc.enable()
    try:
        signal.signal(signal.SIGINT, before)
        code = getattr(module, name)(sys.argv[1:])
    except KeyboardInterrupt:
        code = interrupted(command)
    # The command has finished: ignore Ctrl-C during the exit.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)
