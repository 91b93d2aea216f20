"""A cache of compiled kernels on disk, so that a second run of a program compiles nothing.

The cache is the folder in `MLIR_SMEM_CACHE`, or `~/.cache/mlir-smem` (`XDG_CACHE_HOME`). If
`MLIR_SMEM_CACHE` is empty or "off", nothing is written. The folder may be deleted at any time.

Its code runs on the GPU. So a folder is trusted only if this user or root owns it, and a file in it
only if this user or root owns it and no other user can write it.
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
from ..codegen.debug_scopes import current_directory

#: The version of the file format; part of the key, so that files of other formats are not read.
_FORMAT = 2

#: The permissions of group and others to write a file.
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

#: Bytes of the checksum at the start of an entry.
_CHECKSUM = 32


def cached_compile(module: Any, arch: str = "sm_90a", **options: Any) -> Compiled:
    """Compile a module to a kernel to launch, or read it from the cache.

    The result has the manifest, the cubin and ptxas's report, and no earlier stage, in both cases. Output
    of the passes is printed when they run; with `explain`, they always run.

    Args:
        module: MLIR text, or an `ir.Module`. Locations in an `ir.Module` make no other kernel, unless
            `debug_info` puts them into its code.
        arch: the architecture.
        options: `debug_info` and `source_name` of `compile`, and options of `smem-to-nvvm`, dashes as
            underscores.

    Returns:
        The kernel.

    Raises:
        MLIRError, CompileError, OptionError, ValueError: as in `compile`.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> compiled = cached_compile(text)
        >>> compiled.report.spill_bytes
        0
    """
    path = None if options.get("explain") else _path(module, arch, options)
    cached = _read(path, arch) if path else None
    if cached:
        return cached
    compiled = compile(module, arch, **options)
    compiled = Compiled(compiled.manifest, cubin=compiled.cubin, report=compiled.report)
    if path:
        _write(path, compiled)
    return compiled


def is_cached(module: Any, arch: str = "sm_90a", **options: Any) -> bool:
    """Return whether `cached_compile` finds the kernel and compiles nothing.

    Args:
        module: as for `cached_compile`.
        arch: the architecture.
        options: options of `smem-to-nvvm`, dashes as underscores.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> compiled = cached_compile(text)
        >>> is_cached(text), is_cached(text, max_swizzle=64)
        (True, False)
    """
    path = _path(module, arch, options)
    return path is not None and _read(path, arch) is not None


def cache_folder() -> Path | None:
    """Return the folder of the cache; None if the cache is off.

    Example:
        >>> folder = cache_folder()  # by default, mlir-smem in the user's cache
    """
    folder = os.environ.get("MLIR_SMEM_CACHE")
    if folder is None:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mlir-smem")
    return None if folder in ("", "off") else Path(folder)


def _path(module: Any, arch: str, options: dict[str, Any]) -> Path | None:
    folder = cache_folder()
    return folder / f"{_key(module, arch, options)}.kernel" if folder else None


def _key(module: Any, arch: str, options: dict[str, Any]) -> str:
    # Lines have the absolute names of files.
    lines = options.get("debug_info", "none") != "none"
    directory = current_directory() if lines else None
    text = module if isinstance(module, str | bytes) else _text(module, lines)
    parts = (_FORMAT, text, arch, sorted(options.items()), directory, toolchain())
    return sha256(repr(parts).encode()).hexdigest()


def _text(module: Any, lines: bool) -> str:
    """Return the text of a module, with its locations only if lines are wanted."""
    operation = getattr(module, "operation", module)
    # Printing verifies, and verifiers make types in the current context.
    with operation.context:
        return operation.get_asm(enable_debug_info=True) if lines else str(operation)


def _read(path: Path, arch: str) -> Compiled | None:
    """Return a cached kernel; None if there is none, or the file was changed."""
    content = read_checked(path)
    if content is None:
        return None
    try:
        entry = json.loads(content)
        fields = entry["report"]
        report = Report(fields["registers"], fields["spill_bytes"], tuple(fields["warnings"]))
        cubin = base64.b64decode(entry["cubin"], validate=True)
        manifest = entry["manifest"]
        if entry["key"] == path.stem and is_manifest(manifest) and manifest["arch"] == arch:
            return Compiled(manifest, cubin=cubin, report=report)
    except (LookupError, TypeError, ValueError, RecursionError):
        pass
    return None


def _write(path: Path, compiled: Compiled) -> None:
    """Write a kernel to the cache."""
    assert compiled.cubin is not None and compiled.report is not None
    entry = {
        "key": path.stem,
        "manifest": compiled.manifest,
        "report": asdict(compiled.report),
        "cubin": base64.b64encode(compiled.cubin).decode(),
    }
    write_checked(path, json.dumps(entry).encode(), "the compiled kernel")


def read_checked(path: Path) -> bytes | None:
    """Return what `write_checked` wrote to a file; None if there is no file, it is not trusted
    (`read_cached`), or it was changed.

    Args:
        path: the file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "code")
        ...     write_checked(file, b"code", "the code")
        ...     content = read_checked(file)
        ...     _ = file.write_bytes(file.read_bytes() + b"more")
        ...     print(content, read_checked(file))
        b'code' None
    """
    data = read_cached(path)
    if data is None or sha256(data[_CHECKSUM:]).digest() != data[:_CHECKSUM]:
        return None
    return data[_CHECKSUM:]


def write_checked(path: Path, content: bytes, what: str) -> None:
    """Write a file of the cache with a checksum; parameters as `write_cached` has them."""
    write_cached(path, sha256(content).digest() + content, what)


def read_cached(path: Path) -> bytes | None:
    """Return the content of a file of the cache; None if there is no file, or it is not trusted.

    Args:
        path: the file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> print(read_cached(Path(tempfile.gettempdir(), "there is no such file")))
        None
    """
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if (
                _is_ours(path.parent.stat())
                and _is_ours(status)
                and not status.st_mode & _OTHERS_WRITE
            ):
                return file.read()
    except OSError:
        pass
    return None


def _is_ours(status: os.stat_result) -> bool:
    """Return whether this user or root owns a file or a folder."""
    return status.st_uid in (os.geteuid(), 0)


def write_cached(path: Path, content: bytes, what: str) -> None:
    """Write a file of the cache atomically. If it cannot be written, or would not be trusted, warn.

    Args:
        path: the file.
        content: its bytes.
        what: the name of the content in the warning.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_cached(Path(folder, "mma.json"), b"{}", "the manifest")
        ...     print(read_cached(Path(folder, "mma.json")))
        b'{}'
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
