"""Bindings packages other than the one in use: which one an object is of, and how to work with it."""

import importlib.util
import re
import sys
from functools import cache
from io import BytesIO
from typing import Any

from .choice import PACKAGE

#: The modules that a package needs to hold a dialect defined in Python; jaxlib has neither, IREE's
#: compiler has no IRDL.
_NEEDED = ("dialects.ext", "dialects.irdl")

_LIBRARIES = "._mlir_libs"


def package_of(instance: Any) -> str | None:
    """Return the bindings package that defines an object's class; None if it is not of MLIR bindings."""
    for class_ in type(instance).__mro__:
        package, separator, _ = class_.__module__.partition(_LIBRARIES)
        if separator:
            return package
    return None


def is_foreign(instance: Any) -> bool:
    """Return whether an object is of another bindings package than the one in use."""
    return package_of(instance) not in (None, PACKAGE)


def can_hold_dialect(package: str) -> bool:
    """Return whether the bindings of a package can hold a dialect that is defined in Python."""
    return all(_exists(f"{package}.{module}") for module in _NEEDED)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


@cache
def mlir_version(package: str) -> str | None:
    """Return the version of LLVM that a bindings package is built with, for example "24.0.0git"; None if
    it is not known.

    The bindings have no accessor for it, but name it as the producer of bytecode: "MLIR24.0.0git".
    """
    ir = importlib.import_module(f"{package}.ir")
    bytecode = BytesIO()
    ir.Module.parse("module {}", context=ir.Context()).operation.write_bytecode(bytecode)
    match = re.search(rb"MLIR(\d[\w.+-]*)", bytecode.getvalue())
    return match[1].decode() if match else None


def remedy(package: str) -> str:
    """Return what to do with objects of another package, as the end of a message."""
    if can_hold_dialect(package):
        return f"set MLIR_SMEM_BINDINGS={package} before mlir_smem is imported"
    return (
        f"exchange whole modules by mlir_smem.interop.lower, because {package} cannot hold a dialect "
        "that is defined in Python"
    )


def foreign_current_context() -> str | None:
    """Return another package whose context is the current one of this thread; None if there is none."""
    for name in list(sys.modules):
        package, separator, module = name.partition(_LIBRARIES)
        if module != "._mlir.ir" or not separator or package == PACKAGE:
            continue
        try:
            if sys.modules[name].Context.current is not None:
                return package
        except (AttributeError, ValueError):
            continue
    return None
