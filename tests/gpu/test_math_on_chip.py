"""Math ops on the chip: within NVIDIA's documented error (`math_cases`), and equal to the emulator's.

    pytest tests/gpu/test_math_on_chip.py -n 8 --record FILE

`benchmarks/math_accuracy.py` measures the same with more operands.
"""

import numpy as np
import pytest
from math_cases import FUNCTIONS
from math_runs import distance, on_chip, on_emulator, operands, outside, steps

#: Rows of operands of 32 bits and more, or of several operands.
COUNT = 1 << 14

CASES = [(function, element) for function in FUNCTIONS for element in function.elements]


@pytest.mark.parametrize("function, element", CASES, ids=str)
def test_results_are_as_near_as_documented(function, element, record_property):
    with np.errstate(all="ignore"):
        rows = operands(function, element, COUNT)
        measured, emulated = on_chip(function, element, rows), on_emulator(function, element, rows)
        wide = [x.astype(np.longdouble) for x in rows]
        exact = (function.exact(*wide) if function.exact else emulated).astype(np.longdouble)
        far, apart = distance(measured, exact, element), steps(measured, emulated)
        wrong = np.flatnonzero(outside(function, element, rows, far))
    record_property("ulps", float(np.max(far.ulps, where=np.isfinite(far.ulps), initial=0)))
    record_property("steps from the emulator", float(np.max(apart, initial=0)))
    if function.error_bound(element) is not None:
        assert (np.isnan(measured) == np.isnan(emulated)).all()
    assert wrong.size == 0, [
        (*(x[i] for x in rows), measured[i], exact[i]) for i in wrong[:8].tolist()
    ]
