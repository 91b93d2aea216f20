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


def quiet(ran):
    """Return the standard error of a process; assert that it has no traceback."""
    stderr = ran.stderr.decode()
    assert "Traceback" not in stderr, stderr
    assert "Exception ignored" not in stderr, stderr
    return stderr


def failed(ran):
    """Return the only message of a failed process."""
    stderr = quiet(ran)
    assert ran.returncode == 1, stderr
    assert stderr.count("\n") == 1, stderr
    return stderr


#: A background process of a shell ignores Ctrl-C, and so do its children.
LISTENING = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_ctrl_c_is_one_line(tmp_path, command):
    pipe = tmp_path / "endless.mlir"
    os.mkfifo(pipe)
    arguments = [pipe, "--out", "D=d.npy"] if command == "smem-run" else [pipe]
    ran = subprocess.Popen(
        [sys.executable, "-c", LISTENING + COMMANDS[command], *map(str, arguments)],
        stderr=subprocess.PIPE,
    )
    # open() blocks until the command opens the pipe; then the command waits for data.
    with open(pipe, "wb"):
        ran.send_signal(signal.SIGINT)
        _, stderr = ran.communicate(timeout=60)
    assert (ran.returncode, stderr.decode()) == (130, f"{command}: interrupted\n")


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
    ran = subprocess.run(
        [sys.executable, "-c", LISTENING + script],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr.decode()) == (130, "smem-opt: interrupted\n")


def test_no_room_for_temporary_files_is_one_line():
    nowhere = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nowhere']\n"
    ran = subprocess.run(
        [sys.executable, "-c", nowhere + COMMANDS["smem-compile"], EXAMPLE],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert failed(ran) == (
        "smem-compile: error: no temporary file can be written: No usable temporary directory found in "
        "['/nowhere']; TMPDIR can name another folder\n"
    )


def test_the_commands_are_installed():
    assert {"smem-opt", "smem-compile", "smem-run"} <= set(COMMANDS)


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_help(command):
    ran = start(command, "--help")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(f"usage: {command}".encode())


def test_smem_opt():
    ran = start("smem-opt", "--smem-to-nvvm", "-", input=EXAMPLE.read_bytes())
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"nvvm.wgmma" in ran.stdout


def test_smem_opt_loads_only_what_passes_need():
    listing = (
        "import atexit, sys; "
        "atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr)); "
    )
    ran = subprocess.run(
        [sys.executable, "-c", listing + COMMANDS["smem-opt"], "--smem-to-nvvm", EXAMPLE],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = set(ran.stderr.split())
    assert "mlir_smem.passes" in loaded
    unneeded = {"codegen", "emulator", "runtime"}
    assert loaded.isdisjoint({"llvmlite", *(f"mlir_smem.{folder}" for folder in unneeded)})


def test_smem_compile(tmp_path):
    ran = start("smem-compile", EXAMPLE, "-o", tmp_path / "matmul.cubin")
    assert ran.returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["matmul.cubin", "matmul.json"]
    assert "no spills" in quiet(ran)


@pytest.mark.skipif(IMPORTS_CUDA, reason="the bindings cannot be imported without CUDA's packages")
def test_smem_run_without_cuda(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((256, 256), np.float32))
    # cuda-core is hidden, in case it is installed.
    hidden = "import sys; sys.modules['cuda'] = None; "
    arrays = ["--in", "A=x.npy", "--in", "B=x.npy", "--out", "C=c.npy"]
    ran = subprocess.run(
        [sys.executable, "-c", hidden + COMMANDS["smem-run"], str(EXAMPLE), *arrays],
        check=False,
        capture_output=True,
        cwd=tmp_path,
    )
    assert failed(ran) == (
        "smem-run: error: running on a GPU needs cuda-core; install mlir-smem with its extra 'gpu'\n"
    )
    assert not (tmp_path / "c.npy").exists()


# Errors.


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile"])
def test_a_file_that_is_not_there(command):
    message = f"{command}: error: nowhere.mlir: No such file or directory\n"
    assert failed(start(command, "nowhere.mlir")) == message


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile", "smem-run"])
def test_a_wrong_module(command):
    arguments = {"smem-opt": [], "smem-compile": ["-o", "-"], "smem-run": ["--out", "D=d.npy"]}
    ran = start(command, "-", *arguments[command], input=WRONG.encode())
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert quiet(ran).startswith("<stdin>:5:5: error: 'smem.copy' op copies")


def test_debug_shows_where_an_error_comes_from():
    ran = start("smem-opt", "nowhere.mlir", "--debug")
    assert ran.returncode == 1
    assert b"Traceback" in ran.stderr
    assert b"InputError: nowhere.mlir: No such file or directory" in ran.stderr


@pytest.mark.parametrize("command", ["smem-opt", "smem-compile"])
def test_binary_standard_input(command):
    ran = start(command, "-", "-o", "-", input=b"module {}\xff", env={"PYTHONUTF8": "1"})
    assert "is not text" in failed(ran)


def test_missing_bindings():
    ran = start("smem-opt", input=b"", env={"MLIR_SMEM_BINDINGS": "nowhere"})
    assert failed(ran) == (
        "smem-opt: error: MLIR_SMEM_BINDINGS names the package 'nowhere', which is not installed\n"
    )


def test_an_internal_error_is_one_message():
    fault = "from mlir_smem.tools import smem_opt; smem_opt.module_entries = None; "
    ran = subprocess.run(
        [sys.executable, "-c", fault + COMMANDS["smem-opt"], "--pass-pipeline=cse"],
        check=False,
        capture_output=True,
        input=b"",
    )
    assert "--debug" in failed(ran)


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
        ran = start(
            "smem-opt",
            *arguments,
            input=module().encode(),
            capture_output=False,
            stdout=writer,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(writer)
    assert (ran.returncode, quiet(ran)) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["-"], ["--show-dialects"]])
def test_full_standard_output(arguments):
    with open("/dev/full", "wb") as full:
        ran = start(
            "smem-opt",
            *arguments,
            input=module().encode(),
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert "No space left on device" in failed(ran)
