"""The assembler: the search for it, and the errors if there is none or it refuses the PTX."""

import stat

import pytest

from mlir_smem.codegen import CompileError, ptxas

EMPTY = ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry f() { ret; }\n"


@pytest.fixture(autouse=True)
def clear_cached_path():
    """Clear the cached path of the assembler: each test searches for it."""
    ptxas.find_ptxas.cache_clear()
    yield
    ptxas.find_ptxas.cache_clear()


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a stand-in for ptxas."""

    def make(text, mode=stat.S_IRWXU):
        path = tmp_path / "ptxas"
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return make


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.delenv("MLIR_SMEM_PTXAS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ptxas.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_it_assembles():
    cubin, report = ptxas.assemble(EMPTY, "sm_90a")
    assert cubin.startswith(b"\x7fELF")
    assert (report.spill_bytes, report.warnings) == (0, ())


def test_the_environment_variable_comes_first(monkeypatch, program):
    path = program("#!/bin/sh\n")
    monkeypatch.setenv("MLIR_SMEM_PTXAS", path)
    assert ptxas.find_ptxas() == path


def test_the_wheel_comes_before_the_path(monkeypatch, program, tmp_path):
    monkeypatch.delenv("MLIR_SMEM_PTXAS", raising=False)
    program("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not ptxas.find_ptxas().startswith(str(tmp_path))


def test_ptxas_on_the_path(nothing_installed, program):
    path = program("#!/bin/sh\n")
    assert ptxas.find_ptxas() == path


def test_no_ptxas_is_found(nothing_installed):
    with pytest.raises(CompileError) as error:
        ptxas.find_ptxas()
    assert str(error.value) == (
        "ptxas was not found; install nvidia-cuda-nvcc, or name it in MLIR_SMEM_PTXAS "
        "(--emit=ptx does not need it)"
    )


def test_a_later_installation_is_found(nothing_installed, program):
    with pytest.raises(CompileError):
        ptxas.find_ptxas()
    path = program("#!/bin/sh\n")
    assert ptxas.find_ptxas() == path


@pytest.mark.parametrize("mode", [None, stat.S_IRUSR])
def test_a_named_ptxas_that_cannot_be_run(monkeypatch, program, tmp_path, mode):
    path = str(tmp_path / "nowhere") if mode is None else program("", mode)
    monkeypatch.setenv("MLIR_SMEM_PTXAS", path)
    with pytest.raises(CompileError) as error:
        ptxas.assemble(EMPTY, "sm_90a")
    assert str(error.value) == f"MLIR_SMEM_PTXAS names '{path}', which cannot be run"


def test_a_folder_cannot_be_run(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", str(tmp_path))
    with pytest.raises(CompileError, match="which cannot be run"):
        ptxas.find_ptxas()


def test_a_file_that_is_not_a_program(monkeypatch, program):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", program("no program"))
    with pytest.raises(CompileError, match="ptxas cannot be run: Exec format error"):
        ptxas.assemble(EMPTY, "sm_90a")


def test_an_error_has_ptxas_output():
    with pytest.raises(CompileError) as error:
        ptxas.assemble(EMPTY.replace("ret;", "retire;"), "sm_90a")
    assert str(error.value).startswith("ptxas refuses the PTX:\n")
    assert "retire" in str(error.value)


def test_an_architecture_that_it_does_not_know():
    with pytest.raises(CompileError, match="sm_1'"):
        ptxas.assemble(EMPTY, "sm_1")


def test_it_fails_without_output(monkeypatch, program):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", program("#!/bin/sh\nexit 1\n"))
    with pytest.raises(CompileError, match="ptxas refuses the PTX"):
        ptxas.assemble(EMPTY, "sm_90a")


def test_it_succeeds_without_a_cubin(monkeypatch, program):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", program("#!/bin/sh\nexit 0\n"))
    with pytest.raises(CompileError):
        ptxas.assemble(EMPTY, "sm_90a")


def test_the_report_is_of_the_largest_kernel():
    output = """
ptxas info    : Used 40 registers, used 1 barriers
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
"""
    report = ptxas._report(output)
    assert (report.registers, report.spill_bytes, len(report.warnings)) == (168, 16, 1)
    assert "C7510" in report.warnings[0]
