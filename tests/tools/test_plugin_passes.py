"""The passes in mlir-opt by the plugin: pipelines, flags, help, and what they make."""

import re
import subprocess
from pathlib import Path

import pytest
from plugin import SMEM_OPT
from programs import module

from mlir_smem.codegen.llvm_dialect import PIPELINE
from mlir_smem.passes.driver.base import pass_named, passes

EXAMPLES = Path(__file__).parents[2] / "examples"


def smem_opt(*arguments, text=""):
    """The output of smem-opt on a text."""
    run = subprocess.run(
        [SMEM_OPT, *arguments], input=text, capture_output=True, text=True, check=True
    )
    return run.stdout


def test_a_module_is_parsed_and_printed(host):
    code, out, err = host.run(text=module())
    assert (code, err) == (0, "")
    assert smem_opt(text=out) == smem_opt(text=module())


@pytest.mark.parametrize(
    "example, arch", [("matmul", "sm_90"), ("attention", "sm_90"), ("nvfp4", "sm_100")]
)
def test_the_lowering_is_that_of_smem_opt(host, example, arch):
    text = (EXAMPLES / f"{example}.mlir").read_text()
    pipeline = f"builtin.module(smem-to-nvvm{{arch={arch}}})"
    code, out, err = host.run(f"--pass-pipeline={pipeline}", "--mlir-print-op-generic", text=text)
    assert (code, err) == (0, "")
    assert smem_opt("--host-llvm=22", text=out) == smem_opt(
        f"--smem-to-nvvm=arch={arch}", "--host-llvm=22", text=text
    )


def test_pass_by_pass_is_the_pipeline(host):
    text = (EXAMPLES / "nvfp4.mlir").read_text()
    steps = pass_named("smem-to-nvvm").from_text("arch=sm_100").passes()
    pipeline = f"--pass-pipeline=builtin.module({','.join(map(str, steps))})"
    whole = "--pass-pipeline=builtin.module(smem-to-nvvm{arch=sm_100})"
    assert host.run(pipeline, text=text) == host.run(whole, text=text)


def test_passes_of_the_tool_run_between_ours(host):
    pipeline = "smem-assign-layouts,canonicalize,smem-to-nvvm,gpu.module(canonicalize,cse)"
    code, out, err = host.run(f"--pass-pipeline=builtin.module({pipeline})", text=module())
    assert (code, err) == (0, "")
    assert "nvvm.wgmma.mma_async" in out
    assert "smem.mma" not in out


@pytest.mark.parametrize("example", ["matmul", "attention"])
def test_ptx_has_the_descriptors_of_smem_compile(host, example, tmp_path):
    path = EXAMPLES / f"{example}.mlir"
    compile_ = [SMEM_OPT.with_name("smem-compile"), path, "--emit=ptx", "-o", tmp_path / "x.ptx"]
    subprocess.run(compile_, check=True, capture_output=True)
    ours = (tmp_path / "x.ptx").read_text()
    # LLVM 22 cannot say which functions math-expand-ops expands.
    to_llvm = PIPELINE.replace("math-expand-ops{ops=clampf},", "")
    pipeline = (
        f"builtin.module(smem-to-nvvm,gpu.module({to_llvm}),"
        "nvvm-attach-target{chip=sm_90a features=+ptx83 O=3},gpu-module-to-binary{format=isa})"
    )
    code, out, err = host.run(f"--pass-pipeline={pipeline}", path)
    if "target" in err.lower() and "nvptx" in err.lower():
        pytest.skip("this mlir-opt has no NVPTX back end")
    assert (code, err) == (0, "")
    for pattern in (r"\d{17,}", r"wgmma\.mma_async[\w.]*"):
        matches = re.findall(pattern, out)
        assert matches
        assert sorted(matches) == sorted(re.findall(pattern, ours))


def test_a_kernel_stays_a_kernel_with_its_memory(host):
    text = """gpu.module @m {
  gpu.func @k() workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}"""
    exported = smem_opt("--host-llvm=22", text=text)
    for out in (host.run(text=exported)[1], host.run("--smem-to-nvvm", text=text)[1]):
        assert "gpu.func @k() workgroup(%arg0 : memref<64xf32" in out
        assert "kernel" in out


def test_locations_survive(host):
    pipeline = "--pass-pipeline=builtin.module(smem-assign-layouts)"
    _, out, _ = host.run(pipeline, "--mlir-print-debuginfo", text=module())
    line = next(i for i, text in enumerate(module().splitlines(), 1) if "smem.mma" in text)
    assert f'loc("<stdin>":{line}:15)' in out


def test_split_input(host):
    code, out, err = host.run(
        "--split-input-file", "--smem-to-nvvm", text=f"{module()}// -----\n{module()}"
    )
    assert (code, err) == (0, "")
    first, second = out.split("// -----\n")
    assert first.strip() == second.strip()
    assert "nvvm.wgmma" in first


def test_bytecode_in_and_out(host):
    path = host.folder / "in.mlirbc"
    assert host.run("--emit-bytecode", "-o", path, text=module())[0] == 0
    assert path.read_bytes().startswith(b"ML\xefR")
    from_bytecode = host.run("--smem-to-nvvm", path)
    assert from_bytecode == host.run("--smem-to-nvvm", text=module())
    assert from_bytecode[0] == 0
    path.unlink()


def test_help_lists_the_passes_with_their_options(host):
    code, out, _ = host.run("--help")
    assert code == 0
    for name, pass_ in passes().items():
        assert f"--{name} " in out
        for key, field in pass_.options().items():
            assert f"--{key}" in out
            assert field.metadata["description"] in out


# Flags.


def test_flags_make_the_pipeline_in_their_order(host):
    flags = ("--smem-assign-layouts=max-swizzle=32", "--smem-allocate")
    pipeline = "smem-assign-layouts{max-swizzle=32},smem-allocate"
    by_flags = host.run(*flags, text=module())
    assert by_flags == host.run(f"--pass-pipeline=builtin.module({pipeline})", text=module())
    assert by_flags[0] == 0
    assert "Swizzle<1,4,3>" in by_flags[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--smem-allocate", "--pass-pipeline=builtin.module(cse)"),
        ("--pass-pipeline=builtin.module(cse)", "--smem-allocate"),
    ],
)
def test_flags_and_a_pipeline(host, arguments):
    assert host.run(*arguments, text=module()) == (
        1,
        "",
        "smem: --smem-allocate and --pass-pipeline cannot be combined; put it into the pipeline\n",
    )


def test_flags_of_the_tool_and_ours(host):
    code, _, err = host.run("--smem-allocate", "--cse", text=module())
    assert code == 1
    assert "'-pass-pipeline' option can't be used with individual pass options" in err
