"""The lit suite: `lit -sv lit_tests`, in the environment in which the package is installed.

The tests run $FILECHECK, else LLVM's FileCheck, else the `filecheck` of PyPI. They use only features that
all of these have: no numeric expressions, no `--implicit-check-not`.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lit.formats

here = Path(__file__).parent
environment = config.environment

#: The commands that lit runs.
_COMMANDS = ("smem-opt", "smem-compile", "smem-layout")

config.name = "mlir-smem"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = str(here)
config.test_exec_root = str(here / "Output")
config.excludes = ["Output"]

# The commands of this environment come first, even if it is not activated.
environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
for name in ("MLIR_SMEM_BINDINGS", "MLIR_SMEM_LIBDEVICE", "MLIR_SMEM_PTXAS", "PYTHONPATH"):
    if name in os.environ:
        environment[name] = os.environ[name]


def file_check() -> str:
    """Return the program that compares output with the CHECK lines."""
    if "FILECHECK" in os.environ:
        return os.environ["FILECHECK"]
    for program in ("FileCheck", "filecheck"):
        found = shutil.which(program, path=environment["PATH"])
        if found:
            return found
    lit_config.fatal("no FileCheck found: install `filecheck`, or set $FILECHECK")


#: Features that tests require, and what runs where they are available.
_FEATURES = {
    "ptxas": "from mlir_smem.codegen.ptxas import find_ptxas; find_ptxas()",
    # From LLVM 24 on.
    "gpu-barrier-scopes": "from mlir_smem.dialect.bindings import gpu; gpu.BarrierScope",
}


def runs(probe: str) -> bool:
    """Return whether a program in Python runs without an error, with the environment of the tests."""
    command = [sys.executable, "-c", probe]
    ran = subprocess.run(command, check=False, capture_output=True, env=environment)
    return ran.returncode == 0


def served() -> str:
    """Start a server of the commands, which ends with lit; return the command line that uses it."""
    client, folder = here.parent / "tools" / "server.py", tempfile.mkdtemp(prefix="smem-lit-")
    atexit.register(shutil.rmtree, folder)
    path = os.path.join(folder, "socket")
    process = subprocess.Popen(
        ["smem-opt", f"--server={path}"],
        executable=shutil.which("smem-opt", path=environment["PATH"]),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # only lit receives Ctrl-C
    )
    atexit.register(process.terminate)
    if process.stdout.readline() != b"listening\n":
        lit_config.fatal("smem-opt --server does not start")
    # -S: the client needs no packages; searching for them would take as long as the rest.
    return f"{sys.executable} -I -S {client} {path}"


config.available_features |= {name for name, probe in _FEATURES.items() if runs(probe)}

client = served()
config.substitutions += [
    ("%{examples}", str(here.parent / "examples")),
    ("%{empty}", os.devnull),
    ("%{python}", sys.executable),
    # `%{refused} COMMAND`: the command must refuse its input properly; see the script.
    ("%{refused}", f"{sys.executable} {here / 'refused.py'}"),
    (r"\bFileCheck\b", file_check()),
    *((rf"\b{command}\b", f"{client} {command}") for command in _COMMANDS),
]
