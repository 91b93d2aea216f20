"""The reference's groups of ops: each op is in one group, and the first has the ops of the example."""

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


def test_first_group_has_the_ops_of_the_example(groups):
    text = (ROOT / "examples" / "matmul.mlir").read_text()
    assert set(groups["A GEMM"]) == set(re.findall(r'"smem\.(\w+)"\(', text))
