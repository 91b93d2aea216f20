"""`smem-opt --server`: commands in forks, and how a server begins and ends."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from plugin import SMEM_OPT
from programs import COMPLAINT, WRONG, module

from mlir_smem.tools import server
from mlir_smem.tools.server import ServerError, serve
from mlir_smem.tools.smem_opt import smem_opt


@pytest.fixture
def folder():
    """An empty folder with a short path, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="t-") as name:
        yield Path(name)


class Server:
    """A server at `socket`, as a process."""

    def __init__(self, path, **options):
        self.socket = path
        self.process = subprocess.Popen(
            [SMEM_OPT, f"--server={path}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        assert self.process.stdout.readline() == "listening\n"

    def run(self, *arguments, text="", **options):
        """Run a command by the client; return (exit code, standard output, standard error)."""
        client = [sys.executable, "-I", "-S", server.__file__, self.socket]
        done = subprocess.run(
            [*client, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )
        return done.returncode, done.stdout, done.stderr

    def end(self):
        """Close the standard input of the server, and return its exit code."""
        self.process.communicate(timeout=10)
        return self.process.returncode


@pytest.fixture
def running_server(folder):
    """A server; it must end, and remove its socket, when its standard input ends."""
    running = Server(folder / "s", start_new_session=True)
    yield running
    if running.process.poll() is None:
        assert running.end() == 0
        assert not running.socket.exists()


def children(pid):
    """The child processes of a process, and their states."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid:
            processes.append((int(path.parent.name), state))
    return processes


def wait_until(condition):
    """Wait for a condition, for ten seconds at most."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


# Commands.


def test_a_command_runs_as_without_a_server(running_server, run_command):
    assert running_server.run("smem-opt", "--smem-to-nvvm", text=module()) == run_command(
        smem_opt, "--smem-to-nvvm", text=module()
    )
    code, out, err = running_server.run("smem-opt", text=WRONG)
    assert (code, out) == (1, "")
    assert COMPLAINT in err
    assert running_server.run("smem-layout", "table")[0] == 0


def test_the_folder_and_the_environment_are_the_clients(running_server, folder):
    (folder / "in.mlir").write_text(module())
    assert running_server.run("smem-opt", "in.mlir", "-o", "out.mlir", cwd=folder) == (0, "", "")
    assert (folder / "out.mlir").exists()
    environment = os.environ | {"MLIR_SMEM_PTXAS": "/nowhere/ptxas"}
    _, _, err = running_server.run(
        "smem-compile", "in.mlir", "--emit=cubin", "-o", "-", cwd=folder, env=environment
    )
    assert "/nowhere/ptxas" in err


def test_many_at_once(running_server):
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(
                running_server.run("smem-opt", "--smem-to-nvvm", text=module())
            )
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert len(set(results)) == 1
    assert results[0][0] == 0
    wait_until(lambda: children(running_server.process.pid) == [])  # no zombies


def test_a_client_that_says_nothing(running_server):
    with socket.socket(socket.AF_UNIX) as mute:
        mute.connect(str(running_server.socket))
        assert running_server.run("smem-opt", text=module())[0] == 0
    wait_until(lambda: children(running_server.process.pid) == [])


def test_a_client_without_a_server_runs_the_command_itself(folder, monkeypatch):
    monkeypatch.setenv("PATH", f"{SMEM_OPT.parent}:{os.environ['PATH']}")
    client = [sys.executable, "-I", "-S", server.__file__, folder / "none", "smem-opt"]
    done = subprocess.run(client, input=module(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "smem.mma" in done.stdout


def test_the_socket_is_the_users_alone(running_server):
    assert running_server.socket.stat().st_mode & 0o777 == 0o600


# The end.


def test_a_server_ends_with_what_started_it(folder):
    script = (
        "import subprocess, sys\n"
        f"process = subprocess.Popen([{str(SMEM_OPT)!r}, '--server={folder}/s'], stdin=subprocess.PIPE, "
        "stdout=subprocess.PIPE)\n"
        "process.stdout.readline()\n"
        "print(process.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    host = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    pid = int(host.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    host.kill()
    host.communicate()
    wait_until(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not _cmdline(pid))
    assert not (folder / "s").exists()


def _cmdline(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signals(folder, number, code):
    running_server = Server(folder / "s")
    running_server.process.send_signal(number)
    assert running_server.process.wait(10) == code
    assert not running_server.socket.exists()
    running_server.process.communicate()


def test_an_idle_server_ends(folder, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # this process is the server
    begin = time.monotonic()
    serve(str(folder / "s"), idle=0.2)
    assert time.monotonic() - begin >= 0.2
    assert not (folder / "s").exists()


# The start.


def test_a_server_replaces_one_that_was_killed(folder):
    first = Server(folder / "s")
    first.process.kill()
    first.process.communicate()
    assert (folder / "s").exists()
    second = Server(folder / "s")
    assert second.run("smem-opt", text=module())[0] == 0
    assert second.end() == 0


def test_a_socket_that_is_taken(running_server, run_command):
    path = str(running_server.socket)
    assert run_command(smem_opt, f"--server={path}") == (
        1,
        "",
        f"smem-opt: error: {path}: another server listens there\n",
    )
    assert running_server.run("smem-opt", text=module())[0] == 0


@pytest.mark.parametrize(
    "name, message",
    [("none/s", "No such file or directory"), ("x" * 120, "AF_UNIX path too long")],
)
def test_a_path_that_takes_no_socket(folder, name, message):
    with pytest.raises(ServerError) as error:
        serve(str(folder / name))
    assert str(error.value) == f"{folder / name}: {message}"


def test_a_file_is_not_replaced(folder):
    path = folder / "file"
    path.write_text("text")
    with pytest.raises(ServerError, match="Address already in use"):
        serve(str(path))
    assert path.read_text() == "text"


@pytest.mark.parametrize("arguments", [("in.mlir",), ("--cse",), ("--pass-pipeline=cse",)])
def test_a_server_takes_no_input(run_command, arguments):
    assert run_command(smem_opt, "--server=s", *arguments) == (
        1,
        "",
        "smem-opt: error: --server takes no input and no passes; its clients give them\n",
    )
