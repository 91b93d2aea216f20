"""The cache of compiled kernels: hits, misses, and damaged or foreign files."""

import json
import os
import threading
import warnings
from hashlib import sha256
from importlib import metadata

import pytest
from programs import WRONG, kernel, module

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.codegen import CompileError, package_versions, ptxas, versions
from mlir_smem.codegen.versions import toolchain
from mlir_smem.runtime import cache, cached_compile, is_cached

TEXT = module()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache's folder, which does not exist yet."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "kept" / "here"))
    return tmp_path / "kept" / "here"


@pytest.fixture(scope="module")
def compiled_kernel():
    return mlir_smem.compile(TEXT)


@pytest.fixture
def compilations(monkeypatch, compiled_kernel):
    """The arguments of each compilation; a stand-in replaces `compile`."""
    calls = []

    def compile_(text, arch, **options):
        calls.append((text, arch, options))
        return compiled_kernel

    monkeypatch.setattr(cache, "compile", compile_)
    return calls


def entry(folder):
    (file,) = folder.iterdir()
    return file


def test_a_cached_kernel_is_the_compiled_one(folder, compiled_kernel):
    first = cached_compile(TEXT)
    again = cached_compile(TEXT)
    assert first == again
    assert (again.manifest, again.cubin, again.report) == (
        compiled_kernel.manifest,
        compiled_kernel.cubin,
        compiled_kernel.report,
    )
    assert (again.nvvm, again.llvm, again.ptx) == (None, None, None)


def test_it_is_compiled_once(folder, compilations):
    for _ in range(3):
        cached_compile(TEXT, max_swizzle="64B")
    assert compilations == [(TEXT, "sm_90a", {"max_swizzle": "64B"})]


def test_is_cached(folder, compilations):
    assert not is_cached(TEXT, max_swizzle="64B")
    cached_compile(TEXT, max_swizzle="64B")
    assert is_cached(TEXT, max_swizzle="64B")
    assert not is_cached(TEXT)
    entry(folder).write_bytes(b"damaged")
    assert not is_cached(TEXT, max_swizzle="64B")


def test_nothing_is_written_if_the_cache_is_off(monkeypatch, compilations):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "off")
    cached_compile(TEXT)
    assert not is_cached(TEXT)


@pytest.mark.parametrize(
    "text, arch, options",
    [
        (TEXT + "\n", "sm_90a", {}),
        (TEXT, "sm_100a", {}),
        (TEXT, "sm_90a", {"max_swizzle": "64B"}),
        (TEXT, "sm_90a", {"reserved_bytes": 1024}),
        (TEXT, "sm_90a", {"debug_info": "lines"}),
    ],
)
def test_other_text_or_options_are_compiled_again(folder, compilations, text, arch, options):
    cached_compile(TEXT)
    cached_compile(text, arch, **options)
    assert len(compilations) == 2


def test_lines_have_absolute_names(folder, compilations, monkeypatch, tmp_path):
    for options in ({"debug_info": "lines", "source_name": "k.mlir"}, {"debug_info": "none"}):
        compilations.clear()
        for directory in ("first", "second"):
            (tmp_path / directory).mkdir(exist_ok=True)
            monkeypatch.chdir(tmp_path / directory)
            cached_compile(TEXT, **options)
        assert len(compilations) == (2 if options["debug_info"] == "lines" else 1)


def test_the_order_of_options_does_not_matter(folder, compilations):
    cached_compile(TEXT, max_swizzle="64B", reserved_bytes=1024)
    cached_compile(TEXT, reserved_bytes=1024, max_swizzle="64B")
    assert len(compilations) == 1


def test_another_toolchain_compiles_again(folder, compilations, monkeypatch):
    cached_compile(TEXT)
    monkeypatch.setattr(cache, "toolchain", lambda: ("ptxas 14",))
    cached_compile(TEXT)
    assert len(compilations) == 2


def test_explain_always_compiles(folder, compilations):
    cached_compile(TEXT, explain=True)
    cached_compile(TEXT, explain=True)
    assert len(compilations) == 2


def test_a_failed_compilation_is_not_cached(folder):
    for _ in range(2):
        with pytest.raises(ir.MLIRError):
            cached_compile(WRONG)
    assert not folder.exists()


# The folder.


@pytest.mark.parametrize("named", ["", "off"])
def test_it_can_be_turned_off(monkeypatch, tmp_path, compilations, named):
    monkeypatch.setenv("MLIR_SMEM_CACHE", named)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    cached_compile(TEXT)
    cached_compile(TEXT)
    assert len(compilations) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "variable, under", [("XDG_CACHE_HOME", "mlir-smem"), ("HOME", ".cache/mlir-smem")]
)
def test_it_is_in_the_users_cache(monkeypatch, tmp_path, compilations, variable, under):
    for name in ("MLIR_SMEM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    cached_compile(TEXT)
    assert entry(tmp_path / under).suffix == ".kernel"


# Damaged entries.


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
        lambda data: data + b" ",
        lambda data: b"{}",
    ],
    ids=["empty", "of its checksum only", "cut", "a bit", "longer", "other"],
)
def test_a_damaged_entry_is_compiled_again(folder, compilations, damage):
    first = cached_compile(TEXT)
    file = entry(folder)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert cached_compile(TEXT) == first
    assert len(compilations) == 2
    assert entry(folder).read_bytes() == whole


def with_checksum(content):
    """Return an entry with this content and the right checksum."""
    return sha256(content).digest() + content


def content_edit(**parts):
    """Return an edit of an entry's content with the right checksum."""

    def change(data):
        entry = {**json.loads(data[32:]), **parts}
        return with_checksum(json.dumps({k: v for k, v in entry.items() if v is not None}).encode())

    return change


def kernels_edit(change):
    """Return an edit of the kernels of an entry's manifest."""

    def changing(data):
        manifest = json.loads(data[32:])["manifest"]
        return content_edit(manifest={**manifest, "kernels": change(manifest["kernels"])})(data)

    return changing


@pytest.mark.parametrize(
    "edit",
    [
        *(
            lambda data, c=c: with_checksum(c)
            for c in (b"", b"{}", b"[]", b"5", b"null", b"\xff", b"{")
        ),
        lambda data: with_checksum(b"[" * 100_000),
        content_edit(key="another"),
        content_edit(key=None),
        content_edit(cubin="not base64"),
        content_edit(cubin=5),
        content_edit(report=None),
        content_edit(report={"registers": 5}),
        content_edit(report={"registers": 5, "spill_bytes": 0, "warnings": 5}),
        content_edit(manifest=None),
        content_edit(manifest=[]),
        content_edit(manifest={}),
        content_edit(manifest={"version": 1, "arch": "sm_90a", "kernels": []}),
        content_edit(manifest={"version": 1, "arch": "sm_90a", "kernels": [{"entry": "product"}]}),
        content_edit(manifest={"version": 9, "arch": "sm_90a", "kernels": [{}]}),
        kernels_edit(lambda kernels: {"product": kernels[0]}),
        kernels_edit(lambda kernels: [{**kernels[0], "more": 1}]),
        kernels_edit(lambda kernels: [{k: v for k, v in kernels[0].items() if k != "grid"}]),
        kernels_edit(lambda kernels: [{**kernels[0], "arguments": [5]}]),
        kernels_edit(lambda kernels: [{**kernels[0], "arguments": 5}]),
        kernels_edit(
            lambda kernels: [{**kernels[0], "arguments": [{"kind": "memref", "name": "A"}]}]
        ),
        kernels_edit(lambda kernels: [{**kernels[0], "arguments": [{"kind": []}]}]),
    ],
)
def test_an_entry_with_other_content_is_compiled_again(folder, compilations, edit):
    first = cached_compile(TEXT)
    file = entry(folder)
    whole = file.read_bytes()
    file.write_bytes(edit(whole))
    assert not is_cached(TEXT)
    assert cached_compile(TEXT) == first
    assert len(compilations) == 2
    assert entry(folder).read_bytes() == whole


def test_the_entry_of_another_architecture_is_not_used(folder, compilations):
    cached_compile(TEXT)
    cached_compile(TEXT, "sm_100a")
    # The stand-in's entries both have the arch sm_90a; one replaces the other.
    assert is_cached(TEXT)
    assert not is_cached(TEXT, "sm_100a")


# Trust.


@pytest.fixture
def change_owner(monkeypatch):
    """Return a function that gives a file or folder another owner; all others stay the process's."""

    def change(path, user, process_user=1000):
        monkeypatch.setattr(cache.os, "geteuid", lambda: process_user)
        stat_, fstat = os.stat, os.fstat
        inode = path.stat().st_ino

        def with_owner(status):
            fields = list(status)
            fields[4] = user if status.st_ino == inode else process_user
            return os.stat_result(fields)

        monkeypatch.setattr(cache.os, "fstat", lambda handle: with_owner(fstat(handle)))
        monkeypatch.setattr(cache.Path, "stat", lambda self: with_owner(stat_(self)))

    return change


@pytest.mark.parametrize("target", ["folder", "file"])
@pytest.mark.parametrize("user, trusted", [(1000, True), (0, True), (1001, False)])
def test_entries_of_others_are_not_trusted(
    folder, compilations, change_owner, target, user, trusted
):
    cached_compile(TEXT)
    change_owner(folder if target == "folder" else entry(folder), user)
    assert is_cached(TEXT) == trusted


@pytest.mark.parametrize(
    "mode, trusted", [(0o600, True), (0o644, True), (0o664, False), (0o602, False)]
)
def test_entries_that_others_write_are_not_trusted(folder, compilations, mode, trusted):
    cached_compile(TEXT)
    entry(folder).chmod(mode)
    assert is_cached(TEXT) == trusted


def test_nothing_is_written_to_the_folder_of_another_user(folder, compilations, change_owner):
    folder.mkdir(parents=True)
    change_owner(folder, 1001)
    with pytest.warns(
        UserWarning, match=r"is not kept: .*belongs to another user.*MLIR_SMEM_CACHE"
    ):
        assert cached_compile(TEXT).cubin
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path, compilations, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match=r"the compiled kernel is not kept: .*MLIR_SMEM_CACHE can"):
        assert cached_compile(TEXT).cubin
    assert len(compilations) == 1


def test_a_failed_rename_leaves_no_file(folder, compilations, monkeypatch):
    def refuse(source, target):
        assert os.path.getsize(source) > 1000
        raise OSError("disk full")

    monkeypatch.setattr(cache.os, "replace", refuse)
    with pytest.warns(UserWarning, match="disk full"):
        cached_compile(TEXT)
    assert list(folder.iterdir()) == []


def test_several_processes_can_share_it(folder, compilations):
    kernels = []
    threads = [
        threading.Thread(target=lambda: kernels.extend(cached_compile(TEXT) for _ in range(20)))
        for _ in range(8)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(kernels) == 160
    assert all(cached == kernels[0] for cached in kernels)
    assert entry(folder).suffix == ".kernel"


# The toolchain.


def test_the_toolchain_is_named():
    names = [part.split()[0] for part in toolchain()]
    assert names == [
        "mlir-smem",
        "sources",
        versions.PACKAGE,
        "NVPTX",
        "ptxas",
        "libdevice",
    ]
    assert all(part.split()[1] != "None" for part in toolchain()[1:])


@pytest.mark.parametrize("folder_", ["layout", "dialect", "passes", "codegen"])
def test_changed_sources_change_the_digest(tmp_path, folder_):
    file = tmp_path / folder_ / "deeper" / "one.py"
    file.parent.mkdir(parents=True)
    file.write_text("1")
    digests = {versions._digest(tmp_path, versions._FOLDERS)}
    file.write_text("2")
    digests.add(versions._digest(tmp_path, versions._FOLDERS))
    file.rename(file.with_name("two.py"))
    digests.add(versions._digest(tmp_path, versions._FOLDERS))
    (tmp_path / folder_ / "more.py").touch()
    digests.add(versions._digest(tmp_path, versions._FOLDERS))
    assert len(digests) == 4


def test_bindings_that_are_not_installed_have_their_files_time(monkeypatch):
    monkeypatch.setattr(package_versions, "installed_version", lambda package: None)
    assert int(package_versions.version_of.__wrapped__(versions.PACKAGE)) > 0


def test_the_version_of_bindings_within_a_package():
    package = versions.PACKAGE.partition(".")[0]
    assert package_versions.version_of(f"{package}.within") == metadata.version(package)


def test_no_ptxas(monkeypatch, folder):
    def none():
        raise CompileError("ptxas was not found")

    for function in (toolchain, ptxas.ptxas_version):
        function.cache_clear()
    monkeypatch.setattr(ptxas, "find_ptxas", none)
    with pytest.raises(CompileError, match="ptxas was not found"):
        cached_compile(module(kernel("", arguments="")))
