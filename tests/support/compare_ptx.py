"""Compare the code that this tree compiles with that of another revision.

    python tests/support/compare_ptx.py 18f0b51

For refactorings, which must not change code. The cases are run in both trees, each with its own package
and its own inputs:

* every example for every architecture, to PTX;
* the GEMM of several problems and configurations, and attention of several problems, for every
  architecture, to PTX;
* the kernels of `examples/*.py` for sm_90a, whose synchronization is inserted, to PTX;
* every `smem-opt` command that a file of `lit_tests/` runs on itself.

It prints a unified diff of each case that differs, messages included. The exit status is 1 if a case
differs, or exists in one tree only.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHS = ("sm_90a", "sm_100a", "sm_103a")

#: Element types of A, B and C, and majors of A and B.
PROBLEMS = (
    ("f16", "f16", "f16", "k", "n"),
    ("bf16", "bf16", "bf16", "m", "k"),
    ("f32", "f32", "f32", "k", "k"),
    ("f8E4M3FN", "f8E5M2", "bf16", "k", "k"),
    ("i8", "i8", "i32", "k", "k"),
)
CONFIGS = (
    {},
    {"tile": (256, 128, 64), "cluster": (2, 1)},
    {"tile": (128, 128, 64), "consumers": 1, "stages": 3},
    {"tile": (192, 128, 32), "consumers": 3, "cluster": (1, 2), "store_columns": 64},
    {"tile": (128, 128, 32), "stages": 3, "store_columns": 32},
)

#: Attention, by what its problems have that others have not.
ATTENTION = (
    {},
    {"dim": 64, "right": True, "lse": True},
    {"dim": 256, "left": True, "right": True},
    {"dim": 64, "right": True, "lse": True, "split": True, "heads": 6},
)

#: The kernels of `examples/*.py`, with their elements.
TRACED = {
    "matmul": ("bf16", "bf16", "bf16"),
    "gemm": ("bf16", "bf16", "bf16"),
    "attention": ("f16", "f16", "f16", "f32", "f32", "f32"),
}


def modules(tree: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each module that is compiled to PTX."""
    for path in sorted((tree / "examples").glob("*.mlir")):
        yield path.name, path.read_text()
    try:
        from mlir_smem.kernels.gemm import Config, ConfigError, Problem
        from mlir_smem.kernels.gemm.generator.kernel import text
    except ImportError:  # before mlir_smem.kernels existed
        from mlir_smem.examples.gemm import Config, ConfigError, Problem
        from mlir_smem.examples.gemm.kernel import text
    for a, b, c, a_major, b_major in PROBLEMS:
        problem = Problem(a, b, c, a_major=a_major, b_major=b_major)
        for options in CONFIGS:
            with suppress(ConfigError):
                yield f"gemm {problem} {options}", text(problem, Config(**options))
    yield from _attention()


def _attention() -> Iterator[tuple[str, str]]:
    from mlir_smem.kernels.attention import Problem
    from mlir_smem.kernels.attention.generator.config import default_config
    from mlir_smem.kernels.attention.generator.kernel import text

    for options in ATTENTION:
        problem = Problem(**options)
        yield f"attention {options}", text(problem, default_config(problem))


def commands(tree: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the arguments of each `smem-opt` command of a lit test on its own file."""
    paths = (p for p in (tree / "lit_tests").rglob("*.mlir") if "Output" not in p.parts)
    for path in sorted(paths):
        runs = re.findall(r"RUN: (?:%{refused} |not )?smem-opt (.*)", path.read_text())
        for i, run in enumerate(runs):
            words = shlex.split(re.split(r"\d?[|<>&]", run)[0])
            if "%s" in words and not any(word.startswith("-o") for word in words):
                arguments = [os.fspath(path) if word == "%s" else word for word in words]
                yield f"{path.relative_to(tree)} {i}", arguments


def emit(tree: Path, out: Path) -> None:
    """Write the code and the messages of all cases, by name, to a JSON file."""
    # An editable install would add its own folders where the tree has none.
    sys.meta_path[:] = [
        f for f in sys.meta_path if "__editable__" not in getattr(f, "__module__", "")
    ]
    outputs: dict[str, str] = {}
    for name, text in modules(tree):
        for arch in ARCHS:
            outputs[f"{name} {arch}"] = _compile(text, arch)
    for name, elements in TRACED.items():
        outputs[f"{name}.py"] = _compile_traced(tree, name, elements).replace(os.fspath(tree), "")
    for name, arguments in commands(tree):
        outputs[name] = _run_smem_opt(arguments).replace(os.fspath(tree), "")
    out.write_text(json.dumps(outputs))


def _compile(text: str, arch: str) -> str:
    """Return the PTX and the remarks of a module, or the error."""
    from mlir_smem import compile

    try:
        from mlir_smem.bindings import diagnostics
    except ImportError:  # a revision before that folder
        from mlir_smem.dialect import diagnostics

    remarks: list[str] = []
    with diagnostics.remark_handler(lambda _, message: remarks.append(message)):
        try:
            code = compile(text, arch=arch, emit="ptx").ptx
        except Exception as error:  # errors are compared, too
            code = f"{type(error).__name__}: {error}"
    return "\n".join([str(code), *remarks])


def _compile_traced(tree: Path, name: str, elements: tuple[str, ...]) -> str:
    """Return the PTX and the remarks of a kernel of a tree's `examples/*.py`."""
    spec = spec_from_file_location(name, tree / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    return "\n".join([kernel.ptx(*elements), *map(str, kernel.check(*elements))])


def _run_smem_opt(arguments: list[str]) -> str:
    """Return the outputs and the exit code of an `smem-opt` command."""
    from mlir_smem.tools.smem_opt import smem_opt

    # Bytecode is written to the buffer of standard output.
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            status = smem_opt(arguments)
        except (Exception, SystemExit) as error:
            status = f"{type(error).__name__}: {error}"
    outputs = [stream.buffer.getvalue().decode(errors="backslashreplace") for stream in streams]
    return "\n".join([*outputs, f"exit {status}"])


def _link_package(tree: Path, folder: Path) -> Path:
    """Make a folder for the import path that has only a tree's `mlir_smem`.

    Revisions without links in `mlir_smem/` list their folders in `pyproject.toml`.
    """
    package = folder / "mlir_smem"
    package.mkdir(parents=True)
    setuptools = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["setuptools"]
    for name, path in setuptools.get("package-dir", {}).items():
        if name not in ("mlir_smem", "mlir_smem.examples"):  # examples import what users import
            (package / name.removeprefix("mlir_smem.")).symlink_to(tree / path)
    for child in (tree / "mlir_smem").iterdir():
        (package / child.name).symlink_to(child)
    return folder


def code_of(tree: Path, work: Path) -> dict[str, str]:
    """Run `emit` with a tree's package; return what it writes."""
    out = work / "code.json"
    path = os.fspath(_link_package(tree, work / "path"))
    command = [sys.executable, __file__, "--emit", os.fspath(out), "--tree", os.fspath(tree)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": path}, cwd=work)
    return json.loads(out.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?", help="the git revision to compare with")
    parser.add_argument("--emit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--tree", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.emit:
        emit(arguments.tree, arguments.emit)
        return 0
    if not arguments.revision:
        parser.error("name a revision")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (old_work := work / "old").mkdir()
        (new_work := work / "new").mkdir()
        tree = old_work / "tree"
        git = ["git", "-C", os.fspath(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", tree, arguments.revision], check=True)
        try:
            old = code_of(tree, old_work)
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)
        new = code_of(ROOT, new_work)
    return report(old, new)


def report(old: dict[str, str], new: dict[str, str]) -> int:
    """Print the cases that differ; return 1 if any does, else 0."""
    differing = 0
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name):
            continue
        differing += 1
        lines = [outputs.get(name, "(no such case)\n").splitlines() for outputs in (old, new)]
        print(*difflib.unified_diff(*lines, f"old {name}", f"new {name}", lineterm=""), sep="\n")
    print(f"{len(old)} cases before, {len(new)} now, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
