"""Run the commands of a page in an empty folder, and write their outputs into the page.

If the first line of a fence is a comment with only a file's name, the fence is that file. A fence `diff`
changes a file. A fence `console` has commands after `$`, each with its output. A command that ends with
the comment `# on a GPU` is run only with `--gpu`; without it, the output on the page is kept.
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
    """Renew the pages that the arguments name, in place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--gpu", action="store_true", help="also run commands that need a GPU")
    options = parser.parse_args()
    for page in options.pages:
        page.write_text(renew_page(page.read_text(), options.gpu))


def renew_page(text: str, gpu: bool) -> str:
    """Return a page's text with the current outputs of its commands.

    Raises:
        ValueError: if a `diff` does not fit the file that it names.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def renew(fence: re.Match[str]) -> str:
            language, body = fence.groups()
            name_match = _NAMED.match(body)
            if language == "console":
                return f"```console\n{_run(body, folder, gpu)}```"
            if language == "diff":
                _change(body, folder)
            elif name_match:
                (folder / name_match[1]).write_text(body)
            return fence[0]

        return _FENCE.sub(renew, text)


def files_of(page: Path, name: str) -> list[str]:
    """Return the texts of a page's file, in the order of the sessions before which it is changed."""
    with tempfile.TemporaryDirectory() as folder:
        file, texts = Path(folder) / name, list[str]()
        for fence in _FENCE.finditer(page.read_text()):
            language, body = fence.groups()
            name_match = _NAMED.match(body)
            if language == "diff" and body.startswith(f"--- {name}\n"):
                _change(body, Path(folder))
                texts.append(file.read_text())
            elif language != "console" and name_match and name_match[1] == name:
                file.write_text(body)
                texts.append(body)
    return texts


def _run(body: str, folder: Path, gpu: bool) -> str:
    """Return a session's text with each command's output after it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = list(_COMMAND.finditer(body))
    ends = [command.start() for command in commands[1:]] + [len(body)]
    session = ""
    for command, end in zip(commands, ends, strict=True):
        if command[0].endswith("# on a GPU") and not gpu:
            session += body[command.start() : end]
            continue
        process = subprocess.run(
            ["bash", "-c", command[0][2:]],
            cwd=folder,
            env=os.environ | {"PATH": path, "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        session += f"{command[0]}\n{process.stdout.rstrip()}".rstrip() + "\n"
    return session


def _change(body: str, folder: Path) -> None:
    """Apply a diff: `--- name`, then lines as in a unified diff; hunks are separated by `@@`."""
    head, _, hunks = body.partition("\n")
    file = folder / head.removeprefix("--- ")
    text = file.read_text()
    for hunk in re.split(r"^@@\n", hunks, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        if text.count(old) != 1:
            raise ValueError(
                f"{text.count(old)} places of {file.name} match the diff; expected 1:\n{hunk}"
            )
        text = text.replace(old, new)
    file.write_text(text)


if __name__ == "__main__":
    main()
