"""Arguments of programs that NumPy copies, and those that are read-only."""

import numpy as np
import pytest

from mlir_smem.emulator import EmulationError
from mlir_smem.frontend import Executable
from mlir_smem.runtime import LaunchError

#: y[i] = s and s = y[1], for the copies of NumPy.
FROM_SCALAR, TO_SCALAR = (
    f"""func.func @main(%s: memref<f64>, %y: memref<4xf64>) {{
  %c1 = arith.constant 1 : index
  %ctas = arith.constant {ctas} : index
  gpu.launch blocks(%i, %j, %k) in (%a = %ctas, %b = %c1, %c = %c1)
             threads(%t, %u, %v) in (%d = %c1, %e = %c1, %f = %c1) {{
    {body}
    gpu.terminator
  }}
  return
}}"""
    for ctas, body in (
        (4, "%0 = memref.load %s[] : memref<f64> memref.store %0, %y[%i] : memref<4xf64>"),
        (1, "%0 = memref.load %y[%c1] : memref<4xf64> memref.store %0, %s[] : memref<f64>"),
    )
)


def test_what_numpy_copies_is_alive_during_the_call():
    program = Executable(FROM_SCALAR, on="cpu")
    for scalar in (np.float64(0.5), 0.5, np.array(0.5)):
        y = np.zeros(4)
        program(scalar, y)
        assert y.tolist() == [0.5] * 4
    wide = np.zeros((4, 2))
    with pytest.raises(LaunchError, match="the stride 2"):
        program(0.5, wide[:, 0])
    program = Executable(TO_SCALAR, on="cpu")
    program(scalar := np.zeros(()), [1.0, 2.0, 3.0, 4.0])
    assert scalar == 2


@pytest.mark.parametrize("copies", [False, True], ids=["a kernel", "a copy"])
def test_a_write_to_what_is_read_only(copies):
    text = TO_SCALAR
    if copies:
        text = """func.func @main(%s: memref<f64>, %y: memref<f64>) {
          memref.copy %y, %s : memref<f64> to memref<f64> return }"""
    program = Executable(text, on="cpu")
    y = np.array(1.0) if copies else np.arange(4.0)
    read_only = np.zeros(())
    read_only.flags.writeable = False
    # A number, whose copy would have the value, and an array that its owner protects.
    for scalar in (0.0, np.float64(0.0), read_only):
        with pytest.raises((LaunchError, EmulationError), match="is read-only"):
            program(scalar, y)
    assert read_only == 0
    # Its memory can be written through another array of the call.
    both = np.zeros(())
    view = both.view()
    view.flags.writeable = False
    if copies:
        program(both, view)
