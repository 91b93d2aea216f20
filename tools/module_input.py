"""Reading of modules, as text or as bytecode."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from ..bindings.mlir import ir
from ..bindings.parsing import BYTECODE, parse_module
from ..dialect import new_context
from .inputs import InputError, shown_name

#: The program of the process that parses bytecode, with the paths of packages as its arguments.
_PARSE = (
    "import sys; sys.path += sys.argv[1:]; "
    f"from {__package__}.module_input import parse_bytecode; parse_bytecode(sys.stdin.buffer.read())"
)


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

    It is a new process, because a fork of one that has threads may wait forever for a lock of theirs.

    Raises:
        InputError: if the process ends by a signal.
    """
    command = [sys.executable, "-P", "-c", _PARSE, *map(os.path.abspath, sys.path)]
    code = subprocess.run(command, input=data, stderr=subprocess.DEVNULL, check=False).returncode
    if code < 0:
        raise InputError(f"{shown}: is damaged bytecode: MLIR's reader ends by signal {-code}")


def parse_bytecode(data: bytes) -> None:
    """Parse bytecode; an error is reported, with its location, when the caller parses it."""
    with new_context() as context, suppress(ir.MLIRError):
        context.allow_unregistered_dialects = True
        parse_module(data)
