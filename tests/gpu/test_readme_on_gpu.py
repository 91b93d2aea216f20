"""The README's block for a GPU."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_library_and_a_model():
    torch = pytest.importorskip("torch")
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (code,) = (block for block in blocks if "torch.compile" in block)
    names = {}
    exec(code, names)
    a, model = names["a"], names["model"]
    torch.testing.assert_close(names["c"], a @ names["b"])
    torch.testing.assert_close(names["d"], model(a), rtol=2e-2, atol=2e-2)
