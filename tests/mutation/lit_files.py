"""The lit tests within this process: their commands, and FileCheck on what they print."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SUITE = Path(__file__).parents[2] / "lit_tests"

#: The commands of this package that run here.
_OURS = ("smem-opt", "smem-layout")

#: Redirections, and the number of words of each.
_REDIRECTIONS = {"2>&1": 1, "2>": 2, ">": 2, "<": 2}


@dataclass(frozen=True)
class Command:
    """A command of a pipe.

    Attributes:
        program: one of `_OURS`, or `FileCheck`.
        arguments: its arguments; `%s`, `%S` and `%t` are not substituted.
        redirected: the file of each redirection.
        refused: whether it must refuse its input, as after `%{refused}`.
    """

    program: str
    arguments: tuple[str, ...]
    redirected: dict[str, str]
    refused: bool


#: Commands; each reads what the one before it prints.
Pipe = list[Command]


@cache
def tests() -> dict[str, list[Pipe]]:
    """The pipes of each lit test, by its name; only tests whose commands all run here."""
    pipes_by_test = {}
    for file in sorted([*SUITE.rglob("*.mlir"), *SUITE.rglob("*.test")]):
        lines = re.findall(r"RUN: (.*)", file.read_text(errors="replace"))
        pipes = [_parse_run_line(line) for line in lines]
        if pipes and all(pipes) and "Output" not in file.parts:
            pipes_by_test[str(file.relative_to(SUITE.parent))] = pipes
    return pipes_by_test


def passes(test: str) -> bool:
    """Return whether a test of `tests` passes."""
    with TemporaryDirectory() as folder:
        file = SUITE.parent / test
        names = {"%s": str(file), "%S": str(file.parent), "%t": f"{folder}/t"}
        return all(_succeeds(pipe, names, folder) for pipe in tests()[test])


def _parse_run_line(line: str) -> Pipe:
    """Return the pipe of a RUN line; an empty one if it does not run here."""
    line, pipe = re.sub(r">(?=%t)", "> ", line), []
    for command in " ".join(shlex.quote(word) for word in shlex.split(line)).split(" '|' "):
        program, *words = shlex.split(command)
        refused = program == "%{refused}"
        if refused and words[0] == "smem-layout":
            program, *words = words
        if program not in (*_OURS, "FileCheck") or any(
            "%" in re.sub("%[sSt]", "", word) for word in words
        ):
            return []
        arguments, redirected = [], {}
        while words:
            count = _REDIRECTIONS.get(words[0], 0)
            if count:
                redirected[words[0]] = words[count - 1]
            else:
                arguments.append(words[0])
            words = words[count or 1 :]
        pipe.append(Command(program, tuple(arguments), redirected, refused))
    return pipe


def _succeeds(pipe: Pipe, names: dict[str, str], folder: str) -> bool:
    """Return whether every command of a pipe succeeds, or refuses its input where it must."""

    def substitute(word: str) -> str:
        return re.sub("%[sSt]", lambda match: names[match[0]], word)

    printed = None
    for command in pipe:
        arguments = [substitute(word) for word in command.arguments]
        files = {redirection: substitute(word) for redirection, word in command.redirected.items()}
        standard_input = files.get("<", printed)
        if command.program == "FileCheck":
            inputs = [f"--input-file={standard_input}"] if standard_input else []
            if not _accepts([*arguments, *inputs]):
                return False
            continue
        printed = files.get(">", f"{folder}/printed{len(os.listdir(folder))}")
        joined = "2>&1" in files or command.refused
        errors = printed if joined else files.get("2>", os.devnull)
        if standard_input is not None:
            arguments = [word for word in arguments if word != "-"] + [standard_input]
        if command.refused == _runs(command.program, arguments, printed, errors):
            return False
    return True


def _runs(program: str, arguments: list[str], printed: str, errors: str) -> bool:
    """Run a command of `_OURS`; return whether it succeeds."""
    name = program.replace("-", "_")
    command = getattr(importlib.import_module(f"mlir_smem.tools.{name}"), name)
    with _redirect(printed, errors):
        try:
            return not command(arguments)
        except SystemExit as end:  # as `--help` does
            return not end.code


def _accepts(arguments: list[str]) -> bool:
    """Run FileCheck; return whether it accepts its input."""
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options

    with (
        open(os.devnull, "w") as devnull,
        contextlib.redirect_stdout(devnull),
        contextlib.redirect_stderr(devnull),
    ):
        return Matcher.from_opts(parse_argv_options(["filecheck", *arguments])).run() == 0


@contextlib.contextmanager
def _redirect(printed: str, errors: str) -> Iterator[None]:
    """Redirect standard output and standard error to files, or to the same file."""
    sys.stdout.flush()
    sys.stderr.flush()
    descriptors, streams = (os.dup(1), os.dup(2)), (sys.stdout, sys.stderr)
    with open(printed, "wb") as out, open(errors, "ab") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno() if errors == printed else err.fileno(), 2)
    # Standard error is written line by line, as that of a process is.
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout.flush()
        sys.stdout, sys.stderr = streams
        for number, original in zip((1, 2), descriptors, strict=True):
            os.dup2(original, number)
            os.close(original)
