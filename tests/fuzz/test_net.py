"""The net under the prover: its programs are those of the record, and changes of verdicts are told."""

from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.net import record, verdicts
from fuzz.net.__main__ import print_changes
from fuzz.net.programs import STRATA, program
from fuzz.net.verdicts import RIGHT, SCHEDULES, Row
from mlir_smem.passes import pass_named

RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "prover-net.json"

RIGHT_RUNS, WRONG_RUNS = (RIGHT,) * SCHEDULES, (RIGHT, "race") * (SCHEDULES // 2)

needs_record = pytest.mark.skipif(not RECORD.exists(), reason="the record has not been made")


def test_every_stratum_is_drawn_once_in_a_block():
    drawn = [program(index) for index in range(len(STRATA))]
    assert sorted((case.generator, case.edit) for case in drawn) == sorted(STRATA)
    assert len({case.digest for case in drawn}) == len(STRATA)


@needs_record
@pytest.mark.parametrize("index", range(0, 60, 10))
def test_programs_are_those_of_the_record(index):
    rows, seed = record.read(RECORD)
    now = verdicts.row(program(index, seed), schedules=0)
    assert record.change(rows[index], now) == record.SAME
    assert not record.insertion_change(rows[index], now)


@needs_record
def test_a_checker_that_proves_everything_is_told(monkeypatch, capsys):
    rows, seed = record.read(RECORD)
    index = next(
        i for i, row in rows.items() if row.verdict == "w" and not row.is_right and row.runs
    )
    monkeypatch.setattr(pass_named("smem-check-async"), "run", lambda self, module: None)
    now = verdicts.row(program(index, seed), schedules=0)
    assert print_changes(rows, {index: now}) == 1
    assert (
        f"UNSOUND: newly proven, and the emulator found it wrong: {index}"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    "before, after, runs, expected",
    [
        ("w", "p", WRONG_RUNS, record.UNSOUND),
        ("u", "p", WRONG_RUNS, record.UNSOUND),
        ("u", "p", RIGHT_RUNS, record.RIGHTLY),
        ("r", "p", (), record.UNTESTED),
        ("p", "u", RIGHT_RUNS, record.LOST),
        ("p", "u", WRONG_RUNS, record.LOST_RIGHTLY),
        ("p", "r", RIGHT_RUNS, record.LOST),
        ("p", "w", RIGHT_RUNS, record.WRONGLY),
        ("u", "w", RIGHT_RUNS, record.WRONGLY),
        ("u", "w", WRONG_RUNS, record.OTHER),
        ("p", "c", RIGHT_RUNS, record.DIES),
        ("p", "p", RIGHT_RUNS, record.SAME),
    ],
)
def test_changes_of_verdicts(before, after, runs, expected):
    was, now = Row("abc", before, "p", 1, runs), Row("abc", after, "p", 1)
    assert record.change(was, now) == expected
    assert print_changes({0: was}, {0: now}) == record.CHANGES[expected]


def test_another_text_fails():
    was, now = Row("abc", "w", "p", 1, WRONG_RUNS), Row("abd", "p", "p", 1)
    assert record.change(was, now) == record.DRIFTED
    assert print_changes({0: was}, {0: now}) == 1


def test_an_edit_that_nothing_can_have_is_told(monkeypatch):
    monkeypatch.setattr("fuzz.net.programs.apply_edit", lambda *_: None)
    monkeypatch.setattr("fuzz.net.programs._MOST_DRAWN", 2)
    with pytest.raises(LookupError, match="none of 2 kernels of"):
        program(0)


def test_a_program_that_the_emulator_now_finds_wrong_is_unsound():
    was, now = Row("abc", "p", "p", 1, RIGHT_RUNS), Row("abc", "p", "p", 1, WRONG_RUNS)
    assert record.change(was, now) == record.UNSOUND


def test_a_lost_insertion_fails(capsys):
    was, now = Row("abc", "p", "p", 1, RIGHT_RUNS), Row("abc", "p", "r", 0)
    assert print_changes({7: was}, {7: now}) == 1
    assert "smem-insert-sync: inserted, proven -> refused: 7" in capsys.readouterr().out


def test_other_ops_that_the_emulator_finds_wrong_are_unsound(capsys):
    was = Row("abc", "p", "p", 3, RIGHT_RUNS, (RIGHT, RIGHT))
    now = Row("abc", "p", "p", 2, (), (RIGHT, "race"))
    assert print_changes({7: was}, {7: now}) == 1
    message = (
        "smem-insert-sync: UNSOUND: inserted, proven, and the emulator found it wrong (race): 7"
    )
    assert message in capsys.readouterr().out
    assert print_changes({7: was}, {7: Row("abc", "p", "p", 2, (), (RIGHT, RIGHT))}) == 0
    assert "smem-insert-sync: other ops inserted: 7" in capsys.readouterr().out


def test_what_is_inserted_runs_on_the_emulator_where_it_differs():
    rows = ((case, verdicts.row(case, schedules=0)) for case in map(program, range(60)))
    drawn, before = next((case, row) for case, row in rows if row.inserted == "p")
    assert not before.inserted_runs
    assert verdicts.row(drawn, 0, before) == before
    fewer = replace(before, count=before.count + 1)
    assert verdicts.row(drawn, 0, fewer).inserted_runs == (RIGHT,) * verdicts.INSERTED_SCHEDULES


def test_a_record_is_read_as_it_was_written(tmp_path):
    rows = {
        3: Row("00ff00", "p", "p", 4, RIGHT_RUNS, (RIGHT, RIGHT)),
        4: Row("00ff01", "u", "r", 0, WRONG_RUNS),
        5: Row("", "h"),
    }
    record.write(tmp_path / "net.json", rows, 0, 1.0)
    assert record.read(tmp_path / "net.json") == (rows, 0)
