"""What the commands have in common: messages instead of tracebacks, exit codes."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from ..codegen import CompileError
from ..passes import OptionError
from ..runtime import LaunchError
from .inputs import InputError

#: What a user can cause; each message stands on its own.
USER_ERRORS = (InputError, OptionError, CompileError, LaunchError)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line and exit code 1, as those of mlir-opt."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(1)


def parser(prog: str, description: str) -> Parser:
    """A parser with the options that every command has."""
    made = Parser(prog=prog, description=description, allow_abbrev=False)
    made.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    return made


def run(prog: str, body: Callable[[], int], debug: bool) -> int:
    """Runs a command's body; the exit code, with user errors said in one message."""
    try:
        return body()
    except USER_ERRORS as error:
        if debug:
            raise
        print(f"{prog}: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; so may we, without a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def main_of(command: Callable[[Sequence[str]], int]) -> Callable[[], None]:
    """The entry point of a command."""

    def main() -> None:
        raise SystemExit(command(sys.argv[1:]))

    return main
