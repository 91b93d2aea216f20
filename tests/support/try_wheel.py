"""Build the sdist and the wheel, and try the wheel in an empty environment, in a folder elsewhere.

    python tests/support/try_wheel.py [--keep FOLDER]

`make wheel` runs it. The wheel is built from the sdist. In a new environment with the wheel alone:

- the commands of the tutorial print what the page shows,
- the commands of the README succeed,
- no module comes from this tree.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]

#: Pages whose commands print what the page shows.
SESSIONS = ("docs/index.md", "docs/tutorial.md")

_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Run in the new environment: every subpackage is imported, and where each module comes from.
_IMPORTS = """
import importlib, pkgutil, sys
import mlir_smem
for submodule in pkgutil.walk_packages(mlir_smem.__path__, "mlir_smem."):
    # An example or an op of a framework needs other packages; a main module runs when it is imported.
    apart = (".llvm_worker", "__main__", ".torch_op", ".jax_op")
    if ".examples." not in submodule.name and not submodule.name.endswith(apart):
        importlib.import_module(submodule.name)
for module in list(sys.modules.values()):
    if module.__name__.partition(".")[0] == "mlir_smem":
        print(module.__file__)
"""


class Failed(Exception):
    """What the wheel does not do."""


def main() -> int:
    """Build and try the wheel; return 1 and say what failed if something did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="copy the sdist and the wheel to this folder")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            wheel = build_wheel(folder / "dist")
            check_contents(wheel)
            environment = install(wheel, folder / "venv")
            check_imports(environment, folder)
            check_sessions(environment, folder)
            commands = check_readme(environment, folder)
        except Failed as error:
            print(f"try_wheel: error: {error}", file=sys.stderr)
            return 1
        if options.keep:
            shutil.copytree(folder / "dist", options.keep, dirs_exist_ok=True)
    seconds = time.monotonic() - start
    print(f"{wheel.name}: {len(SESSIONS)} pages and {commands} commands, {seconds:.0f} s")
    return 0


def build_wheel(folder: Path) -> Path:
    """Build the sdist, and from it the wheel; return the path of the wheel."""
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT], cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Check that the wheel has the examples, the marker of types and a page without dead links."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        page = archive.read(metadata).decode().partition("\n\n")[2]
    tracked = output(["git", "ls-files", "examples"], cwd=ROOT).split()
    missing = {"mlir_smem/py.typed", *(f"mlir_smem/{file}" for file in tracked)} - names
    if missing:
        raise Failed(f"the wheel lacks {', '.join(sorted(missing))}")
    dead = re.findall(r"\]\((?!https?:|#)[^)]*\)", page)
    if dead:
        raise Failed(f"the package's page has links to files: {', '.join(dead)}")


def install(wheel: Path, folder: Path) -> dict[str, str]:
    """Install the wheel in a new virtual environment; return the variables of its commands."""
    run([sys.executable, "-m", "venv", folder], cwd=ROOT)
    run([folder / "bin" / "pip", "install", "--quiet", wheel], cwd=folder)
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MLIR_SMEM"))}
    return variables | {"PATH": f"{folder / 'bin'}{os.pathsep}{variables['PATH']}"}


def check_imports(environment: dict[str, str], folder: Path) -> None:
    """Check that every module can be imported, and comes from the environment."""
    site = f"{folder / 'venv'}{os.sep}"
    files = output(["python", "-c", _IMPORTS], cwd=folder, env=environment).split("\n")
    elsewhere = [file for file in files if file and file != "None" and not file.startswith(site)]
    if elsewhere:
        raise Failed(f"modules come from elsewhere: {', '.join(elsewhere)}")


def check_sessions(environment: dict[str, str], folder: Path) -> None:
    """Check that the commands of the pages print what the pages show."""
    shutil.copyfile(ROOT / "docs" / "sessions.py", folder / "sessions.py")
    for page in SESSIONS:
        copy = folder / Path(page).name
        shutil.copyfile(ROOT / page, copy)
        run(["python", "sessions.py", copy], cwd=folder, env=environment)
        before, after = (ROOT / page).read_text().split("\n"), copy.read_text().split("\n")
        different = [f"{a!r} is {b!r}" for a, b in zip(before, after, strict=False) if a != b]
        if before != after:
            raise Failed(f"{page}: {(different or ['a line more or less'])[0]}")


def check_readme(environment: dict[str, str], folder: Path) -> int:
    """Run the README's commands of this package that need no other files; return their number."""
    run(["python", "-m", "mlir_smem.examples", "examples"], cwd=folder, env=environment)
    lines = (
        "".join(_SHELL.findall((ROOT / "README.md").read_text())).replace("\\\n", "").split("\n")
    )
    commands = [line for line in lines if line.startswith("smem-") and ".npy" not in line]
    for command in commands:
        run(["bash", "-c", command], cwd=folder, env=environment)
    if not any("examples/mma.mlir" in command for command in commands):
        raise Failed("README.md: the first screen has no commands")
    return len(commands)


def run(command: list, **options) -> None:
    """Run a command; its output is shown only if it fails."""
    output(command, **options)


def output(command: list, **options) -> str:
    """Return the standard output of a command.

    Raises:
        Failed: with its output, if it fails.
    """
    words = [os.fspath(word) for word in command]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if ran.returncode:
        raise Failed(f"{' '.join(words)[:200]}:\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
