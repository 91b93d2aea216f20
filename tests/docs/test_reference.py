"""The reference's groups of ops: each op is in one, and the first is what the example uses."""

import re
from pathlib import Path

import pytest

from mlir_smem.dialect.smem import Smem

ROOT = Path(__file__).parents[2]


@pytest.fixture
def groups(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import reference

    return {group: names.split() for group, (names, _) in reference.GROUPS.items()}


def test_each_op_is_in_one_group(groups):
    grouped = sorted(name for names in groups.values() for name in names)
    assert grouped == sorted(op.OPERATION_NAME.removeprefix("smem.") for op in Smem.operations)


def test_first_group_is_what_the_example_uses(groups):
    text = (ROOT / "examples" / "matmul.mlir").read_text()
    assert set(groups["A GEMM"]) == set(re.findall(r'"smem\.(\w+)"\(', text))
