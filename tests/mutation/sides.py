"""The three sides that evaluate a mutant: each is a fixed list of tests, in a fixed order.

Tests that most mutants fail come first, since a side stops at the first failure.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from mutation import lit_files
from mutation.mutations import ROOT

LIT, EMULATOR, ORACLE = "lit", "emulator", "oracle"

#: Beginnings of the names of lit tests that run first. The others follow by name.
LIT_FIRST = (
    "lit_tests/canonical/",
    "lit_tests/layout/",
    "lit_tests/passes/materialize-descriptors/",
    "lit_tests/tcgen05/",
    "lit_tests/passes/lower-mma/",
    "lit_tests/passes/assign-layouts/",
    "lit_tests/passes/lower-copies/",
)

#: For each file: the number of cases of each test that run, and the beginnings of the names of the tests
#: that run; none for all.
Files = dict[str, tuple[int, tuple[str, ...]]]

#: Kernels that the pipeline compiles and the emulator runs, compared with NumPy. pytest collects each
#: group separately.
EMULATED: tuple[Files, ...] = (
    {
        "emulator/wgmma/test_wgmma_programs": (12, ()),
        "emulator/wgmma/test_wgmma_operand_bytes": (24, ()),
    },
    {
        "emulator/tcgen05/test_tcgen05_descriptor_rules": (24, ()),
        "emulator/tcgen05/test_tcgen05_programs": (8, ("product_is_exact", "the_example")),
        "emulator/tcgen05/test_scaled_and_pair_programs": (
            3,
            ("product_is_exact", "rows_of_48_bytes"),
        ),
        "emulator/wgmma/test_wgmma_subtiles": (6, ()),
        "emulator/test_relayouts": (5, ()),
        "emulator/test_epilogues": (5, ()),
    },
    {
        "emulator/test_tile_copies": (6, ()),
        "emulator/tcgen05/test_narrow_programs": (5, ()),
        "emulator/tcgen05/test_scale_tiles": (4, ()),
        "emulator/tcgen05/test_scaled_subtiles": (2, ()),
        "emulator/tcgen05/test_tcgen05_a_in_tensor_memory": (3, ()),
        "emulator/ops/test_views": (4, ()),
        "emulator/tma/test_bulk_copies": (4, ()),
        "emulator/wgmma/test_wgmma_assembly": (2, ()),
        "emulator/tma/test_tma_pipeline": (1, ()),
        "emulator/test_gemm_on_cpu": (4, ("gemm_is_exact",)),
        "runtime/test_arguments": (9, ("strides_are_aligned", "matrices_that_do_not_fit")),
    },
)

#: Layouts and descriptors compared with CuTe's headers, with the ISA's worked examples and with what the
#: chip was observed to read; and the messages and refusals of the library.
COMPARED: tuple[Files, ...] = (
    {
        "layout/wgmma/test_wgmma_descriptor": (8, ()),
        "layout/tcgen05/test_tcgen05_descriptor": (8, ()),
        "layout/tcgen05/test_instruction_descriptor": (12, ()),
        "layout/test_isa_examples": (12, ()),
        "layout/test_swizzle": (8, ()),
        "layout/test_canonical": (8, ()),
        "layout/wgmma/test_wgmma_operand": (8, ()),
        "layout/tcgen05/test_tcgen05_operand": (8, ()),
    },
    {"passes/test_materialize_descriptors": (16, ()), "advisor/test_chosen_emitted": (2, ())},
    {
        "layout/test_oracle": (2, ()),
        "layout/tcgen05/test_tcgen05_oracle": (2, ()),
        "advisor/test_tcgen05_oracle_answers": (2, ()),
        "advisor/test_chosen_oracle": (2, ("the_steps", "the_layout")),
        "advisor/test_scale_tile": (4, ("the_copies_read", "the_emulator_copies")),
        "codegen/test_alignment": (4, ()),
        "layout/tcgen05/test_chunks": (8, ()),
        "layout/tcgen05/test_scales": (8, ()),
        "layout/tcgen05/test_accumulator": (8, ()),
        "layout/tcgen05/test_tcgen05_isa": (8, ()),
        "layout/wgmma/test_sparsity": (6, ()),
        "layout/wgmma/test_sparse_operand": (6, ()),
        "layout/wgmma/test_wgmma_shapes": (8, ()),
        "layout/wgmma/test_wgmma_types": (8, ()),
        "layout/test_tile": (6, ()),
        "layout/test_modes": (6, ()),
        "layout/test_fragments": (6, ()),
        "layout/test_fragment_access": (6, ()),
        "layout/test_uses": (6, ()),
        "layout/test_elements": (6, ()),
        "layout/test_element_map": (6, ()),
        "layout/test_atoms": (6, ()),
        "layout/test_banks": (6, ()),
        "layout/test_arch": (12, ()),
        "layout/test_choice": (6, ()),
        "layout/test_extents": (6, ()),
        "layout/test_mma_support": (6, ()),
        "layout/test_tensor_box": (6, ()),
        "layout/test_tensor_map": (6, ()),
        "layout/test_affine": (6, ()),
        "layout/test_overlap": (6, ()),
        "layout/test_tile_copy": (6, ()),
        "layout/test_transfer": (6, ()),
        "layout/test_transposition": (6, ()),
    },
)

#: Tests that take seconds or need other programs, and whose layouts other tests cover.
_LEFT_OUT = {
    "test_no_canonical_tile_that_is_turned_conflicts",
    "test_no_canonical_tile_conflicts",
    "test_long_text_is_read_at_once",
    "test_choice_of_an_a_that_is_loaded_into_registers",
    "test_choice_of_an_operand",
    "test_ptxas_accepts_the_same_text",
}

_OPTIONS = (
    *("-q", "-x", "-s", "--tb=line", "--assert=plain", "--tier=all"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:warnings"),
)


def noticed_by(side: str) -> str | None:
    """Return the first test of a side that fails within this process; None if all pass."""
    if side == LIT:
        return next((name for name in _lit_tests() if not lit_files.passes(name)), None)
    groups = {EMULATOR: EMULATED, ORACLE: COMPARED}[side]
    return next(filter(None, map(failing_test, groups)), None)


def _lit_tests() -> list[str]:
    def rank(name: str) -> int:
        return next((i for i, first in enumerate(LIT_FIRST) if name.startswith(first)), 99)

    return sorted(lit_files.tests(), key=lambda name: (rank(name), name))


def failing_test(files: Files) -> str | None:
    """Return the first test of a group that fails, or that cannot be collected."""
    import pytest

    sample = _Sample(files)
    paths = [str(ROOT / "tests" / f"{name}.py") for name in files]
    code = pytest.main([*_OPTIONS, f"--rootdir={ROOT}", *paths], plugins=[sample])
    return None if code == 0 else sample.failed or f"pytest ends with {int(code)}"


class _Sample:
    """A plugin of pytest that keeps some cases of each test, evenly spaced."""

    def __init__(self, files: Files) -> None:
        self._files = {f"tests/{name}.py": sample for name, sample in files.items()}
        self.failed: str | None = None

    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        # The smallest example is not needed.
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", settings.get_profile("all"), phases=phases, max_examples=25
        )
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        cases_of = defaultdict(list)
        for item in items:
            _, names = self._files[item.nodeid.partition("::")[0]]
            name = item.originalname
            begins = name.removeprefix("test_").startswith(names or "")
            if name not in _LEFT_OUT and begins:
                cases_of[item.nodeid.partition("[")[0]].append(item)
        selected = []
        for test, cases in cases_of.items():
            most, _ = self._files[test.partition("::")[0]]
            count = min(most, len(cases))
            selected += [cases[i * len(cases) // count] for i in range(count)]
        items[:] = selected

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid}: cannot be collected"
