"""The commands as processes: exit codes, closed or full streams, and no tracebacks."""

import os
import signal
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from bindings_at_hand import IMPORTS_CUDA
from programs import WRONG, module

COMMANDS = {
    script.name: f"from {script.module} import {script.attr}; {script.attr}()"
    for script in distribution("mlir-smem").entry_points.select(group="console_scripts")
}
EXAMPLE = Path(__file__).parents[2] / "examples" / "matmul.mlir"


def start(command, *arguments, **streams):
    """Start a command as a process."""
    environment = {**os.environ, **streams.pop("env", {})}
    # Python buffers its output and writes it at exit.
    environment.pop("PYTHONUNBUFFERED", None)
    return subprocess.run(
        [sys.executable, "-c", COMMANDS[command], *map(str, arguments)],
        check=False,
        env=environment,
        **{"capture_output": True, "timeout": 60, **streams},
    )


def stderr_of(process):
    """Return the standard error of a process; assert that it has no traceback."""
    stderr = process.stderr.decode()
    assert "Traceback" not in stderr, stderr
    assert "Exception ignored" not in stderr, stderr
    return stderr


def error_line(process):
    """Return the only message of a failed process."""
    stderr = stderr_of(process)
    assert process.returncode == 1, stderr
    assert stderr.count("\n") == 1, stderr
    return stderr


#: A background process of a shell ignores Ctrl-C, and so do its children.
LISTENING = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_ctrl_c_is_one_line(tmp_path, command):
    pipe = tmp_path / "endless.mlir"
    os.mkfifo(pipe)
    arguments = [pipe, "--out", "D=d.npy"] if command == "smem-run" else [pipe]
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING + COMMANDS[command], *map(str, arguments)],
        stderr=subprocess.PIPE,
    )
    # open() blocks until the command opens the pipe; then the command waits for data.
    with open(pipe, "wb"):
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr.decode()) == (130, f"{command}: interrupted\n")


#: A Ctrl-C during the import of an extension module, which raises another error.
SWALLOWED = """
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except KeyboardInterrupt:
        raise ImportError("lost") from None
"""


@pytest.mark.parametrize(
    "where, how",
    [
        ("entry.import_module", SWALLOWED),
        ("argparse.ArgumentParser.parse_known_args", "    raise KeyboardInterrupt"),
    ],
    ids=["import", "options"],
)
def test_ctrl_c_while_a_command_starts(where, how):
    script = (
        "import argparse, os, signal, time\nfrom mlir_smem.tools import entry\n"
        f"def interrupt(*_):\n{how}\n{where} = interrupt\nentry.smem_opt()"
    )
    process = subprocess.run(
        [sys.executable, "-c", LISTENING + script],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert (process.returncode, process.stderr.decode()) == (130, "smem-opt: interrupted\n")


def test_no_room_for_temporary_files_is_one_line():
    nowhere = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nowhere']\n"
    process = subprocess.run(
        [sys.executable, "-c", nowhere + COMMANDS["smem-compile"], EXAMPLE],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert error_line(process) == (
        "smem-compile: error: no temporary file can be written: No usable temporary directory found in "
        "['/nowhere']; TMPDIR can name another folder\n"
    )


def test_the_commands_are_installed():
    assert {"smem-opt", "smem-compile", "smem-run"} <= set(COMMANDS)


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_help(command):
    process = start(command, "--help")
    assert (process.returncode, process.stderr) == (0, b"")
    assert process.stdout.startswith(f"usage: {command}".encode())


def test_smem_opt():
    process = start("smem-opt", "--smem-to-nvvm", "-", input=EXAMPLE.read_bytes())
    assert (process.returncode, process.stderr) == (0, b"")
    assert b"nvvm.wgmma" in process.stdout


def test_smem_opt_loads_only_what_passes_need():
    listing = (
        "import atexit, sys; "
        "atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr)); "
    )
    process = subprocess.run(
        [sys.executable, "-c", listing + COMMANDS["smem-opt"], "--smem-to-nvvm", EXAMPLE],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = set(process.stderr.split())
    assert "mlir_smem.passes" in loaded
    unneeded = {"codegen", "emulator", "runtime"}
    assert loaded.isdisjoint({"llvmlite", *(f"mlir_smem.{folder}" for folder in unneeded)})


def test_smem_compile(tmp_path):
    process = start("smem-compile", EXAMPLE, "-o", tmp_path / "matmul.cubin")
    assert process.returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["matmul.cubin", "matmul.json"]
    assert "no spills" in stderr_of(process)


@pytest.mark.skipif(IMPORTS_CUDA, reason="the bindings cannot be imported without CUDA's packages")
def test_smem_run_without_cuda(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((256, 256), np.float32))
    # cuda-core is hidden, in case it is installed.
    hidden = "import sys; sys.modules['cuda'] = None; "
    arrays = ["--in", "A=x.npy", "--in", "B=x.npy", "--out", "C=c.npy"]
    process = subprocess.run(
        [sys.executable, "-c", hidden + COMMANDS["smem-run"], str(EXAMPLE), *arrays],
        check=False,
        capture_output=True,
        cwd=tmp_path,
    )
    assert error_line(process) == (
        "smem-run: error: running on a GPU needs cuda-core; install mlir-smem with its extra 'gpu'\n"
    )
    assert not (tmp_path / "c.npy").exists()


# Errors.


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile"])
def test_a_file_that_is_not_there(command):
    message = f"{command}: error: nowhere.mlir: No such file or directory\n"
    assert error_line(start(command, "nowhere.mlir")) == message


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_a_wrong_module(command):
    arguments = {"smem-opt": [], "smem-compile": ["-o", "-"], "smem-run": ["--out", "D=d.npy"]}
    process = start(command, "-", *arguments[command], input=WRONG.encode())
    assert (process.returncode, process.stdout) == (1, b"")
    assert stderr_of(process).startswith("<stdin>:5:5: error: 'smem.copy' op copies")


def test_debug_shows_where_an_error_comes_from():
    process = start("smem-opt", "nowhere.mlir", "--debug")
    assert process.returncode == 1
    assert b"Traceback" in process.stderr
    assert b"InputError: nowhere.mlir: No such file or directory" in process.stderr


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile"])
def test_binary_standard_input(command):
    process = start(command, "-", "-o", "-", input=b"module {}\xff", env={"PYTHONUTF8": "1"})
    assert "is not text" in error_line(process)


def test_missing_bindings():
    process = start("smem-opt", input=b"", env={"MLIR_SMEM_BINDINGS": "nowhere"})
    assert error_line(process) == (
        "smem-opt: error: MLIR_SMEM_BINDINGS names the package 'nowhere', which is not installed\n"
    )


def test_an_internal_error_is_one_message():
    fault = "from mlir_smem.tools import smem_opt; smem_opt.module_entries = None; "
    process = subprocess.run(
        [sys.executable, "-c", fault + COMMANDS["smem-opt"], "--pass-pipeline=cse"],
        check=False,
        capture_output=True,
        input=b"",
    )
    assert "--debug" in error_line(process)


# Streams.


def closed_pipe():
    """Return the write end of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize(
    "arguments",
    [
        ["-"],
        ["--show-dialects"],
    ],
)
def test_a_closed_pipe(arguments):
    writer = closed_pipe()
    try:
        process = start(
            "smem-opt",
            *arguments,
            input=module().encode(),
            capture_output=False,
            stdout=writer,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(writer)
    assert (process.returncode, stderr_of(process)) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["-"], ["--show-dialects"]])
def test_full_standard_output(arguments):
    with open("/dev/full", "wb") as full:
        process = start(
            "smem-opt",
            *arguments,
            input=module().encode(),
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert "No space left on device" in error_line(process)
