"""The tests that judge a mutant, by the side that they belong to."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutants.lit_files import Command, commands

TESTS = Path(__file__).parents[1]

#: The sides, and the files of tests of each; those of lit are files of IR.
LIT, EMULATOR, ORACLE = "lit", "emulator", "oracle"
SIDES = (LIT, EMULATOR, ORACLE)

#: Kernels that the pipeline compiles and the emulator runs, against NumPy.
EMULATED = (
    "test_products",
    "test_operand_bytes",
    "test_views",
    "test_tile_copies",
    "test_relayouts",
    "test_bulk_copies",
    "test_epilogues",
    "test_tcgen05_programs",
    "test_block_programs",
    "test_scaled_parts",
    "test_scale_tiles",
    "test_narrow_programs",
    "test_tensor_copies",
    "test_tensor_a",
    "test_vector_parts",
    "test_transpose_on_cpu",
)
#: What layouts and descriptors are by CuTe's headers, by the ISA's worked examples and by what the chip
#: was seen to do, and what the library says of them and refuses.
COMPARED = ("layout", "advisor/test_chosen_emitted.py", "advisor/test_chosen_oracle.py")

#: Of a test with many parameters so many are taken, evenly.
OF_EACH = 4
#: Tests that take longer judge nobody, in seconds.
SLOW = 1.0


def arguments() -> list[str]:
    """Those of pytest that collect the tests of all sides."""
    emulated = [f"{TESTS}/emulator/{name}.py" for name in EMULATED]
    return [*emulated, *(f"{TESTS}/{name}" for name in COMPARED)]


OPTIONS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--assert=plain",
    "--tb=line",
    "-p",
    "no:warnings",
]


@dataclass
class Judges:
    """Tests by name: functions that say whether the test passes."""

    lit: dict[str, list[Command]] = field(default_factory=commands)
    items: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    _failed: bool = False

    def take(self, items: Iterable[Any], every: bool = False) -> None:
        """Takes tests that pytest has collected; of many cases of one, some."""
        of: dict[str, list[Any]] = defaultdict(list)
        for item in items:
            if not getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                of[item.nodeid.split("[")[0]].append(item)
        for cases in of.values():
            step = 1 if every else max(1, len(cases) / OF_EACH)
            count = len(cases) if every else min(len(cases), OF_EACH)
            for i in range(count):
                self.items[cases[int(i * step)].nodeid] = cases[int(i * step)]

    def side(self, name: str) -> str:
        """The side that a test belongs to."""
        if name in self.lit:
            return LIT
        return EMULATOR if "/emulator/" in name else ORACLE

    @property
    def names(self) -> list[str]:
        """All tests."""
        return [*self.lit, *self.items]

    def passes(self, name: str) -> bool:
        """Whether a test passes."""
        if name not in self.lit:
            item = self.items[name]
            self._failed = False
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            return not self._failed
        for i, command in enumerate(self.lit[name]):
            said = command.output()
            if said != self.expected.get(name, {i: None})[i] and not command.accepts(*said):
                return False
        return True

    # -- as a plugin of pytest -------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._failed |= report.failed
