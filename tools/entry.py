"""Entry points of the commands; an error while a command is imported becomes one message."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module


def smem_opt() -> None:
    """`smem-opt`."""
    _without_threads()
    _run("smem_opt")


def smem_compile() -> None:
    """`smem-compile`."""
    _without_threads()
    _run("smem_compile", _start_llvm)


def smem_run() -> None:
    """`smem-run`."""
    _run("smem_run")


def smem_layout() -> None:
    """`smem-layout`."""
    _without_threads()
    _run("smem_layout")


def report_interruption(prog: str) -> int:
    """Print that Ctrl-C ended a command, and return the shells' exit code for it."""
    print(f"{prog}: interrupted", file=sys.stderr, flush=True)
    return 128 + signal.SIGINT


def _start_llvm() -> None:
    """Start the LLVM process, which loads LLVM while this process loads MLIR."""
    if any("nvvm" in word or word == "--version" for word in sys.argv):
        return
    from ..codegen.errors import CompileError
    from ..codegen.llvm_process import prepare

    with suppress(CompileError):  # reported when LLVM is used
        prepare()


def _without_threads() -> None:
    """Disable NumPy's threads for linear algebra, which these commands do not use.

    Starting the threads takes a tenth of a second.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(name: str, before: Callable[[], None] = lambda: None) -> None:
    command = name.replace("_", "-")
    # Extension modules raise other errors on an interruption while they are imported.
    handler = signal.signal(signal.SIGINT, lambda *_: os._exit(report_interruption(command)))
    # Imported modules are not garbage: collection would take a fifth of the start-up time.
    gc.disable()
    try:
        before()
        if sys.argv[1:] == ["--version"]:
            # The modules of the commands import much more than the versions need.
            import_module(".command", __package__).print_versions()
        module = import_module(f".{name}", __package__)
    except ImportError as error:
        # The modules import the MLIR bindings. The versions say which are missing.
        if "--version" in sys.argv:
            import_module(".command", __package__).print_versions()
        print(f"{command}: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    gc.freeze()
    gc.enable()
    try:
        signal.signal(signal.SIGINT, handler)
        code = getattr(module, name)(sys.argv[1:])
    except KeyboardInterrupt:
        code = report_interruption(command)
    # The command has finished: ignore Ctrl-C during the exit.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)
