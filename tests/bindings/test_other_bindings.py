"""Objects of another bindings package are refused with the names of both packages."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from mlir_smem import bindings
from mlir_smem.bindings import choice

OTHERS = [package for package in choice.PACKAGES if package != bindings.PACKAGE]

CODE = """
import importlib, sys
import mlir_smem
from mlir_smem import bindings
context = importlib.import_module(sys.argv[1] + ".ir").Context()
try:
    mlir_smem.register(context)
except TypeError as error:
    print(error)
"""


@pytest.mark.parametrize("package", OTHERS)
def test_a_context_of_another_package(package):
    if find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    ran = subprocess.run(
        [sys.executable, "-c", CODE, package],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MLIR_SMEM_BINDINGS": bindings.PACKAGE},
    )
    assert ran.stdout.strip() == (
        f"mlir_smem.register: context is a Context of the bindings package {package}, but mlir_smem uses "
        f"{bindings.PACKAGE}; set MLIR_SMEM_BINDINGS={package} before mlir_smem is imported"
    )
