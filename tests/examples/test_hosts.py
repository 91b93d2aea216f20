"""The examples of hosts whose bindings cannot hold the dialect."""

import importlib.util
import sys
from pathlib import Path

import pytest

HOSTS = Path(__file__).parents[2] / "examples" / "hosts"


@pytest.mark.parametrize(
    "example, package, printed",
    [
        ("jaxlib_host", "jaxlib.mlir.ir", "4 wgmma in jaxlib's module; C is A * B\n"),
        ("iree_host", "iree.compiler.ir", "4 wgmma in IREE's module; D is A * B\n"),
    ],
)
def test_an_example_of_a_host(example, package, printed, capsys, monkeypatch):
    pytest.importorskip(package, reason=f"{package} is not installed")
    spec = importlib.util.spec_from_file_location(example, HOSTS / f"{example}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, example, module)
    spec.loader.exec_module(module)
    module.main()
    assert capsys.readouterr().out == printed
