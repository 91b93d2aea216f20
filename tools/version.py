"""`--version`: this package and the tools that it uses, as `mlir-opt --version` prints its own."""

import re
from contextlib import suppress
from importlib import import_module, metadata


def versions() -> str:
    """Return the versions of this package, the MLIR bindings, the LLVM that writes PTX, and ptxas.

    The line of a missing part says how to install it. Each is optional for some command: `smem-layout`
    needs none.
    """
    parts = {"MLIR": _bindings, "NVPTX": _nvptx, "ptxas": _ptxas}
    lines = [f"mlir-smem {metadata.version('mlir-smem')}"]
    for name, describe in parts.items():
        try:
            lines.append(f"  {name:<6} {describe()}")
        except Exception as error:  # a broken tool is printed, too
            lines.append(f"  {name:<6} none: {error}")
    return "\n".join(lines)


def _bindings() -> str:
    # Imported here: `smem-layout` runs without bindings.
    package = import_module("..bindings.choice", __package__).PACKAGE
    llvm = import_module("..bindings.packages", __package__).mlir_version(package)
    return f"{llvm or 'of an unknown version'}, bindings {_distribution(package)}"


def _distribution(package: str) -> str:
    """Return the name and version of a package's distribution; the package's name if it has none."""
    top, _, _ = package.partition(".")
    # The names are usually equal; otherwise the files of all distributions are searched.
    with suppress(metadata.PackageNotFoundError):
        distribution = metadata.distribution(top.replace("_", "-"))
        if any(file.parts[0] == top for file in distribution.files or ()):
            return f"{distribution.name} {distribution.version}"
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
    match = re.search(r"V([\d.]+)", ptxas.ptxas_version())
    return f"{match[1] if match else 'of an unknown version'}, {ptxas.find_ptxas()}"
