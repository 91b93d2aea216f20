"""Does what a page tells its reader to do, in an empty folder, and writes into it what the commands say.

A fence whose first line is a comment with nothing but a file's name is that file, a fence `diff` changes
one, and a fence `console` has commands behind `$`, each with its output. A command that ends in the
comment `# on a GPU` is run with `--gpu` only; without, what stands there is kept.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?://|#) ([\w-]+\.\w+)\n")
_COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*$", re.MULTILINE)


def main() -> None:
    """Renews the pages that the arguments name, each in its place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--gpu", action="store_true", help="run what needs a GPU, too")
    options = parser.parse_args()
    for page in options.pages:
        page.write_text(renewed(page.read_text(), options.gpu))


def renewed(text: str, gpu: bool) -> str:
    """A page's text with the outputs that its commands have.

    Raises:
        ValueError: if a `diff` does not fit the file that it names.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def done(fence: re.Match[str]) -> str:
            language, body = fence.groups()
            named = _NAMED.match(body)
            if language == "console":
                return f"```console\n{_run(body, folder, gpu)}```"
            if language == "diff":
                _change(body, folder)
            elif named:
                (folder / named[1]).write_text(body)
            return fence[0]

        return _FENCE.sub(done, text)


def _run(body: str, folder: Path, gpu: bool) -> str:
    """A session's text with each command's output behind it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = list(_COMMAND.finditer(body))
    ends = [command.start() for command in commands[1:]] + [len(body)]
    said = ""
    for command, end in zip(commands, ends, strict=True):
        if command[0].endswith("# on a GPU") and not gpu:
            said += body[command.start() : end]
            continue
        ran = subprocess.run(
            ["bash", "-c", command[0][2:]],
            cwd=folder,
            env=os.environ | {"PATH": path, "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        said += f"{command[0]}\n{ran.stdout.rstrip()}".rstrip() + "\n"
    return said


def _change(body: str, folder: Path) -> None:
    """Applies a diff: `--- name`, then lines as in a unified diff; parts are separated by `@@`."""
    head, _, rest = body.partition("\n")
    file = folder / head.removeprefix("--- ")
    text = file.read_text()
    for part in re.split(r"^@@\n", rest, flags=re.MULTILINE):
        lines = part.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        if text.count(before) != 1:
            raise ValueError(
                f"{text.count(before)} places of {file.name} are as the diff has it:\n{part}"
            )
        text = text.replace(before, after)
    file.write_text(text)


if __name__ == "__main__":
    main()
