"""The package that the bindings are imported from; each case runs in a separate process."""

import os
import subprocess
import sys

import pytest

# They use nothing of the dialect, so the packages can be stubs.
LOAD = """
from mlir_smem import bindings
print(bindings.PACKAGE, bindings.ir.__name__)
"""

MODULES = ("ir", "passmanager")
DIALECTS = ("ext", "arith", "gpu", "llvm", "math", "memref", "nvvm", "scf")


def stub(folder, package):
    """Install a bindings package with empty modules."""
    for name in (*MODULES, *(f"dialects/{d}" for d in ("__init__", *DIALECTS)), "__init__"):
        file = folder / package / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def placeholder(folder, package):
    """Install an empty package, like the placeholders in package registries."""
    (folder / package).mkdir()
    (folder / package / "__init__.py").touch()


def run(code, folder, named=None):
    environment = {k: v for k, v in os.environ.items() if k != "MLIR_SMEM_BINDINGS"}
    environment["PYTHONPATH"] = str(folder)
    if named is not None:
        environment["MLIR_SMEM_BINDINGS"] = named
    return subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env=environment
    )


def printed_words(code, folder, named=None):
    ran = run(code, folder, named)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_the_environment_variable_names_the_package(tmp_path):
    stub(tmp_path, "own_bindings")
    assert printed_words(LOAD, tmp_path, "own_bindings") == ["own_bindings", "own_bindings.ir"]


def test_the_environment_variable_overrides_an_imported_package(tmp_path):
    stub(tmp_path, "own_bindings")
    stub(tmp_path, "mlir")
    assert printed_words("import mlir.ir" + LOAD, tmp_path, "own_bindings")[0] == "own_bindings"


def test_the_named_package_can_be_a_subpackage(tmp_path):
    stub(tmp_path, "host/bindings")
    assert printed_words(LOAD, tmp_path, "host.bindings")[0] == "host.bindings"


@pytest.mark.parametrize("package", ["mlir", "torch_mlir"])
def test_a_package_imported_by_the_host_is_used(tmp_path, package):
    for name in ("mlir", "torch_mlir"):
        stub(tmp_path, name)
    assert printed_words(f"import {package}.ir" + LOAD, tmp_path) == [package, f"{package}.ir"]


def test_a_package_whose_bindings_are_not_imported_yet_is_not_preferred(tmp_path):
    for name in ("mlir", "torch_mlir"):
        stub(tmp_path, name)
    assert printed_words("import torch_mlir" + LOAD, tmp_path)[0] == "mlir"


def test_a_placeholder_is_skipped(tmp_path):
    placeholder(tmp_path, "mlir")
    stub(tmp_path, "torch_mlir")
    assert printed_words("import mlir" + LOAD, tmp_path)[0] == "torch_mlir"


def test_an_empty_environment_variable_is_ignored(tmp_path):
    stub(tmp_path, "torch_mlir")
    assert printed_words(LOAD, tmp_path, "")[0] == "torch_mlir"


def last_line(ran):
    assert ran.returncode == 1
    return ran.stderr.splitlines()[-1]


def test_a_named_package_that_is_not_installed(tmp_path):
    assert last_line(run(LOAD, tmp_path, "nowhere")) == (
        "ImportError: MLIR_SMEM_BINDINGS names the package 'nowhere', which is not installed"
    )


def test_a_named_package_whose_parent_is_not_installed(tmp_path):
    assert last_line(run(LOAD, tmp_path, "nowhere.bindings")) == (
        "ImportError: MLIR_SMEM_BINDINGS names the package 'nowhere.bindings', which is not installed"
    )


def test_a_named_package_without_bindings(tmp_path):
    placeholder(tmp_path, "empty")
    assert last_line(run(LOAD, tmp_path, "empty")) == (
        "ImportError: MLIR_SMEM_BINDINGS names the package 'empty', which holds no MLIR bindings"
    )


def test_no_bindings_at_all(tmp_path):
    hide = "import sys; sys.modules.update(mlir=None, torch_mlir=None, numba_cuda_mlir=None)"
    assert last_line(run(hide + LOAD, tmp_path)) == (
        "ImportError: no MLIR Python bindings found; install torch-mlir or numba-cuda-mlir, or name a "
        "package in MLIR_SMEM_BINDINGS"
    )


def test_the_whole_dialect_uses_the_named_package(tmp_path):
    code = "from mlir_smem.bindings import ir; print(ir.__name__)"
    assert printed_words(code, tmp_path, "torch_mlir") == ["torch_mlir.ir"]
