"""Common parts of the commands: error messages instead of tracebacks, and exit codes."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .entry import report_interruption


class Parser(argparse.ArgumentParser):
    """An argument parser with one-line errors and exit code 1, as mlir-opt."""

    #: argparse takes only `-1` and `-1.5` for values; `-0x10` and `-1,2` are numbers, too. No option
    #: begins with a digit.
    _negative_number_matcher = re.compile(r"-\.?\d")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        vars(self).pop("_negative_number_matcher", None)

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(1)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def, override]
        words = sys.argv[1:] if args is None else list(args)
        for word in words:
            # A caller in Python can pass a NUL, unlike a shell; no file name contains one.
            if "\0" in word:
                self.error(f"the argument {word!r} has a NUL character")
            # Python before 3.13 treats this '--' as the end of the options, with [] as the value.
            if word.startswith("-") and word.endswith("=--"):
                self.error(f"argument {word.removesuffix('=--')}: expected a value, not '--'")
        return super().parse_known_args(words, namespace)


def parser(prog: str, description: str) -> Parser:
    """Return a parser with the options of every command."""
    command_parser = Parser(prog=prog, description=description, allow_abbrev=False)
    command_parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    command_parser.add_argument(
        "--version",
        action=_Version,
        help="print the versions of mlir-smem, the MLIR bindings, LLVM and ptxas",
    )
    return command_parser


class _Version(argparse.Action):
    """Prints the versions and ends the command."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, *_: Any) -> None:
        print_versions()


def print_versions() -> NoReturn:
    """Print the versions, and end the command."""
    # Imported here, because its search for distributions would delay every command.
    from .version import versions

    try:
        print(versions(), flush=True)
    except BrokenPipeError:
        _discard_output()
    raise SystemExit(0)


def add_diagnostics_option(command_parser: Parser) -> None:
    """Add `--diagnostics`, the form of diagnostics on standard error."""
    command_parser.add_argument(
        "--diagnostics",
        choices=("text", "json"),
        default="text",
        help="the form of diagnostics: text, or an object of JSON in each line",
    )


def json_diagnostic(
    severity: str, message: str, file: str = "", line: int = 0, column: int = 0
) -> dict[str, Any]:
    """Return a diagnostic as `--diagnostics=json` prints it.

    Args:
        severity: "error", "warning", "note" or "remark".
        message: the text, one or several lines.
        file: the input's name; "" if the diagnostic has no position.
        line, column: from 1; 0 if the position is unknown.
    """
    return {
        "severity": severity,
        "file": file,
        "line": line,
        "column": column,
        "message": message,
        "notes": [],
    }


def run(
    prog: str,
    body: Callable[[], int],
    debug: bool,
    user_errors: tuple[type[Exception], ...],
    diagnostics: str = "text",
) -> int:
    """Run a command, print an error as one message, and return the exit code.

    Args:
        prog: the command's name.
        body: the command; it returns the exit code.
        debug: whether errors have a traceback.
        user_errors: exceptions for mistakes of the user; their message is printed alone.
        diagnostics: the form of the message, "text" or "json".
    """
    try:
        code = body()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of the output has exited: no message.
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        message = f"standard output: {error.strerror}"
    except user_errors as error:
        if debug:
            raise
        message = str(error)
    except KeyboardInterrupt:
        return report_interruption(prog)
    except Exception as error:
        if debug:
            raise
        message = f"internal error: {type(error).__name__}: {error}; --debug shows where"
    if diagnostics == "json":
        print(json.dumps(json_diagnostic("error", message)), file=sys.stderr)
    else:
        print(f"{prog}: error: {message}", file=sys.stderr)
    return 1


def _discard_output() -> None:
    """Discard buffered output, so that the exit does not fail to write it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
