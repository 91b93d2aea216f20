"""`smem-check-async` on a GEMM with pipelines and partitions: what is proven runs, what is wrong goes wrong."""

import re
from dataclasses import replace

import pytest
from pipeline_mutations import (
    checked,
    emulated,
    is_valid,
    lines_with,
    text_of,
    with_line_moved,
    with_number,
    without_line,
)
from scaled_gemm import FORMATS, TILES

from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import Config

pytestmark = pytest.mark.sampled(2)

#: Two tiles a block, so that pipelines go round; each warpgroup's rows are stored in two parts.
CONFIG = Config(tile=(128, 64, 64), stages=3, store_columns=32, store_buffers=3)
EXTENTS = (256, 64, 320)
TEXT = text_of(CONFIG)

#: Ops that are left out, moved or changed.
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
def test_it_is_proven_and_runs(config):
    text = text_of(config)
    assert checked(text).evaluation == "proven"
    m, n, k = config.tile
    along_m, along_n = config.cluster
    assert emulated(text, config, (2 * along_m * m, along_n * n, 3 * k)) == ""


@pytest.mark.parametrize("example", TILES)
def test_scaled_products_are_proven(example):
    for name, form in FORMATS.items():
        said = checked(form.text(example))
        assert said.evaluation == "proven", (name, said.messages)


@pytest.mark.parametrize("consumed, evaluation", [(10, "proven"), (11, "wrong")])
def test_a_division_that_rounds_up_is_known_of_a_known_extent(consumed, evaluation):
    text = FORMATS["nvfp4"].text("nvfp4")
    # 9 whole steps and a part.
    text = text.replace("!A = memref<?x?x", f"!A = memref<256x{9 * 128 + 16}x")
    steps = f"%consumed = arith.constant {consumed} : index\n    %steps ="
    text = text.replace("%steps =", steps).replace("%c1 to %steps", "%c1 to %consumed")
    text = text.replace("subi %steps", "subi %consumed")
    assert checked(text).evaluation == evaluation


@pytest.mark.parametrize("drop", ["consumer_release", "producer_commit", "tma_load", "wait"])
def test_a_scaled_product_that_is_damaged(drop):
    text = FORMATS["nvfp4"].text("nvfp4")
    pattern = {"wait": r'%running = "smem\.wait"'}.get(drop, drop)
    number = lines_with(text, pattern)[0]
    if drop == "wait":
        text = text.replace("yield %running", "yield %d")
    assert checked(without_line(text, number)).evaluation != "proven"


def test_phases_that_look_the_same_are_found():
    # Each warpgroup leaves out the other's two stores; with two stages both would be the same phase.
    assert "stages = 4" in TEXT
    text = TEXT.replace("stages = 4", "stages = 2")
    said = checked(text)
    assert said.evaluation == "wrong"
    assert "leaves out 2 steps of others" in said.messages[0]
    assert "give it 3 stages or more" in said.messages[0]
    assert emulated(text, CONFIG, EXTENTS)


def test_one_stage_is_found():
    text = text_of(replace(CONFIG, store_buffers=2))
    assert "tensor<3x" in text
    text = text.replace("tensor<3x", "tensor<1x").replace("stages = 3", "stages = 1")
    said = checked(text)
    assert said.evaluation == "wrong"
    assert "waits for ever: 1 step before it is not released" in said.messages[0]
    assert ViolationKind.DEADLOCK.value in emulated(text, CONFIG, EXTENTS)


def agree(text):
    """Checks that what is proven runs, and that what is wrong goes wrong; gives what was said."""
    said = checked(text)
    found = emulated(text, CONFIG, EXTENTS)
    if said.evaluation == "proven":
        # Which numbers are computed is not what it is about.
        assert found in ("", "wrong result"), found
    if said.evaluation == "wrong":
        assert found, said.messages
    return said


def named(number):
    name = re.search(r'"smem\.(\w+)"', TEXT.splitlines()[number])
    return f"{name[1] if name else ''} in line {number + 1}"


@pytest.mark.parametrize("number", lines_with(TEXT, OPS), ids=named)
def test_without(number):
    said = agree(without_line(TEXT, number))
    # All is needed but the stores to global memory, whose absence no rule sees.
    assert said.evaluation != "proven" or "tma_store" in TEXT.splitlines()[number]


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("name", ["pending", "producers", "consumers"])
@pytest.mark.parametrize(
    "number", lines_with(TEXT, r"producers = |tma_wait|in_flight.*pending = 1"), ids=named
)
def test_another_number(number, name, by):
    changed = with_number(TEXT, number, name, by)
    if changed is not None:
        agree(changed)


@pytest.mark.parametrize("number", lines_with(TEXT, OPS), ids=named)
def test_moved(number):
    changed = with_line_moved(TEXT, number, OPS + r"|smem\.wait|smem\.mma\"|consumer_wait|acquire")
    if changed is not None and is_valid(changed):
        agree(changed)


@pytest.mark.parametrize(
    "number",
    lines_with(TEXT, r"producer_commit|consumer_release|consumer_wait|producer_acquire|tma_load"),
    ids=named,
)
def test_another_step(number):
    lines = TEXT.splitlines()
    step = re.findall(r"%\w+", lines[number].partition("(")[2])[3 if "load" in lines[number] else 1]
    ahead = f"%one = arith.constant 1 : index\n%ahead = arith.addi {step}, %one : index"
    changed = re.sub(rf"{step}([,)])", r"%ahead\1", lines[number])
    lines[number] = f"{ahead}\n{changed}"
    said = agree("\n".join(lines))
    assert said.evaluation != "proven"
