"""The registry of passes: those of this project, and those that other packages add by entry points."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points

import pytest

from mlir_smem.passes import OptionError, Pass, pass_named, passes
from mlir_smem.passes.allocate import Allocate
from mlir_smem.passes.driver import base


class Mine(Pass):
    name = "host-pass"
    description = "of another package"


class Impostor(Pass):
    name = "smem-allocate"
    description = "has the name of one of ours"


def forget():
    base._entries.cache_clear()
    base._load.cache_clear()


@pytest.fixture
def plugins(monkeypatch):
    """Set the entry points of other packages."""

    def install(*names):
        entries = [EntryPoint(n, f"{__name__}:{n}", base.GROUP) for n in names]
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
        forget()

    yield install
    forget()


def test_own_passes_come_first(plugins):
    plugins("Mine")
    assert list(passes()) == [p.name for p in base.REGISTERED] + ["host-pass"]


def test_a_pass_of_another_package_is_found_by_name(plugins):
    plugins("Mine")
    assert pass_named("host-pass") is Mine


def test_an_own_pass_is_not_replaced(plugins):
    plugins("Impostor")
    assert pass_named("smem-allocate") is Allocate


def test_the_error_of_an_unknown_name_lists_all_passes(plugins):
    plugins("Mine")
    with pytest.raises(OptionError, match=r"^no pass is named 'x'; there are smem-.*, host-pass$"):
        pass_named("x")


def test_a_plugin_that_cannot_be_loaded_is_a_warning(plugins):
    plugins("Missing")
    assert pass_named("smem-allocate") is Allocate
    with pytest.warns(UserWarning, match="pass 'Missing' cannot be loaded: "):
        assert list(passes()) == [p.name for p in base.REGISTERED]


def test_names_of_own_passes_are_unique():
    names = [pass_.name for pass_ in base.REGISTERED]
    assert len(set(names)) == len(names)
    assert all(name.startswith("smem-") for name in names)


def test_entry_points_of_this_project_have_the_names_of_their_passes():
    entries = [e for e in entry_points(group=base.GROUP) if e.dist.name == "mlir-smem"]
    assert entries
    assert [entry.load().name for entry in entries] == [entry.name for entry in entries]


# An installed package.

CODE = '''
from dataclasses import dataclass

from mlir_smem.bindings import ir
from mlir_smem.passes import Pass, option


@dataclass(frozen=True)
class Label(Pass):
    """Labels the module."""

    name = "host-label"
    description = "label the module"

    text: str = option("none", "the label")

    def run(self, module):
        module.operation.attributes["host.label"] = ir.StringAttr.get(self.text)
'''


def opt(folder, *arguments):
    (folder / "host_passes.py").write_text(CODE)
    info = folder / "host_passes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: host-passes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mlir_smem.passes]\nlabel = host_passes:Label\n")
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from mlir_smem.tools.entry import smem_opt; smem_opt()",
            *arguments,
        ],
        input="module {}",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(folder)},
    ).stdout


def test_an_installed_package_adds_its_pass_to_the_command(tmp_path):
    assert 'host.label = "new"' in opt(tmp_path, "--host-label=text=new")


def test_an_installed_package_adds_its_pass_to_the_list(tmp_path):
    listed = opt(tmp_path, "--list-passes")
    assert "--host-label " in listed
    assert "label the module" in listed
