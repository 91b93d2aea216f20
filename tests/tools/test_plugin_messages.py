"""Diagnostics of the plugin: those of smem-opt at their places, and its own."""

import json
import sys

import pytest
from plugin import LLVM_CONFIG, make, missing
from programs import COMPLAINT, WRONG, module

LOWER = "--pass-pipeline=builtin.module(smem-to-nvvm)"


def smem_op_line(text):
    """The line of a module's first op of smem."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if '"smem.' in line)


def fake(host, body):
    """A program in place of smem-opt; it does not serve."""
    path = host.folder / "fake"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nif '--server=' in sys.argv[1]: sys.exit(1)\n{body}"
    )
    path.chmod(0o755)
    host.environment["SMEM_OPT"] = str(path)
    return path


def test_an_error_is_at_its_op(host):
    path = host.folder / "wrong.mlir"
    path.write_text(WRONG)
    code, out, err = host.run(LOWER, path)
    line = next(i for i, text in enumerate(WRONG.splitlines(), 1) if "smem.copy" in text)
    assert (code, out) == (1, "")
    assert err.startswith(f"{path}:{line}:5: error: {COMPLAINT}")
    assert err.count("error:") == 1
    assert "see current operation" not in err
    path.unlink()


def test_remarks_are_emitted(host):
    path = host.folder / "in.mlir"
    path.write_text(module())
    code, _, err = host.run("--smem-assign-layouts=explain", path)
    assert code == 0
    line = next(i for i, text in enumerate(module().splitlines(), 1) if "%a =" in text)
    assert f"in.mlir:{line}:10: remark: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen" in err
    path.unlink()


@pytest.mark.parametrize("split", [False, True])
def test_verify_diagnostics(host, split):
    copy = '    "smem.copy"'
    expected = WRONG.replace(copy, f"// expected-error@below {{{{copies memref}}}}\n{copy}")
    arguments = ["--verify-diagnostics", *(["--split-input-file"] if split else [])]
    text = f"{module()}// -----\n{expected}" if split else expected
    assert host.run(*arguments, LOWER, text=text)[::2] == (0, "")
    code, _, err = host.run(*arguments, LOWER, text=text.replace("copies", "moves"))
    assert code == 1
    assert "expected error" in err
    assert "was not produced" in err


@pytest.mark.parametrize(
    "option, message",
    [
        ("max-swizzle=48", "smem-to-nvvm: option max-swizzle takes 0, 32, 64 or 128, not '48'"),
        ("arch=sm_70", "smem-to-nvvm: option arch takes sm_90, sm_100, sm_103, not 'sm_70'"),
    ],
)
def test_a_value_that_an_option_does_not_take(host, option, message):
    code, out, err = host.run(f"--smem-to-nvvm={option}", text=module())
    assert (code, out) == (1, "")
    assert err.startswith(f"<stdin>:{smem_op_line(module())}:10: error: {message}\n")


def test_an_option_that_there_is_not(host):
    code, out, err = host.run("--smem-to-nvvm=speed=1", text=module())
    assert (code, out) == (1, "")
    assert "no such option speed" in err


def test_a_pass_within_a_gpu_module(host):
    code, _, err = host.run(
        "--pass-pipeline=builtin.module(gpu.module(smem-to-nvvm))", text=module()
    )
    assert code == 1
    assert "restricted to 'builtin.module' on a PassManager intended to run on 'gpu.module'" in err


# smem-opt.


def test_no_smem_opt(host):
    del host.environment["SMEM_OPT"]
    host.environment["PATH"] = "/usr/bin:/bin"
    code, out, err = host.run(LOWER, text=module())
    assert (code, out) == (1, "")
    assert err.startswith(
        f"<stdin>:{smem_op_line(module())}:10: error: smem-opt is not on the PATH; install mlir-smem, or "
        "set SMEM_OPT to the path of smem-opt\n"
    )


def test_smem_opt_that_is_no_program(host):
    host.environment["SMEM_OPT"] = "/nowhere/smem-opt"
    code, _, err = host.run(LOWER, text=module())
    assert code == 1
    assert (
        "error: SMEM_OPT is '/nowhere/smem-opt', which is no program; set it to the path of smem-opt of "
        "mlir-smem\n"
    ) in err


def test_smem_opt_that_writes_nothing(host):
    path = fake(host, "")
    code, out, err = host.run(LOWER, text=module())
    assert (code, out) == (1, "")
    assert f"error: {path} wrote no module; SMEM_OPT must be smem-opt of mlir-smem\n" in err
    path.unlink()


def test_smem_opt_that_fails_without_a_diagnostic(host):
    path = fake(host, "sys.exit('out of order')")
    code, out, err = host.run(LOWER, text=module())
    assert (code, out) == (1, "")
    assert f"error: {path} failed with exit code 1\n" in err
    assert "note: out of order\n" in err
    path.unlink()


def test_output_that_the_tool_cannot_read(host):
    op = '"gpu.barrier"() <{scope = #gpu.barrier_scope<subgroup>}> : () -> ()'
    text = f'"builtin.module"() ({{ {op} }}) : () -> ()'
    path = fake(host, f"print({text!r})")
    code, out, err = host.run(LOWER, text=module())
    assert (code, out) == (1, "")
    assert "error: LLVM 22." in err
    assert (
        " of this tool cannot read what smem-to-nvvm made with another version: unknown attribute "
        "`barrier_scope` in dialect `gpu`\n"
    ) in err
    path.unlink()


def test_ops_that_llvm_22_lacks_are_named_with_both_versions(host):
    """An error of --host-llvm arrives at the op that the tool has read."""
    message = "'gpu.barrier' op has x, which LLVM 24 introduced; LLVM 22 does not have it"
    line = smem_op_line(module())
    error = {"severity": "error", "file": "<stdin>", "line": line, "column": 5, "message": message}
    note = {"severity": "note", "file": "", "line": 0, "column": 0, "message": "here", "notes": []}
    path = fake(
        host, f"print({json.dumps(error | {'notes': [note]})!r}, file=sys.stderr)\nsys.exit(1)"
    )
    code, _, err = host.run(LOWER, text=module())
    assert code == 1
    assert f"<stdin>:{line}:5: error: {message}\n" in err
    assert "note: here\n" in err
    path.unlink()


def test_smem_opt_is_told_the_version(host):
    path = fake(host, "sys.exit(' '.join(sys.argv[2:]))")
    _, _, err = host.run("--smem-allocate=max-bytes=3", text=module())
    for option in (
        "--pass-pipeline=builtin.module(smem-allocate{max-bytes=3})",
        "--host-llvm=22",
        "--diagnostics=json",
    ):
        assert option in err
    path.unlink()


# The build.


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_build_without_llvm_config_or_headers(tmp_path):
    done = make(tmp_path, "LLVM_CONFIG=none")
    assert done.returncode != 0
    assert "none does not run: install llvm-22-dev, or set LLVM_CONFIG" in done.stderr
    config = tmp_path / "config"
    config.write_text("#!/bin/sh\necho /nowhere\n")
    config.chmod(0o755)
    done = make(tmp_path, f"LLVM_CONFIG={config}")
    assert done.returncode != 0
    assert (
        "/nowhere has no headers of MLIR: install libmlir-22-dev, or set LLVM_CONFIG" in done.stderr
    )


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_build_without_smem_opt(tmp_path):
    done = make(tmp_path / "build", f"LLVM_CONFIG={LLVM_CONFIG}", "SMEM_OPT=/nowhere/smem-opt")
    assert done.returncode != 0
    assert "/nowhere/smem-opt" in done.stderr
    assert not (tmp_path / "build/PassList.inc").exists()
