"""The commands read bytecode, also from standard input, and `smem-opt` writes it."""

import io
import signal
import subprocess
import sys

import pytest
from programs import kernel, module, tile

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.tools import module_input
from mlir_smem.tools.inputs import InputError
from mlir_smem.tools.module_input import read
from mlir_smem.tools.smem_compile import smem_compile
from mlir_smem.tools.smem_opt import smem_opt


def bytecode_of(text):
    with new_context():
        buffer = io.BytesIO()
        ir.Module.parse(text).operation.write_bytecode(buffer)
        return buffer.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "in.mlirbc"
    path.write_bytes(bytecode_of(module()))
    return str(path)


def test_bytecode_is_lowered_as_its_text(run_command, file):
    assert run_command(smem_opt, file, "--smem-to-nvvm") == run_command(
        smem_opt, "--smem-to-nvvm", text=module()
    )


def test_bytecode_from_standard_input(file):
    with open(file, "rb") as data:
        process = subprocess.run(
            [sys.executable, "-c", "from mlir_smem.tools.entry import smem_opt; smem_opt()", "-"],
            stdin=data,
            capture_output=True,
            text=True,
            check=True,
        )
    with new_context():
        assert process.stdout == str(ir.Module.parse(module()))


def test_bytecode_is_compiled(run_command, file, tmp_path):
    out = str(tmp_path / "out.ptx")
    assert run_command(smem_compile, file, "--emit=ptx", "-o", out)[0] == 0
    expected = str(tmp_path / "expected.ptx")
    assert run_command(smem_compile, "-", "--emit=ptx", "-o", expected, text=module())[0] == 0
    with open(out) as ptx, open(expected) as expected_ptx:
        assert ptx.read() == expected_ptx.read()


def test_bytecode_is_written(run_command, tmp_path):
    path = tmp_path / "out.mlirbc"
    assert run_command(smem_opt, "--emit-bytecode", "-o", str(path), text=module()) == (0, "", "")
    assert path.read_bytes() == bytecode_of(module())
    assert run_command(smem_opt, str(path))[1] == run_command(smem_opt, text=module())[1]


def test_an_older_version_is_written(run_command, tmp_path):
    path = tmp_path / "out.mlirbc"
    options = ["--emit-bytecode", "--emit-bytecode-version=3", "-o", str(path)]
    assert run_command(smem_opt, *options, text="module {}")[0] == 0
    # A number of one byte is written as 2n + 1; the producer's name follows.
    assert path.read_bytes()[4] == 2 * 3 + 1


def test_a_version_that_is_not_known(run_command):
    options = ["--emit-bytecode", "--emit-bytecode-version=99"]
    assert run_command(smem_opt, *options, text="module {}") == (
        1,
        "",
        "smem-opt: error: --emit-bytecode-version: Unable to honor desired bytecode version 99\n",
    )


def test_parts_are_not_written_as_bytecode(run_command):
    options = ["--emit-bytecode", "--split-input-file"]
    text = "module {}\n// -----\nmodule {}\n"
    assert run_command(smem_opt, *options, text=text)[2] == (
        "smem-opt: error: --emit-bytecode: the input has 2 parts; expected one\n"
    )


def test_an_error_in_bytecode_has_its_location(run_command, tmp_path):
    path = tmp_path / "in.mlirbc"
    wrong = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":7:3)'))
    path.write_bytes(bytecode_of(wrong))
    code, out, err = run_command(smem_opt, str(path), "--smem-to-nvvm")
    assert (code, out) == (1, "")
    assert err.startswith("host.py:7:3: error: 'smem.alloc' op has no layout")


def test_truncated_bytecode(run_command, file):
    with open(file, "r+b") as data:
        data.truncate(100)
    code, out, err = run_command(smem_opt, file)
    assert (code, out) == (1, "")
    assert f"{file}: error: " in err


def test_bytecode_that_ends_the_reader(monkeypatch, file):
    monkeypatch.setattr(module_input, "_PARSE", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(InputError) as error:
        read(file)
    assert str(error.value) == (
        f"{file}: is damaged bytecode: MLIR's reader ends by signal {signal.SIGKILL.value}"
    )
