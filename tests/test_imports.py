"""`import mlir_smem` loads no modules; attributes load only the modules that they need."""

import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import mlir_smem
from mlir_smem.codegen.versions import _FOLDERS

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.name for path in (ROOT / "mlir_smem").iterdir() if path.is_symlink())

#: Packages that layouts do not need.
HEAVY = ("mlir", "torch_mlir", "numba_cuda_mlir", "llvmlite", "cuda", "tqdm")

LOADED = f"""
print(*{{name.split(".")[1] for name in sys.modules if name.startswith("mlir_smem.")}})
print(*{{name.split(".")[0] for name in sys.modules}} & {set(HEAVY)})
"""

REGISTER = "c = mlir_smem.register(bindings.ir.Context())"
ADD_PASSES = f"""
{REGISTER}
with c:
    mlir_smem.add_passes(bindings.passmanager.PassManager("builtin.module"), "smem-to-nvvm")
"""


def imports_of(code):
    """Return the folders and the heavy packages that a new interpreter has loaded after some code."""
    command = [sys.executable, "-c", f"import sys\n{code}{LOADED}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    folders, packages = ran.stdout.split("\n")[:2]
    return set(folders.split()), set(packages.split())


def test_no_module_is_in_a_circle_of_imports():
    """Imports within functions and for type checkers count; import-linter leaves the latter out."""
    grimp = pytest.importorskip("grimp", reason="the extra `lint` is not installed")
    graph = grimp.build_graph("mlir_smem", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imported).prepare()  # raises CycleError, which names the modules


def test_the_cache_key_has_the_sources_that_code_generation_imports():
    files = (ROOT / "codegen").rglob("*.py")
    rooms = {room for file in files for room in re.findall(r"from \.\.(\w+)", file.read_text())}
    assert {*rooms, "codegen"} - {"interop"} == set(_FOLDERS)


def test_import_loads_nothing():
    assert imports_of("import mlir_smem") == (set(), set())


@pytest.mark.parametrize("folder", ["layout", "advisor"])
@pytest.mark.parametrize("form", ["import mlir_smem.{}", "import mlir_smem; mlir_smem.{}"])
def test_layouts_need_no_mlir(form, folder):
    folders, packages = imports_of(form.format(folder))
    assert folders == {folder, "layout"}
    assert packages == set()


@pytest.mark.parametrize(
    "used, needed", [(REGISTER, set()), (ADD_PASSES, {"passes"})], ids=["register", "add_passes"]
)
def test_a_host_compiler_loads_only_the_dialect_and_the_passes(used, needed):
    folders, _ = imports_of(f"import mlir_smem\nfrom mlir_smem import bindings\n{used}")
    needed = {"bindings", "dialect", "layout", *needed}
    assert needed <= folders <= {"ir", *needed}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_is_an_attribute(folder):
    code = f"import mlir_smem\nassert mlir_smem.{folder}.__name__ == 'mlir_smem.{folder}'"
    assert folder in imports_of(code)[0]


def test_a_folder_can_be_imported_from_the_package():
    from mlir_smem import kernels

    assert kernels is mlir_smem.kernels


def test_dir_and_the_error_list_all_names():
    assert {*mlir_smem.__all__, *FOLDERS} <= set(dir(mlir_smem))
    with pytest.raises(AttributeError) as error:
        mlir_smem.kernel  # noqa: B018
    names = ", ".join((*mlir_smem.__all__, *FOLDERS))
    assert str(error.value) == f"module 'mlir_smem' has no attribute 'kernel'; it has {names}"


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert mlir_smem.__version__ == project["version"]


def test_every_public_name_exists():
    assert all(getattr(mlir_smem, name) for name in mlir_smem.__all__)
