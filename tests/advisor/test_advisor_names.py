"""The public names of the package, imported on demand."""

import subprocess
import sys

import pytest

from mlir_smem import advisor


@pytest.mark.parametrize("name", advisor.__all__)
def test_every_name_exists(name):
    assert callable(getattr(advisor, name))


def test_another_name_is_an_error():
    with pytest.raises(AttributeError) as error:
        _ = advisor.chose_operands
    assert str(error.value) == "module 'mlir_smem.advisor' has no attribute 'chose_operands'"


def test_unused_modules_are_not_imported():
    code = (
        "import sys\n"
        "from mlir_smem.advisor import choose_operands\n"
        "choose_operands('128x64xbf16')\n"
        "unused = tuple(f'mlir_smem.advisor.{m}' for m in ('diagnosed', 'pictures', 'rendering'))\n"
        "print([m for m in sys.modules if m.startswith(unused)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
