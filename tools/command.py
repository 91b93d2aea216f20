"""What the commands have in common: messages instead of tracebacks, exit codes."""

import argparse
import os
import signal
import sys
from collections.abc import Callable


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line and exit code 1, as those of mlir-opt."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(1)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def, override]
        words = sys.argv[1:] if args is None else list(args)
        for word in words:
            # Who calls a command from Python can give what no shell can, and no file can be called.
            if "\0" in word:
                self.error(f"the argument {word!r} has a NUL character")
            # Python before 3.13 takes this '--' for the end of the options, and gives [] as the value.
            if word.startswith("-") and word.endswith("=--"):
                self.error(f"argument {word.removesuffix('=--')}: expected a value, not '--'")
        return super().parse_known_args(words, namespace)


def parser(prog: str, description: str) -> Parser:
    """A parser with the options that every command has."""
    made = Parser(prog=prog, description=description, allow_abbrev=False)
    made.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    return made


def run(
    prog: str, body: Callable[[], int], debug: bool, user_errors: tuple[type[Exception], ...]
) -> int:
    """Runs a command's body; the exit code, with every error said in one message.

    Args:
        prog: the command's name.
        body: what it does.
        debug: whether errors come with a traceback.
        user_errors: what a user can cause; the message stands on its own.
    """
    try:
        code = body()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has gone; so may we, without a word.
        _forget_output()
        return 1
    except OSError as error:
        _forget_output()
        message = f"standard output: {error.strerror}"
    except user_errors as error:
        if debug:
            raise
        message = str(error)
    except KeyboardInterrupt:
        return interrupted(prog)
    except Exception as error:
        if debug:
            raise
        message = f"internal error: {type(error).__name__}: {error}; --debug shows where"
    print(f"{prog}: error: {message}", file=sys.stderr)
    return 1


def interrupted(prog: str) -> int:
    """Says that Ctrl-C has ended a command; the exit code that shells give to that."""
    print(f"{prog}: interrupted", file=sys.stderr, flush=True)
    return 128 + signal.SIGINT


def _forget_output() -> None:
    """Lets what is still buffered go nowhere, so that leaving does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
