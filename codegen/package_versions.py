"""The versions of installed packages that provide modules."""

from functools import cache
from importlib import import_module
from pathlib import Path


@cache
def version_of(module: str) -> str:
    """Return the version of the package that installed a module; if none did, the time at which the
    module was built.

    Args:
        module: a package of MLIR bindings, for example "torch_mlir".
    """
    from importlib import metadata

    top = module.partition(".")[0]
    packages = {f"{top.replace('_', '-')}", *metadata.packages_distributions().get(top, ())}
    versions = {
        name.lower().replace("_", "-"): installed_version(name) for name in sorted(packages)
    }
    installed = [version for version in versions.values() if version]
    if installed:
        return "+".join(installed)
    return str(Path(str(import_module(f"{module}.ir").__file__)).stat().st_mtime_ns)


def installed_version(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    # Imported here: it takes 25 ms, and the process that runs LLVM needs no versions.
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
