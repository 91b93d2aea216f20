"""`mlir_smem.examples`: the names, the paths and the copies of the examples."""

from pathlib import Path

import pytest

from mlir_smem import examples
from mlir_smem.examples.__main__ import main

FOLDER = Path(__file__).parents[2] / "examples"


def test_names_are_the_examples_of_the_tree():
    files = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*.*")
        if path.suffix in (".mlir", ".py") and "__" not in path.name
    }
    assert examples.names() == sorted(files)
    assert {"build_matmul.py", "matmul.mlir"} <= files


def test_path():
    assert examples.path("mma.mlir").read_text() == (FOLDER / "mma.mlir").read_text()


@pytest.mark.parametrize("name", ["gemm.mlir", "__init__.py", "../README.md", ""])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError) as error:
        examples.path(name)
    assert str(error.value) == (
        f"there is no example {name!r}; there are {', '.join(examples.names())}"
    )


def test_the_command_copies_all(tmp_path, capsys):
    assert main([str(tmp_path / "new")]) == 0
    copies = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [copy.relative_to(tmp_path / "new").as_posix() for copy in copies] == examples.names()
    for copy, name in zip(copies, examples.names(), strict=True):
        assert copy.read_bytes() == (FOLDER / name).read_bytes()


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"]])
def test_the_command_says_how_it_is_used(arguments, capsys):
    assert main(arguments) == 1
    assert capsys.readouterr().err == "usage: python -m mlir_smem.examples FOLDER\n"


def test_a_folder_that_cannot_be_written(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    assert main([str(file)]) == 1
    assert capsys.readouterr().err == (
        f"python -m mlir_smem.examples: error: {file}: File exists\n"
    )
