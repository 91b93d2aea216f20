"""The lit suite: `lit -sv lit_tests`, in the environment in which the package is installed.

The tests run $FILECHECK, else LLVM's FileCheck, else the `filecheck` of PyPI. They use only features that
all of these have: no numeric expressions, no `--implicit-check-not`.
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import lit.formats

here = Path(__file__).parent
environment = config.environment

if sys.dont_write_bytecode:
    # PYTHONDONTWRITEBYTECODE keeps the tree clean, but doubles the time of each start of Python.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(here.parent / "build" / "pycache")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

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
        path = shutil.which(program, path=environment["PATH"])
        if path:
            return path
    lit_config.fatal("no FileCheck found: install `filecheck`, or set $FILECHECK")


#: Features that tests require, and programs that run without an error where they are available.
_FEATURES = {
    "ptxas": "from mlir_smem.codegen.ptxas import find_ptxas; find_ptxas()",
    # From LLVM 24 on.
    "gpu-barrier-scopes": "from mlir_smem.bindings import gpu; gpu.BarrierScope",
}


def runs(probe: str) -> bool:
    """Whether a program in Python runs without an error, with the environment of the tests."""
    command = [sys.executable, "-c", probe]
    process = subprocess.run(command, check=False, capture_output=True, env=environment)
    return process.returncode == 0


config.available_features |= {name for name, probe in _FEATURES.items() if runs(probe)}

config.substitutions += [
    ("%{examples}", str(here.parent / "examples")),
    ("%{empty}", os.devnull),
    ("%{python}", sys.executable),
    # `%{refused} COMMAND`: the command must refuse its input properly; see the script.
    ("%{refused}", f"{sys.executable} {here / 'refused.py'}"),
    (r"\bFileCheck\b", file_check()),
]

# The commands of most tests are imported once, here; see `forked`. A fork of a process with threads is
# not safe.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.append(str(here))
forked, refused = import_module("forked"), import_module("refused")
for name in _COMMANDS:
    function = name.replace("-", "_")
    import_module(f"mlir_smem.tools.{function}")
    forked.register([name], getattr(import_module("mlir_smem.tools.entry"), function))
forked.register([sys.executable, str(here / "refused.py")], partial(refused.main, forked.Popen))
if file_check() == str(Path(sys.executable).with_name("filecheck")):
    forked.register([file_check()], import_module("filecheck.main").main)
# Compiling a first module loads the parts that all later ones use.
mlir_smem = import_module("mlir_smem")
mlir_smem.compile(mlir_smem.examples.path("mma.mlir").read_text(), emit="nvvm")
forked.install()
