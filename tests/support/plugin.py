"""libsmem.so, and mlir-opt with it, for tests; both need an installed LLVM 22."""

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMEM_OPT = Path(sys.executable).parent / "smem-opt"
MLIR_OPT = "mlir-opt-22"
LLVM_CONFIG = "llvm-config-22"


def missing() -> str | None:
    """Return why the plugin cannot be built and used here, or None if it can."""
    for program in (MLIR_OPT, LLVM_CONFIG, "make", "c++"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    process = subprocess.run(
        [LLVM_CONFIG, "--includedir"], capture_output=True, text=True, check=True
    )
    if not Path(process.stdout.strip(), "mlir/Tools/Plugins/PassPlugin.h").exists():
        return "the headers of MLIR are not installed (libmlir-22-dev)"
    return None


def make(build: Path, *variables: str) -> subprocess.CompletedProcess:
    """Run the makefile of the plugin."""
    command = ["make", "-s", "-j2", "-C", ROOT / "tools/plugin", f"BUILD={build}", *variables]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@cache
def build_library() -> Path:
    """Build the library, of which make rebuilds only what has changed, and return it.

    Skips the test if that is not possible here.
    """
    reason = missing()
    if reason:
        pytest.skip(reason)
    build = ROOT / "build/plugin"
    build.mkdir(parents=True, exist_ok=True)
    with open(build / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of pytest-xdist build it once
        process = make(build, f"SMEM_OPT={SMEM_OPT}")
    assert process.returncode == 0, process.stdout + process.stderr
    return build / "libsmem.so"


@dataclass
class Host:
    """mlir-opt with the plugin.

    Attributes:
        library: the plugin.
        environment: its environment variables.
        folder: where it runs.
    """

    library: Path
    environment: dict[str, str]
    folder: Path

    def command(self, *arguments: str | Path) -> list[str | Path]:
        """Return its command line."""
        plugin = (f"--load-dialect-plugin={self.library}", f"--load-pass-plugin={self.library}")
        return [MLIR_OPT, *plugin, *arguments]

    def start(self, *arguments: str | Path) -> subprocess.Popen:
        """Start it, with pipes for its output."""
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def run(self, *arguments: str | Path, text: str | bytes = "") -> tuple[int, str, str]:
        """Run it on a text; return (exit code, standard output, standard error)."""
        data = text.encode() if isinstance(text, str) else text
        done = subprocess.run(
            self.command(*arguments),
            input=data,
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=self.environment,
        )
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()


def host(folder: Path) -> Host:
    """Return mlir-opt with the plugin and this environment's smem-opt.

    Args:
        folder: where it runs and makes temporary files; short, for it holds a socket.
    """
    environment = os.environ | {"SMEM_OPT": str(SMEM_OPT), "TMPDIR": str(folder)}
    environment.pop("SMEM_OPT_SERVER", None)
    return Host(build_library(), environment, folder)


def servers(folder: Path) -> list[int]:
    """Return the processes that serve a socket in a folder."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if any(word.startswith(f"--server={folder}/".encode()) for word in words):
            pids.append(int(path.parent.name))
    return pids
