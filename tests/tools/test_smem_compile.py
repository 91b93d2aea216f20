"""`smem-compile` as a function: code, manifest and messages."""

import json
from functools import partial

import pytest
from line_tables import files
from programs import COMPLAINT, WRONG, kernel, module, tile

import mlir_smem
from mlir_smem.codegen import CompileError, ptxas
from mlir_smem.tools.inputs import InputError
from mlir_smem.tools.smem_compile import smem_compile


@pytest.fixture
def run(run_command, monkeypatch, tmp_path):
    """Run the command in an empty folder; return (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    return partial(run_command, smem_compile)


@pytest.fixture
def source(tmp_path):
    """A file with a kernel."""
    path = tmp_path / "product.mlir"
    path.write_text(module())
    return path.name


def names(folder):
    return sorted(path.name for path in folder.iterdir())


SUFFIXES = {"nvvm": ".nvvm.mlir", "llvm": ".ll", "ptx": ".ptx", "cubin": ".cubin"}


@pytest.mark.parametrize("stage", SUFFIXES)
def test_code_and_manifest_are_next_to_the_input(run, source, tmp_path, stage):
    code, out, err = run(source, f"--emit={stage}")
    assert (code, out) == (0, "")
    compiled = mlir_smem.compile(module(), emit=stage)
    written = (tmp_path / f"product{SUFFIXES[stage]}").read_bytes()
    wanted = compiled.stage(stage)
    assert written == (wanted if isinstance(wanted, bytes) else wanted.encode())
    manifest = list(tmp_path.glob("*.json"))
    assert [json.loads(p.read_text()) for p in manifest] == [compiled.manifest]
    assert len(names(tmp_path)) == 3
    assert f"wrote product{SUFFIXES[stage]}, " in err


def test_a_cubin_is_the_default(run, source, tmp_path):
    assert run(source)[0] == 0
    assert names(tmp_path) == ["product.cubin", "product.json", "product.mlir"]


def test_an_output_of_any_name(run, source, tmp_path):
    assert run(source, "--emit=ptx", "-o", "code")[0] == 0
    assert names(tmp_path) == ["code", "code.json", "product.mlir"]


def test_standard_output_has_the_code_alone(run, source, tmp_path):
    code, out, err = run(source, "--emit=ptx", "-o", "-")
    assert (code, out) == (0, mlir_smem.compile(module(), emit="ptx").ptx)
    assert "wrote" not in err
    assert names(tmp_path) == ["product.mlir"]


def test_standard_input(run, tmp_path):
    assert run("-", "--emit=ptx", "-o", "code.ptx", text=module())[0] == 0
    assert names(tmp_path) == ["code.json", "code.ptx"]


def test_lines_name_the_input(run, source, tmp_path):
    assert run(source, "--emit=ptx", "--debug-info=lines")[0] == 0
    ptx = (tmp_path / "product.ptx").read_text()
    assert set(files(ptx).values()) == {str(tmp_path / source)}
    out = run("-", "--emit=ptx", "--debug-info=lines", "-o", "-", text=module())[1]
    assert set(files(out).values()) == {"<stdin>"}
    assert not files(run(source, "--emit=ptx", "-o", "-")[1])


def test_unknown_debug_information(run, source):
    code, _, err = run(source, "--debug-info=full")
    assert code == 1
    assert err.startswith("smem-compile: error: argument --debug-info: invalid choice: 'full'")
    assert "none" in err and "lines" in err


def test_a_summary_for_people(run, source):
    lines = run(source)[2].splitlines()
    assert lines[0].startswith("ptxas: ")
    assert lines[0].endswith(" registers, no spills")
    assert lines[1:] == [
        "kernel product(A, B, D): block [128, 1, 1], 9216 bytes of shared memory",
        "wrote product.cubin, product.json",
    ]


def test_the_choice_is_explained_on_request(run, source):
    assert "was chosen" in run(source, "--emit=nvvm", "--explain")[2]
    assert "was chosen" not in run(source, "--emit=nvvm")[2]


def test_the_widest_swizzle_can_be_limited(run, source, tmp_path):
    run(source, "--emit=nvvm", "--explain", "-o", "wide")
    _, _, err = run(source, "--emit=nvvm", "--explain", "--max-swizzle=32", "-o", "narrow")
    assert "layout Swizzle<1,4,3>" in err
    assert (tmp_path / "wide").read_text() != (tmp_path / "narrow").read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["product.mlir", "--arch=sm_80"],
            "no code is generated for 'sm_80'; expected sm_90a or sm_100a or sm_103a",
        ),
        (["product.mlir", "--emit=sass"], "argument --emit: invalid choice: 'sass'"),
        (["product.mlir", "--max-swizzle=48"], "--max-swizzle: no swizzle is 48 bytes wide"),
        (["product.mlir", "--max-swizzle=wide"], "argument --max-swizzle: invalid int value"),
        (["product.mlir", "--speed"], "unrecognized arguments: --speed"),
        (["nowhere.mlir"], "nowhere.mlir: No such file or directory"),
        (["."], ".: Is a directory"),
        (["product.mlir", "--arch=--"], "argument --arch: expected a value, not '--'"),
        (["a\0b"], "the argument 'a\\x00b' has a NUL character"),
        (["-"], "the input has no name to derive the output's from; give -o"),
        ([], "the following arguments are required: file"),
    ],
)
def test_misuse_is_one_message(run, source, tmp_path, arguments, message):
    code, out, err = run(*arguments, text=module())
    assert (code, out) == (1, "")
    assert err.startswith("smem-compile: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert names(tmp_path) == ["product.mlir"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("module {}", "expected one gpu.module that holds the kernels, found 0"),
        (
            module(name="a") + module(name="b"),
            "expected one gpu.module that holds the kernels, found 2",
        ),
        ("gpu.module @k {}", "the gpu.module holds no kernel: no gpu.func is marked `kernel`"),
    ],
)
def test_modules_without_code(run, text, message):
    code, _, err = run("-", "-o", "code", text=text)
    assert (code, err) == (1, f"smem-compile: error: {message}\n")


def test_a_wrong_module_is_reported_at_its_line(run, tmp_path):
    (tmp_path / "in.mlir").write_text(WRONG)
    code, out, err = run("in.mlir")
    assert (code, out) == (1, "")
    assert err.startswith("in.mlir:")
    assert f"error: {COMPLAINT}" in err
    assert names(tmp_path) == ["in.mlir"]


def test_a_module_that_cannot_be_lowered_is_reported_at_its_line(run, tmp_path):
    (tmp_path / "in.mlir").write_text(module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)}')))
    code, _, err = run("in.mlir")
    assert code == 1
    assert err.startswith("in.mlir:4:")
    assert names(tmp_path) == ["in.mlir"]


def test_a_missing_assembler(run, source, tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", "nowhere")
    ptxas.find_ptxas.cache_clear()
    assert run(source) == (
        1,
        "",
        "smem-compile: error: MLIR_SMEM_PTXAS names 'nowhere', which cannot be run\n",
    )
    assert names(tmp_path) == ["product.mlir"]


def test_ptx_needs_no_assembler(run, source, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_PTXAS", "nowhere")
    ptxas.find_ptxas.cache_clear()
    assert run(source, "--emit=ptx")[0] == 0


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["nowhere.mlir"], InputError),
        (["product.mlir", "--arch=sm_80"], CompileError),
        (["product.mlir", "--max-swizzle=48"], InputError),
    ],
)
def test_errors_are_raised_for_debugging(source, monkeypatch, tmp_path, arguments, error):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        smem_compile([*arguments, "--debug"])


# Output names that collide with the manifest's.


def test_an_output_with_the_manifests_name(run, source, tmp_path):
    code, _, err = run(source, "--emit=ptx", "-o", "product.json")
    if code == 1:
        assert err.startswith("smem-compile: error: ")
    else:
        assert ".entry product" in (tmp_path / "product.json").read_text()


@pytest.mark.parametrize(
    "output",
    [".", "/"],
)
def test_an_output_that_is_a_folder(run, source, tmp_path, output):
    code, _, err = run(source, "--emit=ptx", "-o", output)
    assert code == 1
    assert err.startswith("smem-compile: error: ")
    assert names(tmp_path) == ["product.mlir"]


def test_outputs_whose_names_differ_after_a_dot_have_their_own_manifests(run, source, tmp_path):
    for output in ("kernel.v1", "kernel.v2"):
        assert run(source, "--emit=ptx", "-o", output)[0] == 0
    assert len(list(tmp_path.glob("*.json"))) == 2
