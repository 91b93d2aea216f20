"""Reading of modules, as text or as bytecode."""

import os
import sys
from pathlib import Path

from ..bindings.mlir import ir
from ..bindings.parsing import BYTECODE, parse_module
from ..dialect import new_context
from .inputs import InputError, shown_name


def read(name: str) -> str | bytes:
    """Return the MLIR of a file, as text or as bytecode; "-" is standard input.

    Raises:
        InputError: if it cannot be read, or is bytecode that makes MLIR's reader abort.
    """
    shown = shown_name(name)
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        if data.startswith(BYTECODE):
            _check_bytecode(data, shown)
            return data
        return data.decode()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}: is not text ({error.reason} at byte {error.start})") from None


def _check_bytecode(data: bytes, shown: str) -> None:
    """Check in another process that MLIR's reader survives: some damaged bytecode ends its process.

    Raises:
        InputError: if the process ends by a signal.
    """
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with new_context() as context:
                context.allow_unregistered_dialects = True
                parse_module(data)
        except ir.MLIRError:
            pass  # reported with its location when the caller parses the bytecode
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise InputError(
            f"{shown}: is damaged bytecode: MLIR's reader ends by signal {os.WTERMSIG(status)}"
        )
