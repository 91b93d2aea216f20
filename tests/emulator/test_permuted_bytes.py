"""prmt, against its description in the ISA."""

import numpy as np
import pytest
from kernels import elementwise, kernel, run_text

from mlir_smem.emulator import EmulationError

PRMT = "nvvm.prmt <default> %c, %a, %b : i32"


def permuted(low, high, selector):
    """Byte by byte, as the ISA writes it."""
    pool = list(low.to_bytes(4, "little") + high.to_bytes(4, "little"))
    result = []
    for at in range(4):
        nibble = selector >> 4 * at & 15
        byte = pool[nibble & 7]
        result.append((255 if byte & 128 else 0) if nibble & 8 else byte)
    return int.from_bytes(bytes(result), "little")


def test_bytes_and_their_signs():
    rng = np.random.default_rng(0)
    low, high = (rng.integers(0, 1 << 32, 128, np.uint32) for _ in range(2))
    # Bits of a selector above its four nibbles are not looked at.
    selector = rng.integers(0, 1 << 32, 128, np.uint32)
    found = elementwise(PRMT, [low, high, selector], np.uint32)
    expected = [permuted(*map(int, row)) for row in zip(low, high, selector, strict=True)]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "selector, result",
    [(0x5410, 0xB1B0A1A0), (0x7632, 0xB3B2A3A2), (0x6240, 0xB2A2B0A0), (0xCCCC, 0xFFFFFFFF)],
)
def test_a_selector_that_is_the_same_for_all_threads(selector, result):
    body = f"""
    %a = arith.constant {0xA3A2A1A0} : i32
    %b = arith.constant {0xB3B2B1B0} : i32
    %c = arith.constant {selector} : i32
    %r = {PRMT}
    memref.store %r, %A[%tid] : memref<32xi32>"""
    found = np.zeros(32, np.uint32)
    run_text(kernel(body, ["memref<32xi32>"]), "k", [found])
    assert (found == result).all()


def test_other_modes_are_refused():
    body = """
    %a = arith.constant 1 : i32
    %r = nvvm.prmt <rc8> %a, %a : i32"""
    with pytest.raises(EmulationError, match=r"'nvvm\.prmt' selects as .*rc8"):
        run_text(kernel(body), "k", [])
