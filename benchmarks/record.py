"""The circumstances in every record: date, device, versions, command."""

import datetime
import json
import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = (
    "torch-mlir",
    "numba-cuda-mlir",
    "llvmlite",
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "cuda-core",
    "numpy",
    "torch",
    "nvidia-cublas",
    "triton",
    "jax",
)

#: Where records are kept.
_RESULTS = Path("benchmarks", "results")


def record(file: str, result: dict[str, Any]) -> None:
    """Write a result with its circumstances as JSON."""
    Path(file).write_text(json.dumps(circumstances() | result, indent=1) + "\n")


def circumstances() -> dict[str, Any]:
    """Date, device, versions and command."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.date.today().isoformat(),
        "device": _device(),
        "versions": versions,
        "command": shlex.join(["python", *_relative(sys.orig_argv[1:])]),
    }


def _relative(arguments: list[str]) -> list[str]:
    """The arguments without folders of the machine. A record is named by its path in the repository."""
    root = Path(__file__).parents[1]
    words = [a.removeprefix(f"{root}/") for a in arguments]
    if "--record" in words[:-1]:
        position = words.index("--record") + 1
        words[position] = str(_RESULTS / Path(words[position]).name)
    return words


def _device() -> str:
    try:
        from cuda.core import Device

        return Device().name
    except Exception:
        return f"{_processor()}, no GPU"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(": ")[1] for x in lines if x.startswith("model name")), platform.machine())
