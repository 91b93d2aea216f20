"""Two blocks that multiply with scaled blocks of elements: where each has its scale factors."""

from dataclasses import replace

import numpy as np
import pytest
from cta_pair_kernels import meeting, multiplied, pair_matrix, pair_product
from scaled_mmas import FACTORS, factor_bytes
from tcgen05_kernels import BASE, BYTES, at, cp, scaled_mma
from test_tensor_pair_rules import leaving
from test_tensor_pairs import operands

from mlir_smem.emulator import EmulationError, ViolationKind
from mlir_smem.layout import element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

M, N = 256, 32

#: Where each block has the factors of A and of B, in shared memory and in columns of tensor memory.
PLACES = {"x": (BASE + BYTES - 1024, 32), "y": (BASE + BYTES - 512, 36)}

GROUP = "group = #nvvm.cta_group<cta_2>, "


def kernel(m=M):
    """A kernel that copies the factors and multiplies; what it is given, and the product."""
    steps, image, [[a, b]] = operands(("f8f6f4", "e4m3", "e4m3"), M, N, steps=1)
    form = InstructionDescriptor(
        KINDS["mxf8f6f4"], *map(element, ("e4m3", "e4m3")), m, N, "f32", scale="ue8m0"
    )
    dtype, choices = FACTORS["ue8m0"]
    rng = np.random.default_rng(1)
    of_a, of_b = (rng.choice(choices, (rows, 1)).astype(dtype) for rows in (M, N))
    for block, rows in enumerate(np.split(of_a, 2)):
        for (place, _), factors in zip(PLACES.values(), (rows, of_b), strict=True):
            image[block, place - BASE :][:512] = factor_bytes(factors).reshape(-1)
    lines = [at(side, 0, column) for side, (_, column) in PLACES.items()]
    lines += [
        cp(f"{side}k", side, place >> 4 | 8 << 32 | 1 << 46).replace("{", "{" + GROUP, 1)
        for side, (place, _) in PLACES.items()
    ]
    columns = [column for _, column in PLACES.values()]
    lines.append(scaled_mma("m", "mxf8f6f4", 32, steps[0][:2], form.encode(), False, columns))
    scaled = "\n".join(lines).replace("cta_1", "cta_2")
    made = replace(pair_product(steps, M, N, "f8f6f4"), columns=64)
    made = made.without(multiplied("m", steps, "f8f6f4"), f"scf.if %issues {{{scaled}\n    }}")
    wide_a, wide_b = (factors.astype(np.float64) for factors in (of_a, of_b))
    return made, image, (a * wide_a) @ (b * wide_b).T


def test_each_block_has_factors_of_its_rows_and_of_all_columns():
    made, image, expected = kernel()
    found, registers = made.run(image)
    assert found == []
    assert (pair_matrix(registers.view(np.float32), M, N) == expected).all()


def test_a_copy_of_what_the_other_block_has_not_told_of():
    made, image, _ = kernel()
    found, _ = made.without(meeting("begin")).run(image)
    fault = next(fault for fault in found if fault.line.startswith("nvvm.tcgen05.cp"))
    assert fault.kind is ViolationKind.RACE
    assert fault.message.startswith("tcgen05.cp reads the bytes from ")


def test_a_copy_in_a_block_that_has_returned():
    made, image, _ = kernel()
    alone = made.without(meeting("begin"), "gpu.barrier // no meeting")
    found, _ = leaving(alone, "gpu.barrier // no meeting").run(image)
    fault = next(
        f for f in found if f.line.startswith("nvvm.tcgen05.cp") and f.kind is ViolationKind.EXITED
    )
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


def test_64_rows_in_each_block_are_not_known():
    made, image, _ = kernel(128)
    with pytest.raises(EmulationError, match="scales 64 rows in each CTA of a pair, which the"):
        made.run(image)
