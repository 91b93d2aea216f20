import json
import subprocess
import sys
from types import SimpleNamespace

import case_seconds
import pytest
import tiers
from case_seconds import CaseSeconds
from smoke import choose


@pytest.fixture
def slow_table(monkeypatch, tmp_path):
    """A table with one slow case, `t.py::slow`."""
    monkeypatch.setattr(tiers, "SLOW", tmp_path / "slow.json")
    seconds = {"t.py::slow": 2.0, "t.py::quick": tiers.LIMIT}
    tiers.write_slow(seconds, {"command": "make slow"})
    return json.loads(tiers.SLOW.read_text())


def test_the_table_names_what_takes_more_than_the_limit(slow_table):
    assert slow_table["cases"] == {"t.py::slow": 2.0}
    assert slow_table["measured"] == 2


@pytest.mark.parametrize(
    ("tier", "cases"),
    [("default", {"t.py::quick"}), ("all", {"t.py::quick", "t.py::slow"}), ("smoke", set())],
)
def test_cases_of_a_tier(slow_table, tier, cases):
    assert tiers.in_tier(tier, ["t.py::quick", "t.py::slow"]) == cases


@pytest.mark.parametrize(("before", "expected"), [(1, 3), (2, 3), (5, 5)])
def test_of_a_long_test_every_nth_case_is_in_the_default_tier(
    slow_table, monkeypatch, before, expected
):
    cases = [f"t.py::long[{i}]" for i in range(90)]
    of_a_case = 2.5 * tiers.TEST_LIMIT / len(cases)
    monkeypatch.setattr(tiers, "LIMIT", of_a_case)
    seconds = dict.fromkeys(cases, of_a_case) | {
        "t.py::long[slow]": 2 * of_a_case,
        "t.py::short[0]": of_a_case,
    }
    tiers.SLOW.write_text(json.dumps({"cases": {}, "tests": {"t.py::long": before}}))
    tiers.write_slow(seconds, {})
    assert tiers.long_tests() == {"t.py::long": expected}
    assert tiers.in_tier("default", seconds) == {*cases[::expected], "t.py::short[0]"}


def test_unknown_tiers_are_refused_with_those_that_there_are(capsys):
    assert pytest.main([__file__, "--tier=fast"]) == pytest.ExitCode.USAGE_ERROR
    message = capsys.readouterr().err
    assert "invalid choice: 'fast'" in message
    assert all(tier in message for tier in tiers.TIERS)


def test_children_count():
    before = tiers.cpu_seconds()
    program = (
        "import time\nwhile time.process_time() < 0.12: pass\nprint(flush=True)\nopen(0).read()"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        running = tiers.cpu_seconds() - before
        child.stdin.close()
    # Running processes are measured in ticks of 10 ms, those that have ended exactly.
    assert 0.1 <= running <= tiers.cpu_seconds() - before + 0.02


@pytest.mark.parametrize(("again", "fails"), [(1.6, True), (0.4, False)])
def test_a_case_that_is_slow_in_two_runs_fails(slow_table, monkeypatch, tmp_path, again, fails):
    def run(command, **_):
        (option,) = (word for word in command if word.startswith("--seconds="))
        case_seconds.Path(option.removeprefix("--seconds=")).write_text(
            json.dumps({"t.py::new": again})
        )

    monkeypatch.setattr(case_seconds.subprocess, "run", run)
    monkeypatch.setattr(tiers, "slowness", lambda: 1.0)
    options = {"--check-slow": True}
    config = SimpleNamespace(getoption=options.get, rootpath=tmp_path)
    plugin = CaseSeconds(config)
    plugin.seconds = {"t.py::new": 1.7, "t.py::slow": 9.0, "t.py::quick": 1.4}
    session = SimpleNamespace(exitstatus=0)
    plugin.pytest_sessionfinish(session)
    assert bool(session.exitstatus) == fails


def test_the_limit_grows_with_a_slower_machine(slow_table, monkeypatch):
    monkeypatch.setattr(tiers, "calibration", lambda: 2 * slow_table["calibration"])
    assert tiers.slowness() == pytest.approx(2)
    monkeypatch.setattr(tiers, "calibration", lambda: slow_table["calibration"] / 2)
    assert tiers.slowness() == 1


def test_smoke_takes_the_most_lines_per_second():
    lines = {"a::1": 0b1111111111, "a::2": 0b111111111, "b::1": 1 << 20, "b::2": (1 << 30) - 1}
    seconds = {"a::1": 0.1, "a::2": 0.01, "b::1": 0.01, "b::2": 9.0}
    chosen, share = choose(lines, seconds, 0.3)
    assert chosen == ["a::2", "b::1", "a::1"]
    assert share == pytest.approx(11 / 30)


def test_the_smoke_tier_exists():
    assert len(tiers.smoke_cases()) > 50
