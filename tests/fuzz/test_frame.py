"""The frame of the fuzzers: inputs by seed, failures of every kind, and reduced inputs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import toy_fuzzer

from fuzz import cache, files, layout, llvm, metamorphic, programs
from fuzz.frame import generator

ROOT = Path(__file__).parents[2]

#: The failure of each number of the toy fuzzer.
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
    environment = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=500
    )


@pytest.mark.parametrize("number", FAILURES)
def test_each_failure_is_reported(tmp_path, number):
    (tmp_path / "input").write_text(f"50\n{number}\n")
    ran = run("--replay", tmp_path / "input")
    assert ran.returncode == 1
    assert f"input: {FAILURES[number]}" in ran.stderr


def test_success_is_reported(tmp_path):
    (tmp_path / "input").write_text("50\n")
    ran = run("--replay", tmp_path / "input")
    assert (ran.returncode, ran.stderr) == (0, f"{tmp_path / 'input'}: no failure\n")


def test_inputs_after_a_failure_are_checked(tmp_path):
    inputs = [tmp_path / name for name in "abcde"]
    for file, number in zip(inputs, (50, 3, 60, 2, 70), strict=True):
        file.write_text(f"{number}\n")
    ran = run("--replay", *inputs)
    assert ran.returncode == 1
    lines = [line for line in ran.stderr.splitlines() if line.startswith(str(tmp_path))]
    expected = ["no failure", FAILURES["3"], "no failure", FAILURES["2"], "no failure"]
    assert lines == [f"{file}: {failure}" for file, failure in zip(inputs, expected, strict=True)]


def test_failures_are_saved_once_and_reduced(tmp_path):
    ran = run("--seed", 3, "--count", 150, "--seconds", 250, "--minimise", 40, "--out", tmp_path)
    assert ran.returncode == 1
    summary = ran.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"fuzz\.toy: 150 inputs in [\d.]+ s \(\d+/s\), \d+ failures \(6 distinct\), seed 3", summary
    )
    assert sorted(file.read_text().strip() for file in tmp_path.iterdir()) == list(FAILURES)
    for failure in FAILURES.values():
        assert f"\n{failure}\n" in ran.stdout


def test_an_input_follows_from_its_seed_and_number(tmp_path):
    ran = run("--seed", 3, "--only", 7)
    assert ran.stdout == toy_fuzzer.draw(generator(3, 7))
    assert ran.stdout != run("--seed", 4, "--only", 7).stdout


def test_processes_share_the_inputs(tmp_path):
    ran = run("--seed", 3, "--count", 31, "--jobs", 3, "--minimise", 0, "--out", tmp_path)
    assert ran.stdout.splitlines()[-1].startswith("fuzz.toy: 31 inputs in ")


def test_a_run_is_recorded(tmp_path):
    arguments = ("--seed", 3, "--count", 31, "--minimise", 0, "--out", tmp_path)
    ran = run(*arguments, "--record", tmp_path / "toy.json")
    record = json.loads((tmp_path / "toy.json").read_text())
    assert (record["seed"], record["inputs"]) == (3, 31)
    failures = sum(record["failures"].values())
    assert f" {failures} failures " in ran.stdout.splitlines()[-1]
    assert record["outcomes"] == {"checked": 31 - failures}
    assert record["command"].endswith("--record benchmarks/results/toy.json")


def test_the_default_seed_is_random_and_printed(tmp_path):
    seeds = {run("--count", 0, "--out", tmp_path).stdout.splitlines()[0] for _ in range(2)}
    assert len(seeds) == 2


@pytest.mark.parametrize(
    "fuzzer", [cache, files, layout, llvm, metamorphic, programs], ids=lambda f: f.FUZZER.name
)
def test_fuzzers_draw_by_seed_alone(fuzzer):
    drawn = [fuzzer.FUZZER.input_text(1, number) for number in range(3)]
    assert drawn == [fuzzer.FUZZER.input_text(1, number) for number in range(3)]
    assert len(set(drawn)) == 3
