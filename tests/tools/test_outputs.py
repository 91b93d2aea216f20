"""Outputs are there whole or not at all, and what was there before is not lost to an error."""

import os
import shutil
import stat

import pytest
from programs import WRONG, module

from mlir_smem.tools import inputs
from mlir_smem.tools.inputs import InputError, read, write_all
from mlir_smem.tools.smem_compile import smem_compile
from mlir_smem.tools.smem_opt import smem_opt


def content(folder):
    """Everything in a folder: names and what they hold."""
    return {p.name: p.read_bytes() if p.is_file() else None for p in folder.iterdir()}


def refused(*files):
    with pytest.raises(InputError) as error:
        write_all(files)
    return str(error.value)


def test_text_and_bytes(tmp_path):
    write_all([(str(tmp_path / "a"), "text µ\n"), (str(tmp_path / "b"), b"\x00\xff")])
    assert content(tmp_path) == {"a": "text µ\n".encode(), "b": b"\x00\xff"}


def test_what_was_there_is_replaced(tmp_path):
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


def test_an_output_can_be_read_by_others(tmp_path):
    write_all([(str(tmp_path / "a"), "new")])
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "nowhere" / "a"
    assert refused((str(path), "new")) == f"{path}: No such file or directory"


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "a").mkdir()
    assert refused((str(tmp_path / "a"), "new")) == f"{tmp_path / 'a'}: Is a directory"
    assert content(tmp_path) == {"a": None}


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def mkstemp(**_):
        raise PermissionError(13, "Permission denied")

    # Root may write anywhere, so that permissions alone would not tell.
    monkeypatch.setattr("tempfile.mkstemp", mkstemp)
    assert refused((str(tmp_path / "a"), "new")) == f"{tmp_path / 'a'}: Permission denied"
    assert content(tmp_path) == {}


@pytest.fixture
def full(monkeypatch):
    """Makes the disk full once so many bytes are written."""

    def fill(after):
        written = 0
        fdopen = os.fdopen

        def limited(handle, mode):
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

        monkeypatch.setattr(inputs.os, "fdopen", limited)

    return fill


@pytest.mark.parametrize("after", [0, 5], ids=["the first", "the second"])
def test_a_full_disk_leaves_nothing(tmp_path, full, after):
    full(after)
    name = "ab"[after > 0]
    message = refused((str(tmp_path / "a"), "four"), (str(tmp_path / "b"), "four"))
    assert message == f"{tmp_path / name}: No space left on device"
    assert content(tmp_path) == {}


def test_a_full_disk_leaves_what_was_there(tmp_path, full):
    (tmp_path / "a").write_text("before")
    full(0)
    refused((str(tmp_path / "a"), "new"))
    assert content(tmp_path) == {"a": b"before"}


def test_a_file_that_cannot_be_written_keeps_the_others_from_being_replaced(tmp_path):
    (tmp_path / "a").write_text("before")
    refused((str(tmp_path / "a"), "new"), (str(tmp_path / "nowhere" / "b"), "new"))
    assert content(tmp_path) == {"a": b"before"}


def test_a_folder_in_the_place_of_one_keeps_the_others_from_being_replaced(tmp_path):
    (tmp_path / "a").write_text("before")
    (tmp_path / "b").mkdir()
    refused((str(tmp_path / "a"), "new"), (str(tmp_path / "b"), "new"))
    assert content(tmp_path) == {"a": b"before", "b": None}


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(inputs.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_all([(str(tmp_path / "a"), "new")])
    assert content(tmp_path) == {}


def test_what_is_no_file_is_written_to(tmp_path):
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
    """A folder with a good module, a wrong one and outputs of an earlier run."""
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
def test_a_full_disk_leaves_the_folder_as_it_was(folder, command, full, capsys):
    before = content(folder)
    full(0)
    assert command("good.mlir", "-o", "out") == 1
    assert capsys.readouterr().err.endswith("error: out: No space left on device\n")
    assert content(folder) == before


@each_command
def test_a_missing_folder_is_said(folder, command, capsys):
    assert command("good.mlir", "-o", "nowhere/out") == 1
    assert "error: nowhere/out: No such file or directory" in capsys.readouterr().err


def test_a_manifest_that_cannot_be_written_leaves_no_code(folder, full):
    from mlir_smem import compile

    full(len(compile(module(), emit="nvvm").nvvm.encode()))
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
