"""Counts who notices mutants of the code that computes layouts and descriptors.

    python tests/mutants/run.py --record benchmarks/results/mutants.json

Each mutant is judged by a sample of the tests of each side that execute the line that it edits, in a
process of its own.
"""

import argparse
import gc
import json
import os
import pickle
import random
import re
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import coverage
import numpy as np  # noqa: F401  (is loaded once)
import pytest

from mutants.applied import functions, import_with, patch
from mutants.edits import ROOT, Mutant, mutants_of
from mutants.judges import OPTIONS, SIDES, SLOW, Judges, arguments

#: What is mutated: how many mutants of each file at most, by a fixed seed.
LAYOUT = "layout"
EMITTED = (
    "ir/matrix_descriptors.py",
    "passes/materialize_descriptors/__init__.py",
    "passes/materialize_descriptors/said.py",
    "passes/materialize_descriptors/scaled.py",
    "passes/lower_mma/tcgen05/mma.py",
    "passes/lower_mma/tcgen05/scaled.py",
)
DECODED = (
    "emulator/wgmma/descriptors.py",
    "emulator/tcgen05/descriptors.py",
    "emulator/tensor_core/operands.py",
)
#: Files of `layout/` of which nothing depends on arithmetic, or whose arithmetic is that of text.
TEXTUAL = ("notation.py", "path.py", "text_error.py", "proposals.py", "__init__.py")

#: So many tests of a side judge a mutant.
JUDGES = {"lit": 100, "emulator": 12, "oracle": 30}


def files() -> list[str]:
    """The files that are mutated."""
    found = sorted(str(f.relative_to(ROOT)) for f in (ROOT / LAYOUT).rglob("*.py"))
    return [*(f for f in found if Path(f).name not in TEXTUAL), *EMITTED, *DECODED]


def drawn(share: float) -> list[Mutant]:
    """A share of the mutants of each file; of the bits of descriptors all."""
    taken = []
    for file in files():
        every = mutants_of(file)
        bits = [m for m in every if re.search(r"\^ \d+ \[", m.name) and "encode" in m.what]
        others = [m for m in every if m not in bits]
        count = min(len(others), max(6, round(share * len(others))))
        some = random.Random(file).sample(others, count)
        taken += [m for m in every if m in some or m in bits]
    return taken


class Executed:
    """Which tests execute which lines.

    Args:
        contexts: for each file, the tests by line; "" stands for imports.
    """

    def __init__(self, contexts: dict[str, dict[int, list[str]]]) -> None:
        self._by_line = contexts
        self._naming: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for file, lines in contexts.items():
            for line in lines:
                for name in re.findall(r"\w+", self._text(file, line)):
                    self._naming[name].add((file, line))

    def at_import(self, mutant: Mutant) -> bool:
        """Whether the place is executed while modules are imported, or never seen."""
        lines = self._lines(mutant)
        return mutant.function is None or any("" in tests for tests in lines)

    def tests(self, mutant: Mutant) -> set[str]:
        """The tests that execute the place; of what imports execute, the lines that name it, too."""
        found = {test for tests in self._lines(mutant) for test in tests if test}
        if self.at_import(mutant):
            for file, line in self._named(mutant):
                found |= set(self._by_line[file][line])
        return found - {""}

    def _named(self, mutant: Mutant) -> set[tuple[str, int]]:
        """The lines that name what a mutant's statement or function defines, and what these define."""
        first, last = mutant.statement
        places = {(mutant.file, line) for line in range(first, last + 1)}
        names = {mutant.function[0].rpartition(".")[2]} if mutant.function else set()
        found: set[tuple[str, int]] = set()
        for _ in range(3):
            names |= {name for place in places for name in _defined(self._text(*place))}
            places = {place for name in names for place in self._naming.get(name, ())} - found
            found |= places
        return found

    @staticmethod
    def _text(file: str, line: int) -> str:
        return _lines_of(file)[line - 1]

    def _lines(self, mutant: Mutant) -> list[list[str]]:
        first, last = mutant.statement
        lines = self._by_line.get(mutant.file, {})
        return [lines[n] for n in range(first, last + 1) if n in lines]


@cache
def _lines_of(file: str) -> list[str]:
    return (ROOT / file).read_text().splitlines()


def _defined(text: str) -> set[str]:
    """The names that a line assigns."""
    found = re.match(r"\s*(\w+(?:, \w+)*)(?:\s*:[^=]+)? = ", text)
    return set(found[1].split(", ")) if found else set()


def chosen(tests: set[str], names: list[str], side_of) -> dict[str, list[str]]:
    """Of the tests that may judge, some of each side: of each function one, then a second, and so on."""
    found = {}
    for side in SIDES:
        by_function = defaultdict(list)
        for name in names:
            if name in tests and side_of(name) == side:
                by_function[name.split("[")[0]].append(name)
        ones = sorted(
            (i, _late(n), n) for cases in by_function.values() for i, n in enumerate(cases)
        )
        first = [name for i, _, name in ones if i == 0]
        count = JUDGES[side]
        if len(first) > count:
            found[side] = [first[int(i * len(first) / count)] for i in range(count)]
        else:
            found[side] = [name for _, _, name in ones[:count]]
    return found


def _late(name: str) -> bool:
    """Whether a test says less than others: one of refusals and of command lines."""
    return name.startswith(("lit_tests/invalid", "lit_tests/driver"))


# -- processes -------------------------------------------------------------------------------------


def in_child(work, seconds: float):
    """Runs work in a fork; its pipe and process."""
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    os.close(out)
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            if not os.environ.get("MUTANTS_DEBUG") or stream == 0:
                os.dup2(nowhere, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        work(lambda line: os.write(into, (line + "\n").encode()))
    except BaseException as error:
        if os.environ.get("MUTANTS_DEBUG"):
            import traceback

            traceback.print_exc()
        os.write(into, f"died {type(error).__name__}\n".encode())
    os._exit(0)


def said_by(pid: int, out: int, wall: float) -> list[str]:
    """What a fork says until its end."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.alarm(int(wall))
    with os.fdopen(out) as lines:
        text = lines.read()
    signal.alarm(0)
    _, status = os.waitpid(pid, 0)
    lines = text.splitlines()
    if status:
        lines.append("died")
    return lines


def judged(start, mutant: Mutant, by: dict[str, list[str]]) -> dict[str, str | None]:
    """Who notices a mutant: for each side the first test that fails, None if all pass.

    Args:
        start: has the tests run that are given, within a fork.
    """
    found: dict[str, str | None] = {}
    left = [side for side in SIDES if by[side]]
    for side in SIDES:
        if not by[side]:
            found[side] = None
    while left:
        asked = {side: by[side] for side in left}
        pid, out = in_child(lambda say, asked=asked: start(say, mutant, asked), 60)
        lines = said_by(pid, out, 150)
        at = left[0]
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "side":
                at = rest
            elif word == "noticed":
                found[at] = rest
            elif word == "passed":
                found[at] = None
            elif word == "died" and at not in found:
                found[at] = f"the process ends {rest}".strip()
        found.setdefault(at, "the process ends")
        left = [side for side in left if side not in found]
    return found


def all_judged(mutants, start, file: Path, tell, options) -> None:
    """Judges mutants by several processes, which append what they find to a file of their own each."""
    workers = []
    for number in range(options.jobs):
        pid = os.fork()
        if pid:
            workers.append(pid)
            continue
        kills: Counter[str] = Counter()
        with file.with_name(f"{file.name}-{number}").open("wb") as results:
            for mutant, by in mutants[number :: options.jobs]:
                if time.monotonic() > options.deadline:
                    break
                ordered = {
                    side: sorted(names, key=lambda n: -kills[n]) for side, names in by.items()
                }
                noticed = judged(start, mutant, ordered)
                kills.update(name for name in noticed.values() if name)
                pickle.dump((mutant, by, noticed), results)
                results.flush()
                missed = [side for side, name in noticed.items() if not name]
                tell(f"{mutant.name}  missed by {missed} of {[len(n) for n in by.values()]}")
        os._exit(0)
    for pid in workers:
        os.waitpid(pid, 0)


def read_results(folder: Path) -> list:
    """What all processes have found."""
    found = []
    for file in sorted(folder.glob("results-*")):
        with file.open("rb") as results:
            while True:
                try:
                    found.append(pickle.load(results))
                except EOFError:
                    break
    return found


def ask(judges: Judges, say, by: dict[str, list[str]]) -> None:
    """Has the tests of each side run until one fails."""
    for side, names in by.items():
        say(f"side {side}")
        failed = next((name for name in names if not judges.passes(name)), None)
        say(f"noticed {failed}" if failed else "passed")


class Late:
    """Plugin: judges mutants of functions that are not executed before tests run."""

    def __init__(self, mutants: list[Mutant], file: Path, tell, options) -> None:
        self._mutants, self._file, self._tell, self._options = mutants, file, tell, options
        self.judges = Judges()

    def pytest_runtestloop(self, session):
        self.loaded.stop()
        self.loaded.save()
        self.judges.take(session.items)
        seen = self._file.with_name("seen")
        began = time.monotonic()
        kept = self._options.baseline
        if kept and kept.exists():
            seen.write_bytes(kept.read_bytes())
        else:
            pid, out = in_child(lambda say: self._baseline(seen), 1500)
            said = said_by(pid, out, 1500)
            assert seen.exists(), said
            if kept:
                kept.write_bytes(seen.read_bytes())
        contexts, self.judges.expected, names, left_out = pickle.loads(seen.read_bytes())
        self._tell(f"{len(names)} tests in {time.monotonic() - began:.0f} s; left out: {left_out}")
        data = coverage.CoverageData(str(self._file.with_name("loaded")))
        data.read()
        for path in data.measured_files():
            lines = contexts.setdefault(str(Path(path).resolve().relative_to(ROOT)), {})
            for line in data.lines(path) or ():
                lines.setdefault(line, []).append("")
        executed = Executed(contexts)
        late, early = [], []
        for mutant in self._mutants:
            by = chosen(executed.tests(mutant), names, self.judges.side)
            (early if executed.at_import(mutant) or not functions(mutant) else late).append(
                (mutant, by)
            )
        self._file.write_bytes(pickle.dumps((early, self.judges.expected)))
        all_judged(
            late, self._start, self._file.with_name("results-late"), self._tell, self._options
        )
        return True

    def _start(self, say, mutant, by):
        patch(mutant)
        ask(self.judges, say, by)

    def _baseline(self, seen: Path) -> None:
        cov = _coverage(seen.with_name("run"))
        cov.start()
        names, left_out, expected = [], [], {}

        def late(*_):
            raise TimeoutError

        signal.signal(signal.SIGPROF, late)
        cached = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
        cached = [each for each in cached if each.__module__.startswith("mlir_smem.")]
        for name in self.judges.names:
            cov.switch_context(name)
            for each in cached:  # what is computed once is executed for each test
                each.cache_clear()
            signal.setitimer(signal.ITIMER_PROF, 2 * SLOW)  # twice, since coverage is slow
            try:
                if name in self.judges.lit:
                    expected[name] = [c.output() for c in self.judges.lit[name]]
                good = self.judges.passes(name)
            except TimeoutError:
                good = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            (names if good else left_out).append(name)
        cov.switch_context("")
        cov.stop()
        cov.save()
        data = cov.get_data()
        contexts = {
            str(Path(path).resolve().relative_to(ROOT)): data.contexts_by_lineno(path)
            for path in data.measured_files()
        }
        seen.write_bytes(pickle.dumps((contexts, expected, names, left_out)))


def _coverage(file: Path):
    return coverage.Coverage(
        data_file=str(file), config_file=False, include=[str(ROOT / f) for f in files()]
    )


class Early:
    """Plugin: runs chosen tests within the process that imports a mutant."""

    def __init__(self, say, by, expected) -> None:
        self.judges, self._say, self._by = Judges(expected=expected), say, by

    def pytest_runtestloop(self, session):
        (names,) = self._by.values()
        self.judges.take([item for item in session.items if item.nodeid in names], every=True)
        self._by = {
            side: [n for n in names if n in self.judges.names] for side, names in self._by.items()
        }
        ask(self.judges, self._say, self._by)
        os._exit(0)


def start_early(expected):
    """What has tests run of which some are collected first, all within a fork that imports a mutant."""

    def start(say, mutant, by):
        import_with(mutant)
        say(f"side {next(iter(by))}")
        judges = Judges(expected=expected)
        for side in list(by):
            names = by.pop(side)
            if side == "lit":
                ask(judges, say, {side: names})
                continue
            say(f"side {side}")
            plugin = Early(say, {side: names}, expected)
            collected = sorted({name.split("::")[0] for name in names})
            code = pytest.main([*OPTIONS, "-s", *collected], plugins=[plugin, plugin.judges])
            say(f"noticed {collected[0]}: the tests cannot be collected ({int(code)})")
            os._exit(0)

    return start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument("--share", type=float, default=0.12, help="of the mutants of each file")
    parser.add_argument("--only", default="", help="mutants whose names contain this")
    parser.add_argument("--jobs", type=int, default=2, help="processes that judge")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop then, with what is judged")
    parser.add_argument(
        "--baseline", type=Path, help="keep here what tests execute, or take it from here"
    )
    options = parser.parse_args()
    os.chdir(ROOT)
    began = time.monotonic()
    options.deadline = began + options.seconds
    mutants = [m for m in drawn(options.share) if options.only in m.name]
    random.Random(0).shuffle(mutants)

    def tell(said: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {said}", flush=True)

    tell(f"{len(mutants)} mutants")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "late"
        pid = os.fork()
        if not pid:
            plugin = Late(mutants, file, tell, options)
            plugin.loaded = _coverage(file.with_name("loaded"))
            plugin.loaded.start()
            import mlir_smem.tools.smem_opt  # noqa: F401

            pytest.main([*OPTIONS, *arguments(), "-s"], plugins=[plugin, plugin.judges])
            os._exit(0)
        os.waitpid(pid, 0)
        early, expected = pickle.loads(file.read_bytes())
        import torch_mlir.ir  # noqa: F401

        tell(f"{len(early)} that imports execute")
        options.deadline = max(options.deadline, time.monotonic() + options.seconds / 3)
        all_judged(early, start_early(expected), Path(folder) / "results-early", tell, options)
        results = read_results(Path(folder))
    if options.record:
        write(options.record, results, time.monotonic() - began, options.share)


def write(path: Path, results, seconds: float, share: float) -> None:
    """Writes the record: for each mutant, the test of each side that notices it."""
    rows = [
        {
            "mutant": m.name,
            "function": m.function is not None,
            "noticed": noticed,
            "asked": {s: len(n) for s, n in by.items()},
        }
        for m, by, noticed in sorted(results, key=lambda r: (r[0].file, r[0].line, r[0].name))
    ]
    record = {
        "command": f"python tests/mutants/run.py --share {share} --record {path}",
        "share": share,
        "drawn": len(drawn(share)),
        "judges": JUDGES,
        "seconds": round(seconds),
        "mutants": rows,
    }
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
