"""Programs in linalg on a GPU, against PyTorch."""

import numpy as np
import pytest
from exported_programs import COMMITTED
from linalg_programs import DYNAMIC, PROGRAMS, as_tuple, check, compile_program, parse_program

from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch", exc_type=ImportError)


def on_gpu(array):
    if str(array.dtype) == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).cuda().view(torch.bfloat16)
    if str(array.dtype) == "float8_e4m3fn":
        return torch.from_numpy(array.view(np.int8)).cuda().view(torch.float8_e4m3fn)
    return torch.from_numpy(array).cuda()


def to_numpy(tensor, dtype):
    size = {1: torch.int8, 2: torch.int16, 4: torch.int32}[tensor.element_size()]
    return tensor.cpu().view(size).numpy().view(dtype)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_as_on_the_emulator(name):
    text = (COMMITTED / f"{name}.mlir").read_text()
    emulated, arguments, _ = compile_program(text, lower_linalg, DYNAMIC[name])
    expected = as_tuple(emulated(*arguments))
    with new_context():
        program = parse_program(text)
        lower_linalg(program)
        executable = Executable(program)
    outputs = as_tuple(executable(*map(on_gpu, arguments)))
    for output, reference in zip(outputs, expected, strict=True):
        check(name, to_numpy(output, reference.dtype), reference)
