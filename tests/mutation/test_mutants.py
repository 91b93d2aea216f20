"""Mutants differ from the original, include every bit of a descriptor, and are noticed by lit."""

import ast
import subprocess
import sys
from itertools import chain

import pytest
from mutation import net, sides, targets
from mutation.explained import EQUIVALENT, SEEN_BY_ONE
from mutation.mutations import ROOT, mutants_of, parse_file

RECORD = ROOT / "benchmarks" / "results" / "mutants.json"


@pytest.mark.parametrize("file", ["layout/swizzle.py", "layout/tcgen05/descriptor.py"])
def test_mutants_compile_and_differ_from_the_original(file):
    before = ast.dump(parse_file(file))
    for mutant in mutants_of(file)[::3]:
        assert ast.dump(mutant.tree()) != before, mutant.name
        mutant.code()


def test_every_bit_of_a_descriptor_is_drawn():
    names = {mutant.name for mutant in targets.draw_mutants(0)}
    for name, width in (("Wgmma", 64), ("Tcgen05", 64), ("Instruction", 32)):
        for bit in range(width):
            end = f"(type(d).__name__ == '{name}Descriptor') << {bit})("
            assert any(end in mutant for mutant in names), (name, bit)


def test_complete_places_have_mutants():
    for file, places in targets.COMPLETE.items():
        mutated = {mutant.place for mutant in mutants_of(file)}
        for place in places:
            assert any(name.startswith(place) for name in mutated), (file, place)


def test_tests_that_sides_name_exist():
    for files in (*sides.EMULATED, *sides.COMPARED):
        for file, (_, names) in files.items():
            text = (ROOT / "tests" / f"{file}.py").read_text()
            for name in names:
                assert f"\ndef test_{name}" in text, (file, name)


def test_names_of_mutants_are_unique():
    names = [mutant.name for file in targets.files() for mutant in mutants_of(file)]
    assert len(set(names)) == len(names)


def test_a_missing_file_is_reported(monkeypatch):
    monkeypatch.setattr(targets, "EMITTED", ("passes/gone.py",))
    with pytest.raises(FileNotFoundError, match=r"not exist: \['passes/gone.py'\]"):
        targets.files()


def test_explained_mutants_exist():
    files = {*targets.files(), *chain.from_iterable(map(net.files, net.SHARES))}
    names = {mutant.name for file in files for mutant in mutants_of(file)}
    for key in chain(*EQUIVALENT.values(), *SEEN_BY_ONE.values()):
        assert key in names or any(name.startswith(key.removesuffix("…")) for name in names), key


def test_mutants_of_the_record_are_still_noticed():
    command = [sys.executable, "tests/mutation/run.py", "--again", "6", "--record", str(RECORD)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
