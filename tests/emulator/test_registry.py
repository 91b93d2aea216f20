"""An instruction set is one folder of the emulator, in which its ops and its assembly are found."""

import importlib
import sys

import numpy as np
import pytest
from emulated import run

from mlir_smem import emulator
from mlir_smem.emulator import EmulationError, registry

OPS = '''"""Ops that the emulator does not have."""

import numpy as np

from ..registry import assembles, computes


@computes("llvm.intr.exp10")
def _exp10(op):
    return lambda a: np.power(np.float32(10), a)


@assembles
def _double(op, text):
    if text != "add.f32 $0, $1, $1;":
        return None
    return lambda convergent, value: 2 * convergent.check_value(value)
'''

BODY = """
    %x = memref.load %A[%tid] : memref<32xf32>
    %y = llvm.intr.exp10(%x) : (f32) -> f32
    %z = llvm.inline_asm "add.f32 $0, $1, $1;", "=f,f" %y : (f32) -> f32
    memref.store %z, %B[%tid] : memref<32xf32>"""

ARGUMENTS = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder `added` next to those of the emulator; the test removes it afterwards."""
    added = tmp_path / "added"
    added.mkdir()
    (added / "__init__.py").write_text('"""A new instruction set."""\n')
    (added / "ops.py").write_text(OPS)
    importlib.invalidate_caches()
    registry.load_ops()  # the emulator's own ops, which stay registered
    registry.load_ops.cache_clear()
    monkeypatch.setattr(emulator, "__path__", [*emulator.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "_EXECUTORS", dict(registry._EXECUTORS))
    monkeypatch.setattr(registry, "_ASSEMBLY", list(registry._ASSEMBLY))
    yield added
    registry.load_ops.cache_clear()
    for name in [n for n in sys.modules if n.startswith(f"{emulator.__name__}.added")]:
        del sys.modules[name]
    if hasattr(emulator, "added"):
        del emulator.added


def test_folder_is_found_without_a_change_elsewhere(folder):
    source, result = ARGUMENTS
    run(BODY, source, result)
    assert (result == 2 * np.power(np.float32(10), source)).all()


def test_ops_are_not_known_without_the_folder():
    with pytest.raises(
        EmulationError, match=r"'llvm\.intr\.exp10' is an op that the emulator does not"
    ):
        run(BODY, *ARGUMENTS)


def test_modules_of_every_folder_are_imported():
    registry.load_ops()
    for name in ("ops.arith", "wgmma.ops", "wgmma.inline_ptx", "tcgen05.ops", "tma.bulk_ops"):
        assert f"{emulator.__name__}.{name}" in sys.modules
