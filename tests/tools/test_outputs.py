"""Outputs are written all or none, and an error does not lose existing files."""

import os
import shutil
import stat

import pytest
from programs import WRONG, module

from mlir_smem.tools import outputs
from mlir_smem.tools.inputs import InputError
from mlir_smem.tools.module_input import read
from mlir_smem.tools.outputs import write_all
from mlir_smem.tools.smem_compile import smem_compile
from mlir_smem.tools.smem_opt import smem_opt


def content(folder):
    """Return the names and contents of a folder's files."""
    return {p.name: p.read_bytes() if p.is_file() else None for p in folder.iterdir()}


def write_error(*files):
    with pytest.raises(InputError) as error:
        write_all(files)
    return str(error.value)


def test_text_and_bytes(tmp_path):
    write_all([(str(tmp_path / "a"), "text µ\n"), (str(tmp_path / "b"), b"\x00\xff")])
    assert content(tmp_path) == {"a": "text µ\n".encode(), "b": b"\x00\xff"}


def test_an_existing_file_is_replaced(tmp_path):
    path = tmp_path / "a"
    path.write_text("a long text that was there before")
    write_all([(str(path), "new")])
    assert content(tmp_path) == {"a": b"new"}


def test_a_relative_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_all([("a", "new")])
    assert content(tmp_path) == {"a": b"new"}


def test_standard_output(capsysbinary):
    write_all([("-", "text\n"), ("-", b"\x00\xff")])
    assert capsysbinary.readouterr().out == b"text\n\x00\xff"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask, permissions", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_output_has_what_the_umask_leaves(tmp_path, mask, permissions):
    before = os.umask(mask)
    try:
        write_all([(str(tmp_path / "a"), "new")])
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == permissions


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o666, 0o755])
def test_an_output_keeps_its_permissions(tmp_path, permissions):
    path = tmp_path / "a"
    path.write_text("before")
    path.chmod(permissions)
    write_all([(str(path), "new")])
    assert (mode(path), path.read_text()) == (permissions, "new")


def test_an_output_is_private_until_it_has_its_permissions(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("before")
    path.chmod(0o600)
    modes, fdopen = [], os.fdopen

    def look(handle, how):
        modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return fdopen(handle, how)

    monkeypatch.setattr(outputs.os, "fdopen", look)
    write_all([(str(path), "new")])
    assert modes == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_an_output_keeps_its_owner(tmp_path):
    path = tmp_path / "a"
    path.write_text("before")
    os.chown(path, 12, 34)
    write_all([(str(path), "new")])
    assert (path.stat().st_uid, path.stat().st_gid) == (12, 34)


def test_an_owner_that_cannot_be_kept(tmp_path, monkeypatch):
    calls = []

    def chown(_, owner, group):
        calls.append((owner, group))
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "a"
    path.write_text("before")
    monkeypatch.setattr(outputs.os, "chown", chown)
    write_all([(str(path), "new")])
    status = path.stat()
    assert path.read_text() == "new"
    assert calls == [(status.st_uid, status.st_gid), (-1, status.st_gid)]


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("before")
    path.chmod(0o444)
    # Root can write anywhere: permissions have no effect.
    monkeypatch.setattr(outputs.os, "access", lambda *_: False)
    assert write_error((str(path), "new")) == f"{path}: Permission denied"
    assert content(tmp_path) == {"a": b"before"}


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "nowhere" / "a"
    assert write_error((str(path), "new")) == f"{path}: No such file or directory"


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "a").mkdir()
    assert write_error((str(tmp_path / "a"), "new")) == f"{tmp_path / 'a'}: Is a directory"
    assert content(tmp_path) == {"a": None}


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def open_(*_):
        raise PermissionError(13, "Permission denied")

    # Root can write anywhere: permissions have no effect.
    monkeypatch.setattr(outputs.os, "open", open_)
    assert write_error((str(tmp_path / "a"), "new")) == f"{tmp_path / 'a'}: Permission denied"
    assert content(tmp_path) == {}


@pytest.fixture
def fill_disk(monkeypatch):
    """Simulate a full disk after a number of bytes."""

    def fill(after):
        written = 0
        fdopen = os.fdopen

        def open_limited(handle, mode):
            file = fdopen(handle, mode)
            write = file.write

            def count(data):
                nonlocal written
                written += len(data)
                if written > after:
                    raise OSError(28, "No space left on device")
                return write(data)

            class Limited:
                def __enter__(self):
                    return self

                def __exit__(self, *_):
                    file.close()

                def write(self, data):
                    return count(data)

            return Limited()

        monkeypatch.setattr(outputs.os, "fdopen", open_limited)

    return fill


@pytest.mark.parametrize("after", [0, 5], ids=["the first", "the second"])
def test_a_full_disk_leaves_nothing(tmp_path, fill_disk, after):
    fill_disk(after)
    name = "ab"[after > 0]
    message = write_error((str(tmp_path / "a"), "four"), (str(tmp_path / "b"), "four"))
    assert message == f"{tmp_path / name}: No space left on device"
    assert content(tmp_path) == {}


def test_a_full_disk_keeps_existing_files(tmp_path, fill_disk):
    (tmp_path / "a").write_text("before")
    fill_disk(0)
    write_error((str(tmp_path / "a"), "new"))
    assert content(tmp_path) == {"a": b"before"}


def test_a_file_that_cannot_be_written_keeps_the_others_from_being_replaced(tmp_path):
    (tmp_path / "a").write_text("before")
    write_error((str(tmp_path / "a"), "new"), (str(tmp_path / "nowhere" / "b"), "new"))
    assert content(tmp_path) == {"a": b"before"}


def test_a_folder_in_the_place_of_one_keeps_the_others_from_being_replaced(tmp_path):
    (tmp_path / "a").write_text("before")
    (tmp_path / "b").mkdir()
    write_error((str(tmp_path / "a"), "new"), (str(tmp_path / "b"), "new"))
    assert content(tmp_path) == {"a": b"before", "b": None}


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(outputs.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_all([(str(tmp_path / "a"), "new")])
    assert content(tmp_path) == {}


@pytest.fixture
def fail_rename(monkeypatch):
    """Let the rename of a file fail."""

    def keep_out(name, error):
        replace = os.replace

        def refuse(source, target):
            if os.path.basename(target) == name and source.endswith(".new"):
                raise error
            replace(source, target)

        monkeypatch.setattr(outputs.os, "replace", refuse)

    return keep_out


BUSY = OSError(16, "Device or resource busy")


def test_renamed_files_are_reverted(tmp_path, fail_rename):
    (tmp_path / "a").write_text("before")
    (tmp_path / "a").chmod(0o640)
    inode = (tmp_path / "a").stat().st_ino
    fail_rename("c", BUSY)
    names = [str(tmp_path / name) for name in "abcd"]
    assert write_error(*((name, "new") for name in names)) == f"{names[2]}: Device or resource busy"
    assert content(tmp_path) == {"a": b"before"}
    assert ((tmp_path / "a").stat().st_ino, mode(tmp_path / "a")) == (inode, 0o640)


def test_an_interruption_between_two_files_keeps_existing_files(tmp_path, fail_rename):
    (tmp_path / "a").write_text("before")
    fail_rename("b", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write_all([(str(tmp_path / name), "new") for name in "ab"])
    assert content(tmp_path) == {"a": b"before"}


def test_a_file_system_without_links_loses_nothing(tmp_path, fail_rename, monkeypatch):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a").write_text("before")
    monkeypatch.setattr(outputs.os, "link", link)
    fail_rename("b", BUSY)
    write_error((str(tmp_path / "a"), "new"), (str(tmp_path / "b"), "new"))
    assert content(tmp_path) == {"a": b"new"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_a_stream_that_cannot_be_written_reverts_the_files(tmp_path):
    (tmp_path / "a").write_text("before")
    files = [(str(tmp_path / "a"), "new"), ("/dev/full", "new"), (str(tmp_path / "b"), "new")]
    assert write_error(*files) == "/dev/full: No space left on device"
    assert content(tmp_path) == {"a": b"before"}


def test_two_outputs_with_one_path(tmp_path):
    (tmp_path / "link").symlink_to("a")
    a, link = str(tmp_path / "a"), str(tmp_path / "link")
    assert (
        write_error((a, "one"), (link, "two"))
        == f"{link}: is the path of two outputs ({a} and {link})"
    )
    assert content(tmp_path) == {"link": None}


def test_a_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_all([(str(pipe), "new")])
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    write_all([(str(tmp_path / "link"), "new")])
    assert (tmp_path / "file").read_text() == "new"


# The commands.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a valid module, an invalid one and outputs of an earlier run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.mlir").write_text(module())
    (tmp_path / "wrong.mlir").write_text(WRONG)
    (tmp_path / "out").write_text("before")
    (tmp_path / "out.json").write_text("before")
    return tmp_path


COMMANDS = {
    "smem-opt": lambda *a: smem_opt(["--smem-to-nvvm", *a]),
    "smem-compile": lambda *a: smem_compile(["--emit=nvvm", *a]),
}
each_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@each_command
def test_an_error_leaves_the_folder_as_it_was(folder, command):
    before = content(folder)
    assert command("wrong.mlir", "-o", "out") == 1
    assert content(folder) == before


@each_command
def test_a_full_disk_leaves_the_folder_as_it_was(folder, command, fill_disk, capsys):
    before = content(folder)
    fill_disk(0)
    assert command("good.mlir", "-o", "out") == 1
    assert capsys.readouterr().err.endswith("error: out: No space left on device\n")
    assert content(folder) == before


@each_command
def test_a_missing_folder_is_reported(folder, command, capsys):
    assert command("good.mlir", "-o", "nowhere/out") == 1
    assert "error: nowhere/out: No such file or directory" in capsys.readouterr().err


def test_a_manifest_that_cannot_be_written_leaves_no_code(folder, fill_disk):
    from mlir_smem import compile

    fill_disk(len(compile(module(), emit="nvvm").nvvm.encode()))
    assert smem_compile(["good.mlir", "--emit=nvvm", "-o", "new"]) == 1
    assert "new" not in content(folder)
    assert not [name for name in content(folder) if name.startswith(".")]


def test_a_folder_in_the_manifests_place_leaves_no_code(folder):
    (folder / "out.json").unlink()
    (folder / "out.json").mkdir()
    before = content(folder)
    assert smem_compile(["good.mlir", "--emit=nvvm", "-o", "out"]) == 1
    assert content(folder) == before


def test_the_input_may_be_the_output(folder):
    assert smem_opt(["good.mlir", "-o", "good.mlir", "--smem-to-nvvm"]) == 0
    assert "llvm.mlir.global" in (folder / "good.mlir").read_text()


def test_what_can_be_written_can_be_read(folder):
    shutil.copy("good.mlir", "copy.mlir")
    assert read("copy.mlir") == module()
