"""The lit tests within this process: what each command prints, and whether FileCheck accepts it."""

import contextlib
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

SUITE = Path(__file__).parents[2] / "lit_tests"

#: The commands of a file that run here: one of smem-opt, whose output FileCheck reads or nobody does.
_RUN = re.compile(
    r"smem-opt %s(?P<options>[^|%<>&]*)(?P<all>2>&1)?\s*(\| FileCheck %s(?P<check>[^|%]*))?$"
)


@dataclass(frozen=True)
class Command:
    """A command of a lit test; `check` are the options of FileCheck, None without it."""

    file: Path
    options: tuple[str, ...]
    with_errors: bool
    check: tuple[str, ...] | None

    def output(self) -> tuple[int, bytes]:
        """The exit code, and what is printed."""
        from mlir_smem.tools.smem_opt import smem_opt

        with TemporaryDirectory() as folder, (Path(folder) / "said").open("w+b") as said:
            with _redirected(said.fileno(), self.with_errors):
                code = smem_opt([str(self.file), *self.options])
            return int(code or 0), (Path(folder) / "said").read_bytes()

    def accepts(self, code: int, output: bytes) -> bool:
        """Whether the test passes with that."""
        if code or self.check is None:
            return code == 0
        from filecheck.matcher import Matcher
        from filecheck.options import parse_argv_options

        with TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
            said = Path(folder) / "said"
            said.write_bytes(output)
            arguments = ["filecheck", str(self.file), *self.check, f"--input-file={said}"]
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                return Matcher.from_opts(parse_argv_options(arguments)).run() == 0


@contextlib.contextmanager
def _redirected(to: int, with_errors: bool):
    """Standard output goes to a file, and standard errors too or nowhere."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    out, err = sys.stdout, sys.stderr
    os.dup2(to, 1)
    os.dup2(to if with_errors else nowhere, 2)
    # Errors are printed at once, as those of a process are.
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout.flush()
        sys.stdout, sys.stderr = out, err
        for number, was in zip((1, 2), kept, strict=True):
            os.dup2(was, number)
            os.close(was)
        os.close(nowhere)


def commands() -> dict[str, list[Command]]:
    """The commands of each lit test all of whose commands run here, by the name of the test."""
    found = {}
    for file in sorted(SUITE.rglob("*.mlir")):
        if "Output" in file.parts:
            continue
        lines = re.findall(r"RUN: (.*)", file.read_text(errors="replace"))
        matches = [_RUN.fullmatch(line.strip()) for line in lines]
        if lines and all(matches):
            found[str(file.relative_to(SUITE.parent))] = [
                Command(
                    file,
                    tuple(shlex.split(m["options"])),
                    bool(m["all"]),
                    None if m[3] is None else tuple(shlex.split(m["check"])),
                )
                for m in matches
                if m
            ]
    return found
