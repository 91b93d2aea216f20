"""nvvm: ops of `wgmma`, warpgroup-level mma (PTX ISA 9.7.15)."""

from __future__ import annotations

import re
from typing import Any

from ..cta import ConvergentThreads
from ..kernel import Op
from ..lanes import WARP
from ..registry import executes
from ..tensor_core.arithmetic import ACCUMULATORS
from ..tensor_core.multiplicands import MULTIPLICANDS
from ..warps import whole_warps
from .fragments import ROWS
from .mma import MmaQualifiers, execute


@executes("nvvm.wgmma.fence.aligned")
def _fence(op: Op) -> Any:
    return fence


def fence(convergent: ConvergentThreads) -> None:
    """`wgmma.fence`."""
    convergent.cta.groups.fences[whole_warps(convergent)] += 1


@executes("nvvm.wgmma.commit.group.sync.aligned")
def _commit(op: Op) -> Any:
    return lambda convergent: convergent.cta.groups.commit(whole_warps(convergent))


@executes("nvvm.wgmma.wait.group.sync.aligned")
def _wait(op: Op) -> Any:
    pending = op.number("group")
    return lambda convergent: wait_group(convergent, pending)


def wait_group(convergent: ConvergentThreads, pending: int) -> None:
    """`wgmma.wait_group`."""
    cta, warps = convergent.cta, whole_warps(convergent)
    cta.groups.wait(warps, pending, cta.clocks.epoch[cta.first_thread + warps * WARP])


def _qualifiers(op: Op) -> MmaQualifiers:
    texts = {name: op.text(name) for name in ("shape", "typeA", "typeB", "typeD")}
    word = {name: text.rsplit("<", 1)[-1].rstrip(">") for name, text in texts.items()}
    m, n, k = map(int, re.findall(r"= (\d+)", texts["shape"]))
    a, b = (MULTIPLICANDS.get(word[name]) for name in ("typeA", "typeB"))
    accumulator = ACCUMULATORS.get(word["typeD"])
    if a is None or b is None or accumulator is None or (m, k) != (ROWS, a.k) or b.k != k:
        raise op.refuse(
            f"multiplies {word['typeA']} by {word['typeB']} into {word['typeD']} as m{m}n{n}k{k}, "
            "which the emulator does not know"
        )
    # Upstream's layout is that of the stored matrix: A is M-major if `col`, B is N-major if `row`.
    return MmaQualifiers(
        n,
        a,
        b,
        accumulator,
        a_mn_major="col" in op.text("layoutA"),
        b_mn_major="row" in op.text("layoutB"),
        accumulates="one" in op.text("scaleD"),
        a_sign=-1 if "neg" in op.text("scaleA") else 1,
        b_sign=-1 if "neg" in op.text("scaleB") else 1,
        saturates="satfinite" in op.text("satfinite"),
    )


@executes("nvvm.wgmma.mma_async", collective=True)
def _multiply(op: Op) -> Any:
    qualifiers = _qualifiers(op)
    return lambda convergent, accumulator, a, b: execute(convergent, qualifiers, accumulator, a, b)
