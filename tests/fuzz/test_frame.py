"""The frame of the fuzzers: inputs by seed, failures of every kind, small inputs that show them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import toy_fuzzer

from fuzz import cache, files, layout, llvm, metamorphic, programs
from fuzz.frame import generator

HOUSE = Path(__file__).parents[2]

#: What each number of the toy is called.
FAILURES = {
    "1": "KeyError in tests/support/toy_fuzzer.py: raises",
    "2": "kind in where",
    "3": "SIGABRT in tests/support/toy_fuzzer.py: check",
    "4": "exit 1 in no frame: LLVM ERROR: bad input ",
    "5": "hang in tests/support/toy_fuzzer.py",
    "6": "MemoryError in tests/support/toy_fuzzer.py: <lambda>",
}


def run(*arguments):
    command = [sys.executable, toy_fuzzer.__file__, *map(str, arguments)]
    environment = {"PYTHONPATH": str(HOUSE)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=500
    )


@pytest.mark.parametrize("number", FAILURES)
def test_each_way_to_fail_is_told(tmp_path, number):
    (tmp_path / "input").write_text(f"50\n{number}\n")
    told = run("--replay", tmp_path / "input")
    assert told.returncode == 1
    assert f"input: {FAILURES[number]}" in told.stderr


def test_what_does_not_fail_is_told_too(tmp_path):
    (tmp_path / "input").write_text("50\n")
    told = run("--replay", tmp_path / "input")
    assert (told.returncode, told.stderr) == (0, f"{tmp_path / 'input'}: as it should be\n")


def test_failures_are_kept_once_and_small(tmp_path):
    told = run("--seed", 3, "--count", 150, "--seconds", 250, "--minimise", 40, "--out", tmp_path)
    assert told.returncode == 1
    summary = told.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"fuzz\.toy: 150 inputs in [\d.]+ s \(\d+/s\), \d+ failures \(6 distinct\), seed 3", summary
    )
    assert sorted(file.read_text().strip() for file in tmp_path.iterdir()) == list(FAILURES)
    for said in FAILURES.values():
        assert f"\n{said}\n" in told.stdout


def test_an_input_follows_from_its_seed_and_number(tmp_path):
    told = run("--seed", 3, "--only", 7)
    assert told.stdout == toy_fuzzer.draw(generator(3, 7))
    assert told.stdout != run("--seed", 4, "--only", 7).stdout


def test_processes_share_the_inputs(tmp_path):
    told = run("--seed", 3, "--count", 31, "--jobs", 3, "--minimise", 0, "--out", tmp_path)
    assert told.stdout.splitlines()[-1].startswith("fuzz.toy: 31 inputs in ")


def test_what_was_done_is_recorded(tmp_path):
    arguments = ("--seed", 3, "--count", 31, "--minimise", 0, "--out", tmp_path)
    told = run(*arguments, "--record", tmp_path / "toy.json")
    record = json.loads((tmp_path / "toy.json").read_text())
    assert (record["seed"], record["inputs"]) == (3, 31)
    assert f" {sum(record['failures'].values())} failures " in told.stdout.splitlines()[-1]
    assert record["command"].endswith("--record benchmarks/results/toy.json")


def test_a_fresh_seed_is_said(tmp_path):
    seeds = {run("--count", 0, "--out", tmp_path).stdout.splitlines()[0] for _ in range(2)}
    assert len(seeds) == 2


@pytest.mark.parametrize(
    "fuzzer", [cache, files, layout, llvm, metamorphic, programs], ids=lambda f: f.FUZZER.name
)
def test_fuzzers_draw_by_seed_alone(fuzzer):
    drawn = [fuzzer.FUZZER.drawn(1, number) for number in range(3)]
    assert drawn == [fuzzer.FUZZER.drawn(1, number) for number in range(3)]
    assert len(set(drawn)) == 3
