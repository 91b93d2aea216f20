"""Block-scaled mma of a CTA pair: the scale factors that each CTA holds."""

from dataclasses import replace

import numpy as np
import pytest
from cta_pair_kernels import issue, pair_barrier, pair_kernel, pair_matrix, with_early_return
from cta_pair_operands import pair_operands
from scaled_mmas import FACTORS, factor_bytes
from tcgen05_kernels import BASE, BYTES, cp, scaled_mma, tmem_address

from mlir_smem.emulator import EmulationError, ViolationKind
from mlir_smem.layout import element
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

M, N = 256, 32

#: For A's (x) and B's (y) scale factors: their address in each CTA's shared memory, and their column.
PLACES = {"x": (BASE + BYTES - 1024, 32), "y": (BASE + BYTES - 512, 36)}

GROUP = "group = #nvvm.cta_group<cta_2>, "


def kernel(m=M):
    """Return a kernel that copies scale factors and multiplies, its input image, and the expected D."""
    instructions, image, [[a, b]] = pair_operands(("f8f6f4", "e4m3", "e4m3"), M, N, k_blocks=1)
    form = InstructionDescriptor(
        KINDS["mxf8f6f4"], *map(element, ("e4m3", "e4m3")), m, N, "f32", scale="ue8m0"
    )
    dtype, choices = FACTORS["ue8m0"]
    rng = np.random.default_rng(1)
    of_a, of_b = (rng.choice(choices, (rows, 1)).astype(dtype) for rows in (M, N))
    for cta, rows in enumerate(np.split(of_a, 2)):
        for (place, _), factors in zip(PLACES.values(), (rows, of_b), strict=True):
            image[cta, place - BASE :][:512] = factor_bytes(factors).reshape(-1)
    lines = [tmem_address(side, 0, column) for side, (_, column) in PLACES.items()]
    lines += [
        cp(f"{side}k", side, place >> 4 | 8 << 32 | 1 << 46).replace("{", "{" + GROUP, 1)
        for side, (place, _) in PLACES.items()
    ]
    columns = [column for _, column in PLACES.values()]
    lines.append(
        scaled_mma("m", "mxf8f6f4", 32, instructions[0][:2], form.encode(), False, columns)
    )
    scaled = "\n".join(lines).replace("cta_1", "cta_2")
    pair = replace(pair_kernel(instructions, M, N, "f8f6f4"), columns=64)
    pair = pair.without(issue("m", instructions, "f8f6f4"), f"scf.if %issues {{{scaled}\n    }}")
    wide_a, wide_b = (factors.astype(np.float64) for factors in (of_a, of_b))
    return pair, image, (a * wide_a) @ (b * wide_b).T


def test_each_cta_has_the_factors_of_its_rows_and_of_all_columns():
    pair, image, expected = kernel()
    faults, registers = pair.run(image)
    assert faults == []
    assert (pair_matrix(registers.view(np.float32), M, N) == expected).all()


def test_copy_of_factors_of_the_peer_cta_without_a_barrier():
    pair, image, _ = kernel()
    faults, _ = pair.without(pair_barrier("begin")).run(image)
    fault = next(fault for fault in faults if fault.line.startswith("nvvm.tcgen05.cp"))
    assert fault.kind is ViolationKind.RACE
    assert fault.message.startswith("tcgen05.cp reads the bytes from ")


def test_copy_into_a_cta_that_has_returned():
    pair, image, _ = kernel()
    alone = pair.without(pair_barrier("begin"), "gpu.barrier // no pair barrier")
    faults, _ = with_early_return(alone, "gpu.barrier // no pair barrier").run(image)
    fault = next(
        f for f in faults if f.line.startswith("nvvm.tcgen05.cp") and f.kind is ViolationKind.EXITED
    )
    assert fault.message.startswith("reaches the memory of CTA 1 of the cluster, whose threads")


def test_sixty_four_rows_in_each_cta_are_not_known():
    pair, image, _ = kernel(128)
    with pytest.raises(EmulationError, match="scales 64 rows in each CTA of a pair, which the"):
        pair.run(image)
