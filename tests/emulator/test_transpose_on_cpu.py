"""The kernel of `kernels/transpose.py` on the emulator.

Its results are exact; the emulator reports violations when it is damaged.
"""

import re
from functools import cache

import numpy as np
import pytest
from emulated import faults_of, run_text
from transposed import EXTENTS, random_matrix, text_of

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import ConfigError
from mlir_smem.kernels.transpose import TransposeConfig, build_transpose

SMALL = TransposeConfig((128, 32), stages=2, warpgroups=1)


@cache
def compile_transpose(element, config=None):
    return mlir_smem.compile(text_of(element, config), emit="nvvm")


def options(kernel, grid):
    entry = kernel.manifest["kernels"][0]
    return {"block": entry["block"], "grid": grid, "shared": entry["shared_bytes"]}


@pytest.mark.parametrize("grid", [1, 3])
@pytest.mark.parametrize("extents", EXTENTS, ids=str)
@pytest.mark.parametrize("element", ["i8", "f32"])
def test_transpose_is_exact(element, extents, grid):
    kernel = compile_transpose(element)
    x = random_matrix(element, *extents)
    y = np.zeros_like(x, order="C")
    run_text(kernel.bytecode, "transpose", (x, y), **options(kernel, grid))
    assert (x == y).all()


@pytest.mark.parametrize(
    "element, config",
    [
        ("i8", SMALL),
        ("i8", TransposeConfig((128, 64), stages=1, buffers=3, warpgroups=3)),
        ("f32", TransposeConfig((32, 128), stages=4, warpgroups=1)),
    ],
    ids=str,
)
def test_other_configurations_are_exact(element, config):
    kernel = compile_transpose(element, config)
    x = random_matrix(element, 272, 208)
    y = np.zeros_like(x, order="C")
    run_text(kernel.bytecode, "transpose", (x, y), **options(kernel, 2))
    assert (x == y).all()


def test_no_bank_conflict_is_predicted(capfd):
    for element in ("i8", "f32"):
        mlir_smem.compile(text_of(element), emit="nvvm", explain=True)
        picked = [line for line in capfd.readouterr().err.splitlines() if "picked   " in line]
        assert len(picked) == 2
        assert "transposed in registers, no bank conflicts" in picked[1]
        assert all("swizzle 128B" in line for line in picked)


def without_line(text, op, which):
    """The text without line number `which` of those that contain an op."""
    lines = text.splitlines(keepends=True)
    del lines[[number for number, line in enumerate(lines) if re.search(op, line)][which]]
    return "".join(lines)


#: The line that is removed, and violations of which the emulator reports at least one.
FAULTS = {
    "the wait for a full stage": ((r"try_wait\.parity", -2), {ViolationKind.COPY_IN_FLIGHT}),
    "the release of a stage": ((r"mbarrier\.arrive", -2), {ViolationKind.DEADLOCK}),
    "the bytes of a load": ((r"mbarrier\.expect_tx", -1), {ViolationKind.BARRIER}),
    "the fence before the store": ((r"fence\.proxy", 0), {ViolationKind.UNFENCED}),
    "the barrier before the store": ((r"gpu\.barrier", -1), {ViolationKind.RACE}),
    "the wait before a buffer is used again": (
        (r"bulk\.wait_group 0", 0),
        {ViolationKind.OVERWRITTEN},
    ),
    "the commit of stores": ((r"bulk\.commit", 0), {ViolationKind.OVERWRITTEN}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damage_is_found(name):
    edit, kinds = FAULTS[name]
    kernel = compile_transpose("i8", SMALL)
    x = random_matrix("i8", 256, 128)
    text = without_line(kernel.located, *edit)
    arrays = (x, np.zeros_like(x, order="C"))
    faults = faults_of(text, "transpose", arrays, **options(kernel, 1))
    assert {fault.kind for fault in faults} & kinds, faults


def test_illegal_configurations_are_refused():
    with new_context():
        with pytest.raises(ConfigError, match="element is f16; expected i8 or f32"):
            build_transpose("f16")
        with pytest.raises(ConfigError, match="buffers is 1; expected 2 or more"):
            build_transpose("i8", TransposeConfig((128, 128), buffers=1))
