"""Commands with invalid, missing or read-only files.

An input creates files and runs a command, as lines of JSON: `["bytes", NAME, TEXT]` (Latin-1),
`["npy", NAME, HEADER, VERSION, BYTES]`, `["folder", NAME]`, `["link", NAME, TO]`, `["mode", NAME, MODE]`,
`["run", COMMAND, ARGUMENT...]`.
"""

import io
import json
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

from mlir_smem.tools.smem_compile import smem_compile
from mlir_smem.tools.smem_opt import smem_opt
from mlir_smem.tools.smem_run import smem_run

from .frame import Fuzzer, Wrong, main
from .mutated.text import mutate_text

_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "smem-run": smem_run,
    "smem-compile": smem_compile,
    "smem-opt": smem_opt,
}

#: A kernel that adds 1 to each element, one thread for each; the extents are those of the arrays.
_MODULE = """\
gpu.module @kernels {
  gpu.func @more(%A: memref<?x8xTYPE> {smem.name = "A", smem.shape = ["M", 8]},
                 %D: memref<?x8xTYPE> {smem.name = "D", smem.shape = ["M", 8]},
                 %E: memref<?x8xTYPE> {smem.name = "E", smem.shape = ["M", 8]})
      kernel attributes {known_block_size = array<i32: 8, 1, 1>, smem.grid = [["M", 1]]} {
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %a = memref.load %A[%i, %j] : memref<?x8xTYPE>
    memref.store %a, %D[%i, %j] : memref<?x8xTYPE>
    memref.store %a, %E[%i, %j] : memref<?x8xTYPE>
    gpu.return
  }
}
"""

_TYPES = {
    "f32": "<f4", "f16": "<f2", "bf16": "<V2", "i32": "<i4", "i8": "|i1", "f8E4M3FN": "|V1",
    "f8E5M2": "|u1", "f8E8M0FNU": "|u1", "i1": "|b1", "f64": "<f8", "index": "<i8", "i64": "<i8",
}  # fmt: skip

#: Invalid values in the header of an array.
_SHAPES = (
    "(4, 8)", "(4, 8)", "(4, 8)", "(1, 8)", "(8, 4)", "(4, 8,)", "(32,)", "()", "(0, 8)", "(4, 0)",
    "(-1, 8)", "(4, 8, 1)", "(1 << 62, 8)", "(9223372036854775807, 8)", "(4611686018427387904, 8)",
    "(10000000000, 8)", "(99999999999999999999999, 8)", "(True, 8)", "(4.0, 8)", "[4, 8]", "4", "None",
    "(4, 8", "('4', 8)", "(4, 8), 'x': 1", "4L, 8L", "(4j, 8)", "(" * 300, "(4, 8)" * 9, "\\", "'",
)  # fmt: skip
_DESCRS = (
    "'<f4'", "'<f4'", "'<f8'", "'>f4'", "'|O'", "'<U4'", "'|S4'", "'<M8[s]'", "'<c8'", "'|b1'",
    "[('a', '<f4')]", "('<f4', (8,))", "'<f4', '<f4'", "'f'", "''", "'float32'", "None", "4", "'<f16'",
    "'<f400000'", "'|V0'", "'|V99999999999'", "[]", "[('a', '<f4', (1 << 40,))]", "'O,O'", "'é'",
)  # fmt: skip
_ORDERS = ("False", "False", "False", "True", "0", "None", "'F'", "Fals", "not 1")


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw files and a command."""
    type_ = random.choice([*_TYPES] if random.random() < 0.3 else ["f32", "bf16", "i8"])
    lines: list[list[Any]] = [["bytes", "k.mlir", _module(random, type_)], _array(random, type_)]
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        lines.append(_obstacle(random))
    lines.append(_command(random))
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _module(random: Random, type_: str) -> str:
    text = _MODULE.replace("TYPE", type_)
    chance = random.random()
    if chance < 0.2:
        text = mutate_text(random, text, 2)
    elif chance < 0.3:
        position = random.randrange(len(text))
        invalid = ("\0", "\xff", "\xc3\x28", "\r", "\x1a", "\ufeff", "\x80" * 9)
        text = text[:position] + random.choice(invalid) + text[position:]
    elif chance < 0.35:
        text = random.choice(("", "\n", "{", "//", text[: random.randrange(len(text))], text * 2))
    return text.encode("latin-1", "replace").decode("latin-1")


def _array(random: Random, type_: str) -> list[Any]:
    """Draw an array file that is valid or almost valid."""
    parts = {"descr": f"'{_TYPES[type_]}'", "fortran_order": "False", "shape": "(4, 8)"}
    invalid = {"descr": _DESCRS, "fortran_order": _ORDERS, "shape": _SHAPES}
    for name, values in invalid.items():
        if random.random() < 0.25:
            parts[name] = random.choice(values)
    if random.random() < 0.05:
        del parts[random.choice([*parts])]
    header = f"{{{''.join(f'{name!r}: {value}, ' for name, value in parts.items())}}}"
    if random.random() < 0.1:
        position = random.randrange(len(header))
        header = (
            header[:position]
            + random.choice(("", "'", "{", "\0", "é", "#", "lambda: 0"))
            + header[position + 1 :]
        )
    version = random.choice(([1, 0],) * 9 + ([2, 0], [3, 0], [4, 0], [0, 0], [255, 255]))
    if random.random() < 0.05:
        return [
            "bytes",
            "a.npy",
            random.choice(("", "\x93NUMPY", "PK\3\4", "\x93NUMPY\1\0\xff\xff", "\x80\4.")),
        ]
    return [
        "npy",
        "a.npy",
        header,
        version,
        random.choice((256, 256, 256, 128, 64, 32, 255, 0, 257)),
    ]


def _obstacle(random: Random) -> list[Any]:
    """Draw something that already exists at the path of an output or input."""
    name = random.choice(("d.npy", "e.npy", "k.json", "k.nvvm.mlir", "a.npy", "out", "k.mlir"))
    to = ("nowhere", "loop", "a.npy", "k.mlir", name, "d.npy", "/dev/null")
    modes = (0o600, 0o400, 0o644, 0o000, 0o755, 0o4755, 0o666)
    return random.choice(
        (
            ["folder", name],
            ["link", name, random.choice(to)],
            ["bytes", name, "was here"],
            ["mode", name, random.choice(modes)],
        )
    )


def _command(random: Random) -> list[str]:
    name = random.choices([*_COMMANDS], (6, 3, 1))[0]
    file = (
        "k.mlir"
        if random.random() < 0.95
        else random.choice(("none", "-", "a.npy", "", "\0", ".", "k" * 300))
    )
    if name == "smem-opt":
        return ["run", name, file, "-o", _output(random, "out")]
    if name == "smem-compile":
        words = [file, f"--emit={random.choices(('nvvm', 'llvm', 'ptx'), (9, 1, 1))[0]}"]
        if random.random() < 0.7:
            words += ["-o", _output(random, "k.nvvm.mlir")]
        return ["run", name, *words]
    words = [file, "--on", "cpu", "--in", f"A={'a.npy' if random.random() < 0.95 else 'none'}"]
    words += ["--out", f"D={_output(random, 'd.npy')}"]
    if random.random() < 0.9:
        words += ["--out", f"E={_output(random, 'e.npy')}"]
    if random.random() < 0.1:
        words += random.choice(
            (
                [
                    "--grid",
                    random.choice(("4", "0", "4,1,1,1", "-1", "9" * 30, "", "2147483648", "3")),
                ],
                ["--entry", random.choice(("more", "", "none", "é", "\0"))],
                [
                    "--in",
                    random.choice(("A", "=", "A=", "D=a.npy", "Z=a.npy", "A=a.npy", "E=d.npy")),
                ],
                ["--arch", random.choice(("sm_90", "sm_100a", "sm_80", "", "sm_90a\n"))],
            )
        )
    return ["run", name, *words]


def _output(random: Random, usual: str) -> str:
    if random.random() < 0.8:
        return usual
    return random.choice(
        (
            "-", "/dev/null", "/dev/full", "no/where", ".", "", "\0", "k.mlir", "a.npy", "d.npy", "e.npy",
            "x" * 300, "./d.npy", "a.npy/x", "k.json", "é\udcff.npy", "d", "/proc/self/mem", "d.npy/",
        )
    )  # fmt: skip


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Create the files, run the command, and check the files that it leaves.

    Raises:
        Wrong: if the command fails without a message, or leaves files that it must not.
    """
    folder = Path("files").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    home = Path.cwd()
    os.chdir(folder)
    os.umask(0o027)
    try:
        for line in text.splitlines():
            action, *rest = json.loads(line)
            if action == "run":
                _check_run(*rest)
            else:
                _ACTIONS[action](*rest)
    finally:
        os.chdir(home)


def _bytes(name: str, text: str) -> None:
    _write(name, text.encode("latin-1"))


def _npy(name: str, header: str, version: list[int], size: int) -> None:
    text = header.encode("utf-8", "surrogateescape").ljust(117) + b"\n"
    length = len(text).to_bytes(2 if version[0] < 2 else 4, "little")
    _write(
        name,
        b"\x93NUMPY"
        + bytes(version)
        + length
        + text
        + bytes(range(64)) * (size // 64)
        + b"x" * (size % 64),
    )


def _write(name: str, data: bytes) -> None:
    if not os.path.isdir(name) and not os.path.islink(name):
        Path(name).write_bytes(data)


def _link(name: str, to: str) -> None:
    if os.path.lexists(name):
        shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)
    os.symlink(to, name)


def _mode(name: str, mode: int) -> None:
    if os.path.isfile(name):
        os.chmod(name, mode)


def _new_folder(name: str) -> None:
    if os.path.lexists(name):
        if os.path.isdir(name) and not os.path.islink(name):
            return
        os.unlink(name)
    os.mkdir(name)


_ACTIONS: dict[str, Callable[..., None]] = {
    "bytes": _bytes,
    "npy": _npy,
    "link": _link,
    "mode": _mode,
    "folder": _new_folder,
}


def _check_run(name: str, *arguments: str) -> None:
    before = _state()
    code, errors = _run(name, [*arguments])
    if "internal error" in errors:
        _run(name, ["--debug", *arguments])
        raise Wrong("internal error", f"{name}, not with --debug", errors)
    if "Traceback" in errors or code not in (0, 1):
        raise Wrong(f"exit code {code}", name, errors)
    after = _state()
    temporary = [file for file in after if Path(file).name.startswith(".")]
    if temporary:
        raise Wrong("leaves files", name, ", ".join(temporary))
    changed = {file for file in before | after if before.get(file) != after.get(file)}
    if code:
        if "error: " not in errors:
            raise Wrong("failure without a message", name, errors)
        if changed:
            raise Wrong("fails and changes files", name, f"{sorted(changed)}: {errors}")
        return
    for file in changed:
        mode, expected = after[file][0], before.get(file, (0o640,))[0]
        if mode != expected:
            raise Wrong("different mode", name, f"{file}: {mode:o}; expected {expected:o}")
    for file in changed:
        # The manifest, unless the output has that name.
        if file.endswith(".json") and name == "smem-compile" and Path(file).name not in arguments:
            json.loads(Path(file).read_text())


def _run(name: str, arguments: list[str]) -> tuple[int, str]:
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    # Some failures redirect the output to /dev/null, which needs a file descriptor.
    out.fileno = lambda: os.open(os.devnull, os.O_WRONLY)  # type: ignore[method-assign]
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            code = _COMMANDS[name](arguments)
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        errors.flush()
    return code, errors.buffer.getvalue().decode()


def _state() -> dict[str, tuple[int, bytes]]:
    """The files of the current folder, with modes and contents."""
    files = {}
    for folder, _, names in os.walk("."):
        for name in names:
            file = os.path.join(folder, name)
            status = os.lstat(file)
            mode = stat.S_IMODE(status.st_mode)
            link = stat.S_ISLNK(status.st_mode)
            files[file] = (mode, os.readlink(file).encode() if link else Path(file).read_bytes())
    return files


FUZZER = Fuzzer("files", draw, check, suffix=".json", lifetime=5000)

if __name__ == "__main__":
    main(FUZZER)
