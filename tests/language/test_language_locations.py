"""Passes, the checker and the emulator point at the line of a kernel, and so does the PTX."""

import inspect
import re

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.examples.matmul import matmul
from mlir_smem.runtime import run_on_cpu

F, B = sl.f32, sl.bf16


def line_of(function, text):
    """Return the number of the only line of a function that holds a text."""
    lines, first = inspect.getsourcelines(function)
    (number,) = [first + i for i, line in enumerate(lines) if text in line]
    return number


def test_an_error_of_the_checker_points_at_the_line():
    def kernel(A, D):
        a = sl.alloc((64, 64), sl.bf16)
        sl.copy(A, a)
        acc = sl.mma(a, a)
        sl.store(sl.wait(acc), D)

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(64,64), (64,64)", sync="manual")(kernel).check(B, F)
    error = caught.value
    assert error.position.file == __file__
    assert error.position.line == line_of(kernel, "sl.mma")
    text = str(error).splitlines()
    assert text[0].startswith(f"{error.position}: 'smem.mma' op ")
    assert error.position.column == 15
    assert text[1:] == ["    acc = sl.mma(a, a)", "          ^"]


def test_what_is_not_proven_is_a_remark_at_the_line():
    def kernel(A, D, n):
        pipe, a = sl.pipeline(2), sl.alloc((2, 64, 64), sl.bf16)
        with sl.warp_specialize():
            with sl.partition(), sl.elect(), pipe.producer(n) as stage:
                sl.tma_load(A[0:64, :], a[stage], stage)
            with sl.partition(), pipe.consumer(n) as stage:
                sl.store(sl.wait(sl.mma(a[stage], a[stage])), D)

    decorate = sl.kernel("(64,64), (64,64), ():index", warpgroups=2, sync="manual")
    remarks = decorate(kernel).check(B, F, sl.index)
    assert remarks
    lines, first = inspect.getsourcelines(kernel)
    for remark in remarks:
        assert remark.position.file == __file__
        assert first <= remark.position.line < first + len(lines)
        assert ": remark: " in str(remark)


def test_the_matmul_is_proven():
    assert matmul.check(B, B, B) == ()


def test_layouts_are_explained_at_the_line():
    remarks = matmul.explain(B, B, B)
    lines = {remark.position.line for remark in remarks if remark.position}
    assert line_of(matmul.function, "sl.alloc") in lines
    assert "128B" in str(remarks)


def test_the_emulator_points_at_the_line():
    def kernel(A, D):
        sl.assume(A.shape[0] > 64)
        sl.store(sl.load(A[0:64, :]), D)

    traced = sl.kernel("(M,64), (64,64)", sync="manual")(kernel)
    compiled = traced.compile(F, F, emit="nvvm")
    with pytest.raises(Exception, match=re.escape(__file__)) as caught:
        run_on_cpu(compiled, None, {"A": np.zeros((64, 64), np.float32)}, ["D"], grid=(1,))
    assert f"{__file__}:{line_of(kernel, 'sl.assume(')}:" in str(caught.value)


def test_the_ptx_names_the_python_file():
    ptx = matmul.ptx(B, B, B, debug_info="lines")
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', ptx, re.M))
    (number,) = [n for n, name in files.items() if name.endswith("matmul.py")]
    lines = {int(line) for n, line in re.findall(r"\.loc\s+(\d+)\s+(\d+)", ptx) if n == number}
    assert line_of(matmul.function, "sl.mma(") in lines
    assert line_of(matmul.function, "sl.copy(A") in lines


def test_a_function_that_the_kernel_calls_is_located_with_the_call():
    def kernel(A, D):
        def twice(x):
            return x * 2.0

        sl.store(twice(sl.load(A)), D)

    text = sl.kernel("(64,64), (64,64)", sync="manual")(kernel).mlir(F, F, locations=True)
    inner, outer = line_of(kernel, "return x"), line_of(kernel, "sl.store")
    assert f'test_language_locations.py":{inner}:' in text
    assert f'test_language_locations.py":{outer}:' in text
    assert "callsite(" in text


def test_a_file_in_the_current_folder_is_shown_by_its_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.py").write_text("one\n  two(three)\n")
    error = sl.TraceError("is wrong", sl.Position(str(tmp_path / "here.py"), 2, 7, 12))
    assert str(error) == "here.py:2:7: is wrong\n    two(three)\n        ^~~~~"
    assert str(sl.Position("/elsewhere/here.py", 3)) == "/elsewhere/here.py:3"
    assert str(sl.TraceError("is wrong", sl.Position("/elsewhere/here.py", 3))).endswith("is wrong")


def test_the_tools_show_the_line_of_the_kernel(tmp_path, capsys):
    def kernel(A, D):
        a = sl.alloc((64, 64), sl.bf16)
        sl.copy(A, a)
        sl.store(sl.wait(sl.mma(a, a)), D)

    from mlir_smem.tools.smem_opt import smem_opt

    text = sl.kernel("(64,64), (64,64)", sync="manual")(kernel).mlir(B, F, locations=True)
    (tmp_path / "kernel.mlir").write_text(text)
    assert smem_opt(["--smem-to-nvvm", str(tmp_path / "kernel.mlir")]) == 1
    lines = capsys.readouterr().err.splitlines()
    number = line_of(kernel, "sl.mma")
    assert lines[0].startswith(f"{__file__}:{number}:26: error: 'smem.mma' op ")
    assert lines[1:3] == ["          sl.store(sl.wait(sl.mma(a, a)), D)", " " * 27 + "^"]
