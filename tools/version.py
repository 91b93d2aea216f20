"""`--version`: this package and the tools that it uses, as `mlir-opt --version` prints its own."""

import re
from contextlib import suppress
from importlib import import_module, metadata


def versions() -> str:
    """Return the versions of this package, the MLIR bindings, the LLVM that writes PTX, and ptxas.

    What is missing is told in its line, with what would provide it. Each is optional for some command:
    `smem-layout` needs none.
    """
    parts = {"MLIR": _bindings, "NVPTX": _nvptx, "ptxas": _ptxas}
    lines = [f"mlir-smem {metadata.version('mlir-smem')}"]
    for name, describe in parts.items():
        try:
            lines.append(f"  {name:<6} {describe()}")
        except Exception as error:  # a broken tool is told, too
            lines.append(f"  {name:<6} none: {error}")
    return "\n".join(lines)


def _bindings() -> str:
    # The parts are imported when asked for: `smem-layout` runs where no bindings are.
    package = import_module("..bindings.choice", __package__).PACKAGE
    llvm = import_module("..bindings.packages", __package__).mlir_version(package)
    return f"{llvm or 'of an unknown version'}, bindings {_distribution(package)}"


def _distribution(package: str) -> str:
    """Return the name and version of the distribution that holds a package; the package's name alone if
    it was not installed as a distribution."""
    top, _, _ = package.partition(".")
    # Mostly they have the same name; to find another one, the files of all distributions are read.
    with suppress(metadata.PackageNotFoundError):
        likely = metadata.distribution(top.replace("_", "-"))
        if any(file.parts[0] == top for file in likely.files or ()):
            return f"{likely.name} {likely.version}"
    for name in metadata.packages_distributions().get(top, ()):
        return f"{name} {metadata.version(name)}"
    return package


def _nvptx() -> str:
    package = import_module("..bindings.choice", __package__).PACKAGE
    name = import_module("..codegen.nvptx_choice", __package__).nvptx_for(package).name
    if not name.startswith("llvmlite "):
        return name
    llvm = import_module("llvmlite.binding").llvm_version_info
    return f"{name}, LLVM {'.'.join(map(str, llvm))}"


def _ptxas() -> str:
    ptxas = import_module("..codegen.ptxas", __package__)
    found = re.search(r"V([\d.]+)", ptxas.ptxas_version())
    return f"{found[1] if found else 'of an unknown version'}, {ptxas.find_ptxas()}"
