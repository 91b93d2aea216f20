"""The lit suite: `lit -sv lit_tests`, from the environment that the package is installed in.

Checks are done by $FILECHECK, else LLVM's FileCheck, else the `filecheck` of the Python registry. The
tests keep to what all of them understand: no numeric expressions, no `--implicit-check-not`.
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

# The commands of this environment come first, whether it is activated or not.
environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
for name in ("MLIR_SMEM_BINDINGS", "MLIR_SMEM_LIBDEVICE", "MLIR_SMEM_PTXAS", "PYTHONPATH"):
    if name in os.environ:
        environment[name] = os.environ[name]


def file_check() -> str:
    """The program that compares output with the CHECK lines."""
    if "FILECHECK" in os.environ:
        return os.environ["FILECHECK"]
    for program in ("FileCheck", "filecheck"):
        found = shutil.which(program, path=environment["PATH"])
        if found:
            return found
    lit_config.fatal("no FileCheck found: install `filecheck`, or name one in $FILECHECK")


def has_ptxas() -> bool:
    """Whether PTX can be assembled here."""
    probe = "from mlir_smem.codegen.ptxas import find_ptxas; find_ptxas()"
    return (
        subprocess.run([sys.executable, "-c", probe], check=False, capture_output=True).returncode
        == 0
    )


def preloaded() -> str:
    """What starts a command as preloaded.py does; the process that has loaded it ends with lit."""
    script, folder = here / "preloaded.py", tempfile.mkdtemp(prefix="smem-lit-")
    atexit.register(shutil.rmtree, folder)
    path = os.path.join(folder, "socket")
    loaded = subprocess.Popen(
        [sys.executable, script, path],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for lit
    )
    atexit.register(loaded.terminate)
    if loaded.stdout.readline() != b"listening\n":
        lit_config.fatal("the commands cannot be loaded")
    # -S: looking for packages, of which the script needs none, would take as long as all else.
    return f"{sys.executable} -I -S {script} {path}"


if has_ptxas():
    config.available_features.add("ptxas")

start = preloaded()
config.substitutions += [
    ("%{examples}", str(here.parent / "examples")),
    ("%{empty}", os.devnull),
    ("%{python}", sys.executable),
    # `%{refused} COMMAND`: the command refuses its input as a compiler should; see the script.
    ("%{refused}", f"{sys.executable} {here / 'refused.py'}"),
    (r"\bFileCheck\b", file_check()),
    *((rf"\b{command}\b", f"{start} {command}") for command in _COMMANDS),
]
