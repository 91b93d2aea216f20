"""`smem-run` as a function, with NumPy in place of a GPU."""

from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from line_tables import files
from programs import COMPLAINT, WRONG, kernel, module

from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.arguments import host_arrays, kernel_named
from mlir_smem.tools import smem_run as command
from mlir_smem.tools.inputs import InputError
from mlir_smem.tools.smem_run import smem_run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a kernel, its arrays, and other arrays."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "product.mlir").write_text(module())
    (tmp_path / "wrong.mlir").write_text(WRONG)
    (tmp_path / "two.mlir").write_text(module(kernel(), kernel(name="second")))
    np.save("a.npy", np.random.default_rng(1).integers(-4, 5, (64, 64)).astype(np.float32))
    np.save("b.npy", np.random.default_rng(2).integers(-4, 5, (64, 8)).astype(np.float32))
    np.save("integers.npy", np.ones((64, 64), np.int32))
    return tmp_path


@pytest.fixture
def launches(monkeypatch):
    """Replace the GPU with NumPy; return the list of launches."""
    asked = []

    def product(compiled, entry, inputs, outputs, grid=None):
        asked.append((entry, list(inputs), outputs, grid))
        arrays = host_arrays(kernel_named(compiled.manifest, entry), inputs, outputs)
        arrays["D"][:] = inputs["A"].astype(np.float32) @ inputs["B"].astype(np.float32)
        return {name: arrays[name] for name in outputs}

    monkeypatch.setattr(command, "run_on_gpu", product)
    return asked


@pytest.fixture
def run(folder, run_command):
    """Run the command; return (exit code, standard output, standard error)."""
    return partial(run_command, smem_run)


ARRAYS = ("--in", "A=a.npy", "--in", "B=b.npy", "--out", "D=d.npy")


def test_arrays_go_in_and_come_out(run, folder, launches):
    assert run("product.mlir", *ARRAYS) == (0, "", "D: [64, 8] float32 in d.npy\n")
    assert (np.load("d.npy") == np.load("a.npy") @ np.load("b.npy")).all()
    assert launches == [(None, ["A", "B"], ["D"], None)]


def test_lines_name_the_input(run, folder, monkeypatch):
    compiled_with = []

    def product(compiled, entry, inputs, outputs, grid=None):
        compiled_with.append(files(compiled.ptx))
        return {name: np.zeros((64, 8), np.float32) for name in outputs}

    monkeypatch.setattr(command, "run_on_gpu", product)
    for option in ("--debug-info=lines", "--debug-info=none"):
        assert run("product.mlir", *ARRAYS, option)[0] == 0
    assert compiled_with == [{1: str(folder / "product.mlir")}, {}]


def test_standard_input(run, launches):
    assert run("-", *ARRAYS, text=module())[0] == 0


def test_the_kernel_and_the_grid_are_passed_on(run, launches):
    assert run("two.mlir", "--entry", "second", "--grid", "3,2", *ARRAYS)[0] == 0
    assert launches == [("second", ["A", "B"], ["D"], [3, 2])]


def test_bf16_comes_out_as_f32(run, launches, folder):
    assert run("product.mlir", *ARRAYS, "--out", "A=a_out.npy")[0] == 0
    assert np.load("a_out.npy").dtype == np.float32


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_several_outputs_come_out_all_or_none(run, launches, folder):
    (folder / "d.npy").write_text("before")
    before = content(folder)
    code, _, err = run("product.mlir", *ARRAYS, "--out", "A=nowhere/a.npy")
    assert (code, err) == (1, "smem-run: error: nowhere/a.npy: No such file or directory\n")
    assert content(folder) == before


@pytest.mark.parametrize(
    "more, message",
    [
        (("--out", "D=e.npy"), "--out has D twice: d.npy and e.npy"),
        (("--in", "A=b.npy"), "--in has A twice: a.npy and b.npy"),
        (("--out", "A=./d.npy"), "./d.npy: is the path of two outputs (d.npy and ./d.npy)"),
    ],
)
def test_arguments_that_are_given_twice(run, launches, folder, more, message):
    before = content(folder)
    assert run("product.mlir", *ARRAYS, *more) == (1, "", f"smem-run: error: {message}\n")
    assert content(folder) == before


def test_raw_bf16_goes_in(run, launches):
    raw = np.load("a.npy").astype(ml_dtypes.bfloat16).view(np.uint16)
    np.save("raw.npy", raw)
    arrays = ("--in", "A=raw.npy", "--in", "B=b.npy", "--out", "D=d.npy")
    assert run("product.mlir", *arrays)[0] == 0
    assert (np.load("d.npy") == np.load("a.npy") @ np.load("b.npy")).all()


def test_a_file_name_may_contain_an_equals_sign(run, launches):
    assert run("product.mlir", *ARRAYS[:4], "--out", "D=d=1.npy")[0] == 0
    assert np.load("d=1.npy").shape == (64, 8)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--in", "A"], "--in takes NAME=FILE, not 'A'"),
        (["--in", "=a.npy"], "--in takes NAME=FILE, not '=a.npy'"),
        (["--in", "A="], "--in takes NAME=FILE, not 'A='"),
        (["--out", "D"], "--out takes NAME=FILE, not 'D'"),
        ([*ARRAYS, "--in", "X=a.npy"], "--in X: product has A, B, D"),
        ([*ARRAYS, "--out", "Y=y.npy"], "product has no argument Y; it has A, B, D"),
        (
            ["--in", "A=nowhere.npy", "--out", "D=d.npy"],
            "A: nowhere.npy: No such file or directory",
        ),
        (["--in", "A=product.mlir", "--out", "D=d.npy"], "A: product.mlir is not a .npy file: "),
        (
            ["--in", "A=integers.npy", "--out", "D=d.npy"],
            "A: integers.npy has elements of int32; expected bfloat16",
        ),
        (["--in", "A=a.npy", "--out", "D=d.npy"], "nothing is given for B"),
        (["--in", "A=b.npy", *ARRAYS[2:]], "A is [64, 8]; expected [64, 64]"),
        ([*ARRAYS, "--on", "tpu"], "argument --on: invalid choice: 'tpu'"),
        ([*ARRAYS, "--grid", "many"], "--grid takes up to three numbers such as 16,32, not 'many'"),
        ([*ARRAYS, "--grid", "1,"], "--grid takes up to three numbers such as 16,32, not '1,'"),
        ([*ARRAYS, "--grid", "1.5"], "--grid takes up to three numbers such as 16,32, not '1.5'"),
        ([*ARRAYS, "--grid", ""], "--grid takes up to three numbers such as 16,32, not ''"),
        (
            [*ARRAYS, "--arch", "sm_80"],
            "no code is generated for 'sm_80'; expected sm_90a or sm_100a or sm_103a",
        ),
        ([*ARRAYS, "--entry", "other"], "no kernel is named 'other'; the module has product"),
        (ARRAYS[:4], "no output; give --out Y=y.npy"),
    ],
)
def test_misuse_is_one_message(run, launches, folder, arguments, message):
    before = sorted(p.name for p in folder.iterdir())
    code, out, err = run("product.mlir", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("smem-run: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_kernel_must_be_named_among_several(run, launches):
    assert run("two.mlir", *ARRAYS) == (
        1,
        "",
        "smem-run: error: name a kernel; the module has product, second\n",
    )


@pytest.mark.parametrize("grid", ["1,2,3,4", "0", "-1,1"])
def test_an_invalid_grid_is_reported_before_compilation(run, launches, grid):
    assert run("product.mlir", *ARRAYS, f"--grid={grid}")[0] == 1
    assert launches == []


def test_a_file_that_is_not_there(run):
    assert run("nowhere.mlir", *ARRAYS)[2] == (
        "smem-run: error: nowhere.mlir: No such file or directory\n"
    )


def test_a_wrong_module_is_reported_at_its_line(run, launches):
    code, _, err = run("wrong.mlir", *ARRAYS)
    assert code == 1
    assert err.startswith("wrong.mlir:")
    assert COMPLAINT in err
    assert launches == []


def test_an_output_that_cannot_be_written(run, launches):
    assert run("product.mlir", *ARRAYS[:4], "--out", "D=nowhere/d.npy")[::2] == (
        1,
        "smem-run: error: nowhere/d.npy: No such file or directory\n",
    )


def test_an_error_of_the_gpu_is_reported(run, monkeypatch):
    def fail(*_):
        raise LaunchError("no GPU can be used: no driver")

    monkeypatch.setattr(command, "run_on_gpu", fail)
    assert run("product.mlir", *ARRAYS) == (
        1,
        "",
        "smem-run: error: no GPU can be used: no driver\n",
    )


# Kernels with arguments that are not NumPy arrays.


@pytest.mark.parametrize("argument", ["%x: i32", "%x: memref<64xf64>", "%x: memref<64xf8E4M3FN>"])
def test_an_argument_that_cannot_be_loaded(run, folder, argument):
    (folder / "in.mlir").write_text(module(kernel("", arguments=argument)))
    code, _, err = run("in.mlir", "--in", "arg0=a.npy", "--out", "arg0=d.npy")
    assert code == 1
    assert err.startswith("smem-run: error: arg0 ")


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["nowhere.mlir", *ARRAYS], InputError),
        (["two.mlir", *ARRAYS], LaunchError),
    ],
)
def test_errors_are_raised_for_debugging(folder, launches, arguments, error):
    with pytest.raises(error):
        smem_run([*arguments, "--debug"])


def test_arrays_of_f64(run, folder):
    text = """gpu.module @m {
      gpu.func @cube(%X: memref<128xf64> {smem.name = "X"}, %Y: memref<128xf64> {smem.name = "Y"})
          kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %i = gpu.thread_id x
        %x = memref.load %X[%i] : memref<128xf64>
        %y = arith.mulf %x, %x : f64
        %z = arith.mulf %y, %x : f64
        memref.store %z, %Y[%i] : memref<128xf64>
        gpu.return
      }
    }"""
    (folder / "cube.mlir").write_text(text)
    x = np.linspace(0, 1, 128)
    np.save("x.npy", x)
    arrays = ("--in", "X=x.npy", "--out", "Y=y.npy", "--on", "cpu", "--grid", "1")
    assert run("cube.mlir", *arrays) == (0, "", "Y: [128] float64 in y.npy\n")
    assert (np.load("y.npy") == x * x * x).all()
    np.save("x.npy", x.astype(np.float32))
    assert run("cube.mlir", *arrays)[0] == 0
    assert np.load("y.npy")[64] == np.float64(np.float32(x[64])) ** 3


def test_program_order(run, folder):
    text = (ROOT / "lit_tests/compile/insert-sync.mlir").read_text()
    (folder / "squared.mlir").write_text(text)
    arrays = ("--in", "A=a.npy", "--out", "D=d.npy", "--on", "cpu", "--grid", "1")
    assert run("squared.mlir", "--entry", "squared", *arrays)[0] == 1
    assert run("squared.mlir", "--entry", "squared", "--insert-sync", *arrays)[0] == 0
    a = np.load("a.npy")
    assert np.array_equal(np.load("d.npy"), a @ a)
