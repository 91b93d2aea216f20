"""The server that the plugin starts for the passes of a tool: its life, and the tool without it."""

import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from plugin import SMEM_OPT, servers
from programs import module

from mlir_smem.passes.driver.base import pass_named

EXAMPLE = Path(__file__).parents[2] / "examples/matmul.mlir"

#: The lowering as several passes.
PASSES = ",".join(pass_.name for pass_ in pass_named("smem-to-nvvm")().passes())
PIPELINE = f"--pass-pipeline=builtin.module({PASSES})"


def log(host):
    """Let smem-opt write its first argument to a file; return a function that reads these."""
    path, script = host.folder / "log", host.folder / "smem-opt"
    script.write_text(f'#!/bin/sh\necho "${{1%%=*}}" >> {path}\nexec {SMEM_OPT} "$@"\n')
    script.chmod(0o755)
    host.environment["SMEM_OPT"] = str(script)

    def read():
        words = path.read_text().split() if path.exists() else []
        for file in (path, script):
            file.unlink(missing_ok=True)
        return words

    return read


@pytest.fixture
def expected_run(host):
    """The lowered module."""
    return host.run("--smem-to-nvvm", text=module())


def test_all_passes_use_one_server(host, expected_run):
    read_log = log(host)
    assert host.run(PIPELINE, text=module()) == expected_run
    assert read_log() == ["--server"]


def test_children_instead_of_a_server(host, expected_run):
    read_log = log(host)
    host.environment["SMEM_OPT_SERVER"] = ""
    assert host.run(PIPELINE, text=module()) == expected_run
    runs = read_log()
    assert len(runs) == len(PASSES.split(","))
    assert "--server" not in runs


def test_a_server_that_does_not_start(host, expected_run):
    """It is tried once; then each pass is a child."""
    script = host.folder / "smem-opt"
    script.write_text(f'#!/bin/sh\ncase "$1" in --server=*) exit 1;; esac\nexec {SMEM_OPT} "$@"\n')
    script.chmod(0o755)
    host.environment["SMEM_OPT"] = str(script)
    assert host.run(PIPELINE, text=module()) == expected_run
    script.unlink()


def test_a_folder_that_is_too_long_for_a_socket(host, expected_run):
    deep = host.folder / ("x" * 120)
    deep.mkdir()
    host.environment["TMPDIR"] = str(deep)
    assert host.run(PIPELINE, text=module()) == expected_run
    deep.rmdir()  # it is empty


def test_a_server_of_the_user_serves_several_tools(host, expected_run):
    path = host.folder / "s"
    server = subprocess.Popen(
        [SMEM_OPT, f"--server={path}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout.readline() == "listening\n"
    read_log = log(host)
    host.environment["SMEM_OPT_SERVER"] = str(path)
    try:
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(host.run, PIPELINE, text=module()) for _ in range(3)]
            assert [future.result() for future in futures] == [expected_run] * 3
    finally:
        server.communicate()
    assert read_log() == []


def test_a_server_of_the_user_that_is_gone(host, expected_run):
    host.environment["SMEM_OPT_SERVER"] = str(host.folder / "none")
    assert host.run("--smem-to-nvvm", text=module()) == expected_run


def test_tools_at_the_same_time_have_a_server_each(host, expected_run):
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(host.run, PIPELINE, text=module()) for _ in range(3)]
        assert [future.result() for future in futures] == [expected_run] * 3


def test_nested_modules_are_lowered_concurrently(host):
    """mlir-opt runs a pass on several modules in threads of its own."""
    text = "".join(f"module {{ {module()} }}\n" for _ in range(4))
    read_log = log(host)
    code, out, err = host.run(
        f"--pass-pipeline=builtin.module(builtin.module({PASSES}))", text=text
    )
    assert (code, err) == (0, "")
    assert out.count("gpu.module @kernels") == 4
    assert "smem.mma" not in out
    assert read_log() == ["--server"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_server_ends_with_a_tool_that_is_killed(host, number):
    tool = host.start(PIPELINE, EXAMPLE)
    wait_until(lambda: servers(host.folder))
    tool.send_signal(number)
    tool.communicate()
    assert tool.returncode == -number
    wait_until(lambda: not servers(host.folder))
    for folder in host.folder.iterdir():
        shutil.rmtree(folder)


def wait_until(condition):
    """Wait for a condition, for twenty seconds at most."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
