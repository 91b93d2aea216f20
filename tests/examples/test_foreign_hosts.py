"""Tiles in the kernels of other hosts, on the emulator: exact, and what is said of mistakes in them."""

import re

import numpy as np
import pytest
from foreign_hosts import CASES, FOREIGN

import mlir_smem
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.emulator import ViolationKind, Violations
from mlir_smem.runtime import run_on_cpu


def compile_for_emulator(text):
    """The module for the emulator, and the remarks of the passes."""
    remarks = []
    with remark_handler(lambda _, message: remarks.append(message)):
        return mlir_smem.compile(text, emit="nvvm"), remarks


def result(host, text, size):
    """C as the emulator computes it, and the exact one."""
    inputs, output = host.inputs(*size), host.names[-1]
    c = run_on_cpu(
        compile_for_emulator(text)[0], host.entry, inputs, [output], host.blocks(*size[:2])
    )[output]
    return c, host.expected_c(inputs)


def edit_host(name, old, new=""):
    """A host's text with an edit of all places."""
    text = FOREIGN[name].text()
    assert re.search(old, text), old
    return re.sub(old, new, text)


@pytest.mark.parametrize("name, size", CASES)
def test_results_are_exact(name, size):
    host = FOREIGN[name]
    c, expected = result(host, host.text(), size)
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("name", FOREIGN)
def test_kernels_compile_without_spills(name):
    compiled = mlir_smem.compile(FOREIGN[name].text())
    assert compiled.report.spill_bytes == 0
    assert compiled.report.warnings == ()


# What is proven of them.


def test_bulk_copies_of_a_host_are_not_proven():
    """One remark for each copy, and none besides."""
    text = FOREIGN["nvgpu_gemm"].text()
    _, remarks = compile_for_emulator(text)
    assert len(remarks) == text.count("nvgpu.tma.async.load %")
    assert all("it completes at an mbarrier of the kernel's own" in remark for remark in remarks)


@pytest.mark.parametrize("name", ["outlined", "planned_memory"])
def test_other_hosts_are_proven(name):
    assert compile_for_emulator(FOREIGN[name].text())[1] == []


@pytest.mark.parametrize("name", ["outlined", "planned_memory"])
@pytest.mark.parametrize("op", [r"gpu\.barrier", r'"smem\.fence"\(\) : \(\) -> \(\)'])
def test_no_host_is_proven_without_its_synchronization(name, op):
    _, remarks = compile_for_emulator(edit_host(name, rf"\n *{op}"))
    assert any("cannot prove that" in remark for remark in remarks)


def test_no_host_is_proven_that_waits_for_too_few_groups():
    _, remarks = compile_for_emulator(edit_host("planned_memory", "numGroups = 1", "numGroups = 2"))
    assert any("cannot prove that the nvgpu.device_async_copy" in remark for remark in remarks)


# What the emulator reports.


def test_a_stage_that_is_refilled_while_it_is_read():
    text = edit_host("nvgpu_gemm", r"\n *gpu\.barrier\n(?= *%next)", "\n")
    with pytest.raises(Violations, match="may still"):
        result(FOREIGN["nvgpu_gemm"], text, (128, 128, 512))


def test_an_mbarrier_that_expects_too_few_bytes():
    text = edit_host("nvgpu_gemm", "(%stage_bytes = arith.constant) 32768", r"\1 16384")
    with pytest.raises(Violations) as error:
        result(FOREIGN["nvgpu_gemm"], text, (128, 128, 512))
    assert ViolationKind.COPY_IN_FLIGHT in {violation.kind for violation in error.value.found}


def test_a_swizzle_that_is_not_that_of_the_tile():
    text = edit_host("planned_memory", "arith.xori %unit, %phase", "arith.ori %unit, %phase")
    with pytest.raises(Violations):
        result(FOREIGN["planned_memory"], text, (64, 64, 128))
    text = edit_host("planned_memory", r"(%phase = arith.remui %first,) %c8", r"\1 %c4")
    c, expected = result(FOREIGN["planned_memory"], text, (64, 64, 128))
    assert not np.array_equal(c, expected)
