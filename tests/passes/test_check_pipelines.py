"""`smem-check-async` on a GEMM with pipelines and partitions: proven kernels run, wrong ones fail."""

import re
from dataclasses import replace

import pytest
from pipeline_mutations import (
    emulate_text,
    is_valid,
    lines_with,
    run_checker,
    text_of,
    with_line_moved,
    with_number,
    without_line,
)
from scaled_gemm import FORMATS, TILES

from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import Config

#: Two tiles for each CTA, so that stages are reused; the rows of each warpgroup are stored in two parts.
CONFIG = Config(tile=(128, 64, 64), stages=3, store_columns=32, store_buffers=3)
EXTENTS = (256, 64, 320)
TEXT = text_of(CONFIG)

#: Ops that are removed, moved or changed.
OPS = (
    r"producer_commit|consumer_release|tma_load|smem\.store\"|smem\.fence|tma_wait|tma_store|"
    r"tma_commit"
)


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        Config(tile=(128, 128, 64), store_columns=128, cluster=(2, 1)),
        Config(tile=(128, 128, 64), store_columns=128, cluster=(1, 2)),
        Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=32, store_buffers=1),
    ],
)
def test_kernel_is_proven_and_runs(config):
    text = text_of(config)
    assert run_checker(text).evaluation == "proven"
    m, n, k = config.tile
    along_m, along_n = config.cluster
    assert emulate_text(text, config, (2 * along_m * m, along_n * n, 3 * k)) == ""


@pytest.mark.parametrize("example", TILES)
def test_scaled_mmas_are_proven(example):
    for name, scaled in FORMATS.items():
        result = run_checker(scaled.text(example))
        assert result.evaluation == "proven", (name, result.messages)


@pytest.mark.parametrize("consumed, evaluation", [(10, "proven"), (11, "wrong")])
def test_a_quotient_rounded_up_is_known_for_a_known_extent(consumed, evaluation):
    text = FORMATS["nvfp4"].text("nvfp4")
    # 9 whole K blocks, and a part of one.
    for old, new in (
        ("!A = memref<?x?x", f"!A = memref<256x{9 * 128 + 16}x"),
        ("%k_blocks =", f"%consumed = arith.constant {consumed} : index\n    %k_blocks ="),
        ("%c1 to %k_blocks", "%c1 to %consumed"),
        ("subi %k_blocks", "subi %consumed"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    assert run_checker(text).evaluation == evaluation


@pytest.mark.parametrize("drop", ["consumer_release", "producer_commit", "tma_load", "wait"])
def test_a_scaled_mma_without_a_needed_op_is_not_proven(drop):
    text = FORMATS["nvfp4"].text("nvfp4")
    pattern = {"wait": r'%running = "smem\.wait"'}.get(drop, drop)
    number = lines_with(text, pattern)[0]
    if drop == "wait":
        text = text.replace("yield %running", "yield %d")
    assert run_checker(without_line(text, number)).evaluation != "proven"


def test_phases_with_the_same_parity_are_found():
    # Each warpgroup skips the two stores of the other; with two stages their phases have the same parity.
    assert "stages = 4" in TEXT
    text = TEXT.replace("stages = 4", "stages = 2")
    result = run_checker(text)
    assert result.evaluation == "wrong"
    assert "skips 2 pipeline indices of other warpgroups" in result.messages[0]
    assert "give it 3 stages or more" in result.messages[0]
    assert emulate_text(text, CONFIG, EXTENTS)


def test_too_few_stages_deadlock():
    text = text_of(replace(CONFIG, store_buffers=2))
    assert "tensor<3x" in text
    text = text.replace("tensor<3x", "tensor<1x").replace("stages = 3", "stages = 1")
    result = run_checker(text)
    assert result.evaluation == "wrong"
    assert "waits forever: the 1 pipeline index before it is not released" in result.messages[0]
    assert ViolationKind.DEADLOCK.value in emulate_text(text, CONFIG, EXTENTS)


def check_agreement(text):
    """Check that a proven kernel runs and a wrong one fails; return the result of the checker."""
    result = run_checker(text)
    failure = emulate_text(text, CONFIG, EXTENTS)
    if result.evaluation == "proven":
        # The checker proves the order of accesses, not the computed numbers.
        assert failure in ("", "wrong result"), failure
    if result.evaluation == "wrong":
        assert failure, result.messages
    return result


def line_id(number):
    name = re.search(r'"smem\.(\w+)"', TEXT.splitlines()[number])
    return f"{name[1] if name else ''} in line {number + 1}"


@pytest.mark.parametrize("number", lines_with(TEXT, OPS), ids=line_id)
def test_without_an_op(number):
    result = check_agreement(without_line(TEXT, number))
    # Every op is needed but the stores to global memory: no rule requires a result.
    assert result.evaluation != "proven" or "tma_store" in TEXT.splitlines()[number]


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("name", ["pending", "producers", "consumers"])
@pytest.mark.parametrize(
    "number", lines_with(TEXT, r"producers = |tma_wait|in_flight.*pending = 1"), ids=line_id
)
def test_with_another_number(number, name, by):
    changed = with_number(TEXT, number, name, by)
    if changed is not None:
        check_agreement(changed)


@pytest.mark.parametrize("number", lines_with(TEXT, OPS), ids=line_id)
def test_with_a_moved_op(number):
    changed = with_line_moved(TEXT, number, OPS + r"|smem\.wait|smem\.mma\"|consumer_wait|acquire")
    if changed is not None and is_valid(changed):
        check_agreement(changed)


@pytest.mark.parametrize(
    "number",
    lines_with(TEXT, r"producer_commit|consumer_release|consumer_wait|producer_acquire|tma_load"),
    ids=line_id,
)
def test_with_another_pipeline_index(number):
    lines = TEXT.splitlines()
    step = re.findall(r"%\w+", lines[number].partition("(")[2])[3 if "load" in lines[number] else 1]
    ahead = f"%one = arith.constant 1 : index\n%ahead = arith.addi {step}, %one : index"
    changed = re.sub(rf"{step}([,)])", r"%ahead\1", lines[number])
    lines[number] = f"{ahead}\n{changed}"
    result = check_agreement("\n".join(lines))
    assert result.evaluation != "proven"
