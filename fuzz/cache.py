"""The cache of compiled kernels, with damaged files and concurrent writers.

An input is a list of actions, a line of JSON each: `["compile", I]`, `["kept", I]`, `["tuned", TEXT]`,
`["damage", I, HOW, WITH]`, `["folder", HOW]`, `["together", PROCESSES, ACTIONS]`.
"""

import json
import os
import shutil
import threading
import warnings
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from mlir_smem.codegen import Compiled, Report
from mlir_smem.kernels.gemm.call import tuning_cache
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.runtime import cache, cached_compile, is_cached
from mlir_smem.runtime.tuning.cache import entry_path

from .frame import Fuzzer, Wrong, failure_of, main

_TEXTS = ("a", "b", "", "é\0", "long " * 1000)

_TASK = tuning_cache.Task("GPU", Problem(), 1, 2, 3, (Config(), Config(stages=3)))


def _compile(text: str, arch: str = "sm_90a", **options: Any) -> Compiled:
    """A fast stand-in for the compiler, with a different kernel for each text."""
    digest = sha256(text.encode()).digest()
    manifest = {"kernels": [{"entry": digest.hex()}]}
    return Compiled(manifest, cubin=digest * 40, report=Report(len(text), 0, ("a warning",)))


# -- drawing ---------------------------------------------------------------------------------------

#: Contents of a file whose checksum is right.
_ENTRIES = (
    "{}", "[]", "null", "1", '"a"', "", "{", "\xff", '{"manifest": {}}', "[" * 100000, "1" * 5000, "NaN",
    '{"manifest": {}, "report": {}, "cubin": ""}', '{"manifest": 1, "report": null, "cubin": 2}',
    '{"manifest": {}, "report": {"registers": 1, "spill_bytes": 0, "warnings": []}, "cubin": "%%%"}',
    '{"manifest": {}, "report": {"registers": "x", "spill_bytes": [], "warnings": 3}, "cubin": "QQ=="}',
    '{"manifest": {}, "report": {"registers": 1, "spill_bytes": 0, "warnings": []}, "cubin": 7}',
    '{"manifest": {}, "report": {"registers": 1, "spill_bytes": 0, "warnings": []}, "cubin": "\u00e9"}',
)  # fmt: skip

_TUNED = (
    "{}", "", "null", "[" * 100000, '{"task": {}}', '{"task": TASK}', '{"task": TASK, "fastest": 1}',
    '{"task": TASK, "fastest": null}', '{"task": [], "fastest": []}', "1" * 5000, "\xff",
)  # fmt: skip


def draw(random: Random) -> str:
    """Draw actions."""
    actions = [_action(random) for _ in range(random.randrange(3, 12))]
    return "".join(f"{json.dumps(action)}\n" for action in actions)


def _action(random: Random, nested: bool = False) -> list[Any]:
    number = random.randrange(len(_TEXTS))
    chance = random.random()
    if chance < 0.4:
        return ["compile", number]
    if chance < 0.5:
        return ["kept", number]
    if chance < 0.55:
        return ["tuned", random.choice(_TUNED)]
    if chance < 0.85 or nested:
        how = random.choice(
            ("cut", "flip", "entry", "entry", "add", "other", "folder", "link", "out")
        )
        with_ = random.choice(_ENTRIES) if how == "entry" else random.randrange(4000)
        return ["damage", number, how, with_]
    if chance < 0.93:
        return ["folder", random.choice(("out", "file", "link", "clutter"))]
    actions = [_action(random, True) for _ in range(random.randrange(2, 6))]
    return ["together", random.randrange(2, 5), actions]


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Execute the actions.

    Raises:
        Wrong: if the cache returns a kernel other than the compiled one.
    """
    cache.compile = _compile  # type: ignore[assignment]
    folder = Path("kept").absolute()
    _clear(folder)
    os.environ["MLIR_SMEM_CACHE"] = str(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in text.splitlines():
            _execute(folder, json.loads(line))
    drafts = [file.name for file in folder.glob("*.draft")] if folder.is_dir() else []
    if drafts:
        raise Wrong("leaves files", "cached_compile", ", ".join(drafts))


def _execute(folder: Path, action: list[Any]) -> None:
    name, *rest = action
    if name == "compile":
        _check_compiled(rest[0])
    elif name == "kept":
        is_cached(_TEXTS[rest[0]])
    elif name == "tuned":
        _check_tuned(*rest)
    elif name == "damage":
        _damage(folder, *rest)
    elif name == "folder":
        _change_folder(folder, *rest)
    else:
        _together(folder, *rest)


def _check_compiled(number: int) -> None:
    compiled, expected = cached_compile(_TEXTS[number]), _compile(_TEXTS[number])
    if (compiled.manifest, compiled.cubin, compiled.report) != (
        expected.manifest,
        expected.cubin,
        expected.report,
    ):
        raise Wrong("different kernel", "cached_compile", repr(compiled)[:200])


def _check_tuned(text: str) -> None:
    path = entry_path(_TASK.key())
    if path is None or not path.parent.is_dir():
        return
    content = text.replace("TASK", json.dumps(_TASK.key()))
    path.write_bytes(content.encode("latin-1"))
    if tuning_cache.read_tuned(_TASK) is not None:
        raise Wrong("configuration from an invalid file", "read_tuned", text)


def _damage(folder: Path, number: int, how: str, argument: Any) -> None:
    """Change the file of a kernel, if it exists; other processes may do so at the same time."""
    path = folder / f"{cache._key(_TEXTS[number], 'sm_90a', {})}.kernel"
    try:
        data = path.read_bytes()
        if how == "cut":
            path.write_bytes(data[:argument])
        elif how == "flip":
            position = argument % len(data)
            path.write_bytes(
                data[:position] + bytes([data[position] ^ 1 << argument % 8]) + data[position + 1 :]
            )
        elif how == "add":
            path.write_bytes(data + bytes([argument % 256]))
        elif how == "entry":
            content = argument.encode("latin-1")
            path.write_bytes(sha256(content).digest() + content)
        elif how == "other":
            others = sorted(folder.glob("*.kernel"))
            path.write_bytes(others[argument % len(others)].read_bytes())
        else:
            path.unlink()
            if how == "folder":
                path.mkdir()
            elif how == "link":
                path.symlink_to((path, folder, "/dev/null", "/proc/self/mem")[argument % 4])
    except (OSError, IndexError, ZeroDivisionError):
        # The file does not exist, or no longer.
        return


def _change_folder(folder: Path, how: str) -> None:
    if how == "clutter":
        for name in ("x.kernel", "y.draft.kernel", "z"):
            if folder.is_dir():
                (folder / name).write_bytes(b"clutter")
        return
    _clear(folder)
    if how == "file":
        folder.write_bytes(b"")
    elif how == "link":
        folder.symlink_to("nowhere")


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def _together(folder: Path, processes: int, actions: list[list[Any]]) -> None:
    """Execute the actions in several processes of two threads each, at the same time."""
    children = []
    for first in range(processes):
        pid = os.fork()
        if not pid:
            os._exit(_code(folder, actions[first % len(actions) :] + actions))
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    if any(codes):
        raise Wrong(*json.loads(Path("failure").read_text()))


def _code(folder: Path, actions: list[list[Any]]) -> int:
    """Execute actions in two threads; return 1 if one failed."""
    failed: list[BaseException] = []

    def execute() -> None:
        try:
            for action in actions:
                _execute(folder, action)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=execute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        failure = failure_of(failed[0])
        Path("failure").write_text(json.dumps([failure.kind, failure.where, failure.message]))
    return 1 if failed else 0


FUZZER = Fuzzer("cache", draw, check, suffix=".json", lifetime=5000)

if __name__ == "__main__":
    main(FUZZER)
