"""Compiled kernels kept on disk, so that a program that runs again compiles nothing.

They are in the folder that `MLIR_SMEM_CACHE` names, else in `~/.cache/mlir-smem` (`XDG_CACHE_HOME`);
with `MLIR_SMEM_CACHE` empty or "off", nothing is kept. The folder may be deleted at any time.
"""

import base64
import json
import os
import tempfile
import warnings
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..codegen import Compiled, Report, compile, toolchain

#: What an entry's bytes mean; part of its key, so that no entry of another form is read.
_FORMAT = 1

#: Bytes of the checksum that an entry begins with.
_CHECKSUM = 32


def cached_compile(text: str, arch: str = "sm_90a", **options: Any) -> Compiled:
    """A kernel to launch: what `compile` makes of MLIR text, or made of it before.

    It has the manifest, the cubin and what ptxas said, and no stage before, whether it was kept or
    not. What the passes print is printed when it is compiled; with `explain`, it always is.

    Args:
        text: the module.
        arch: the architecture.
        options: options of `smem-to-nvvm`, dashes as underscores.

    Raises:
        MLIRError, CompileError, OptionError: as `compile`.
    """
    path = None if options.get("explain") else _path(text, arch, options)
    kept = _read(path) if path else None
    if kept:
        return kept
    made = compile(text, arch, **options)
    made = Compiled(made.manifest, cubin=made.cubin, report=made.report)
    if path:
        _write(path, made)
    return made


def is_kept(text: str, arch: str = "sm_90a", **options: Any) -> bool:
    """Whether `cached_compile` finds the kernel, and so compiles nothing."""
    path = _path(text, arch, options)
    return path is not None and _read(path) is not None


def cache_folder() -> Path | None:
    """Where things are kept; None if nothing is to be."""
    named = os.environ.get("MLIR_SMEM_CACHE")
    if named is None:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mlir-smem")
    return None if named in ("", "off") else Path(named)


def _path(text: str, arch: str, options: dict[str, Any]) -> Path | None:
    folder = cache_folder()
    return folder / f"{_key(text, arch, options)}.kernel" if folder else None


def _key(text: str, arch: str, options: dict[str, Any]) -> str:
    parts = (_FORMAT, text, arch, sorted(options.items()), toolchain())
    return sha256(repr(parts).encode()).hexdigest()


def _read(path: Path) -> Compiled | None:
    """What was kept; None if there is nothing, or not what was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    checksum, content = data[:_CHECKSUM], data[_CHECKSUM:]
    if sha256(content).digest() != checksum:
        return None
    entry = json.loads(content)
    said = entry["report"]
    report = Report(said["registers"], said["spill_bytes"], tuple(said["warnings"]))
    return Compiled(entry["manifest"], cubin=base64.b64decode(entry["cubin"]), report=report)


def _write(path: Path, made: Compiled) -> None:
    """Keeps a kernel."""
    assert made.cubin is not None and made.report is not None
    entry = {
        "manifest": made.manifest,
        "report": asdict(made.report),
        "cubin": base64.b64encode(made.cubin).decode(),
    }
    content = json.dumps(entry).encode()
    keep(path, sha256(content).digest() + content, "the compiled kernel")


def keep(path: Path, content: bytes, what: str) -> None:
    """Writes a file of the cache. Others see the whole file or none; one that cannot be written is done
    without, with a warning that says what it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".draft", delete=False) as draft:
            try:
                draft.write(content)
                draft.close()
                os.replace(draft.name, path)
            finally:
                Path(draft.name).unlink(missing_ok=True)
    except OSError as error:
        warnings.warn(
            f"{what} is not kept: {error}; MLIR_SMEM_CACHE can name another folder", stacklevel=4
        )
