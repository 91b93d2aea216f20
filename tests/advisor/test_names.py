"""What the package of answers offers, loaded when it is asked for."""

import subprocess
import sys

import pytest

from mlir_smem import advisor


@pytest.mark.parametrize("name", advisor.__all__)
def test_every_name_is_there(name):
    assert callable(getattr(advisor, name))


def test_another_name_is_not():
    with pytest.raises(AttributeError) as refused:
        _ = advisor.chose_operands
    assert str(refused.value) == "module 'mlir_smem.advisor' has no attribute 'chose_operands'"


def test_what_is_not_asked_for_is_not_loaded():
    code = (
        "import sys\n"
        "from mlir_smem.advisor import choose_operands\n"
        "choose_operands('128x64xbf16')\n"
        "unasked = tuple(f'mlir_smem.advisor.{m}' for m in ('diagnosed', 'pictures', 'rendering'))\n"
        "print([m for m in sys.modules if m.startswith(unasked)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
