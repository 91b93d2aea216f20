"""Compiled kernels kept on disk, so that a program that runs again compiles nothing.

They are in the folder that `MLIR_SMEM_CACHE` names, else in `~/.cache/mlir-smem` (`XDG_CACHE_HOME`);
with `MLIR_SMEM_CACHE` empty or "off", nothing is kept. The folder may be deleted at any time.

What is read from it is run on the GPU. So a folder is trusted only if it belongs to this user or to root,
and a file in it only if it does, too, and nobody else may write it.
"""

import base64
import errno
import json
import os
import stat
import tempfile
import warnings
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..codegen import Compiled, Report, compile, is_manifest, toolchain

#: What an entry's bytes mean; part of its key, so that no entry of another form is read.
_FORMAT = 2

#: The permissions by which others than a file's owner write it.
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

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
    found = _read(path, arch) if path else None
    if found:
        return found
    made = compile(text, arch, **options)
    made = Compiled(made.manifest, cubin=made.cubin, report=made.report)
    if path:
        _write(path, made)
    return made


def is_kept(text: str, arch: str = "sm_90a", **options: Any) -> bool:
    """Whether `cached_compile` finds the kernel, and so compiles nothing."""
    path = _path(text, arch, options)
    return path is not None and _read(path, arch) is not None


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


def _read(path: Path, arch: str) -> Compiled | None:
    """What was kept; None if there is nothing, or not what was written."""
    data = kept(path)
    if data is None or sha256(data[_CHECKSUM:]).digest() != data[:_CHECKSUM]:
        return None
    try:
        entry = json.loads(data[_CHECKSUM:])
        said = entry["report"]
        report = Report(said["registers"], said["spill_bytes"], tuple(said["warnings"]))
        cubin = base64.b64decode(entry["cubin"], validate=True)
        manifest = entry["manifest"]
        if entry["key"] == path.stem and is_manifest(manifest) and manifest["arch"] == arch:
            return Compiled(manifest, cubin=cubin, report=report)
    except (LookupError, TypeError, ValueError, RecursionError):
        pass
    return None


def _write(path: Path, made: Compiled) -> None:
    """Keeps a kernel."""
    assert made.cubin is not None and made.report is not None
    entry = {
        "key": path.stem,
        "manifest": made.manifest,
        "report": asdict(made.report),
        "cubin": base64.b64encode(made.cubin).decode(),
    }
    content = json.dumps(entry).encode()
    keep(path, sha256(content).digest() + content, "the compiled kernel")


def kept(path: Path) -> bytes | None:
    """What a file of the cache holds; None if there is none that is trusted."""
    try:
        with open(path, "rb") as file:
            there = os.fstat(file.fileno())
            if (
                _is_ours(path.parent.stat())
                and _is_ours(there)
                and not there.st_mode & _OTHERS_WRITE
            ):
                return file.read()
    except OSError:
        pass
    return None


def _is_ours(there: os.stat_result) -> bool:
    """Whether a file or a folder belongs to this user, or to root, who may do anything."""
    return there.st_uid in (os.geteuid(), 0)


def keep(path: Path, content: bytes, what: str) -> None:
    """Writes a file of the cache. Others see the whole file or none; one that cannot be written, or would
    not be trusted, is done without, with a warning that says what it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _is_ours(path.parent.stat()):
            raise PermissionError(
                errno.EPERM, "the folder belongs to another user", str(path.parent)
            )
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
