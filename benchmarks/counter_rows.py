"""The metrics of `benchmarks/counters.py` and `attention_counters.py`, and the table of launches."""

import re
from collections.abc import Sequence
from typing import TypeVar

from ncu import Launch
from tables import table

# The kernel that separates the contenders' launches, of `torch.cuda._sleep`.
_MARK = "spin_kernel"
_Launch = TypeVar("_Launch")

# The label, the metric, and the factor of its base unit.
METRICS = {
    "us": ("gpu__time_duration.sum", 1e-3),
    "tensor pipe, % of cycles": (
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        1,
    ),
    "tensor pipe, % of all": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
    "exponentials' unit, % of cycles": (
        "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
        1,
    ),
    "matrix instructions": ("sm__inst_executed_pipe_tensor.sum", 1),
    "instructions": ("smsp__inst_executed.sum", 1),
    "L2, MB": ("lts__t_bytes.sum", 1e-6),
    "DRAM read, MB": ("dram__bytes_read.sum", 1e-6),
    "DRAM written, MB": ("dram__bytes_write.sum", 1e-6),
    "bank passes": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1),
    "bank conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1),
} | {
    f"stalled: {reason.replace('_', ' ')}": (
        f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",
        1,
    )
    for reason in (
        "gmma",
        "long_scoreboard",
        "short_scoreboard",
        "barrier",
        "membar",
        "wait",
        "math_pipe_throttle",
        "mio_throttle",
        "tex_throttle",
        "branch_resolving",
        "no_instruction",
        "sleeping",
        "not_selected",
        "dispatch_stall",
    )
}


def group_launches(kernels: Sequence[tuple[str, _Launch]]) -> list[list[_Launch]]:
    """Group launches by the mark before them; ValueError if a launch precedes the first mark."""
    groups: list[list[_Launch]] = []
    for kernel, launch in kernels:
        if _MARK in kernel:
            groups.append([])
        elif groups:
            groups[-1].append(launch)
        else:
            raise ValueError(f"{kernel} ran before the first {_MARK}")
    return groups


def render(contenders: dict[str, list[Launch]], markdown: bool) -> str:
    """A column for each contender: the longest kernel that it launched."""
    main = {name: longest(launches) for name, launches in contenders.items()}
    lines = [["launches", *(str(len(launches)) for launches in contenders.values())]]
    for label, (metric, factor) in METRICS.items():
        values = [launch.metrics.get(metric) for launch in main.values()]
        if any(value is not None for value in values):
            lines.append([label, *("-" if v is None else _number(v * factor) for v in values)])
    return table(["", *main], lines, markdown)


def longest(launches: list[Launch]) -> Launch:
    """The launch that took the most time."""
    return max(launches, key=lambda launch: launch.metrics.get("gpu__time_duration.sum", 0))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def contender_names(text: str) -> list[tuple[str, str]]:
    """The shapes and contenders that `run` printed."""
    return re.findall(r"^contender\t(.+)\t(.+)$", text, re.MULTILINE)
