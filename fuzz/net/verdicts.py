"""The verdicts of the checker and `smem-insert-sync`, and outcomes of the emulator, as short codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import Invalid
from mlir_smem.bindings.irtypes import Module, Op
from mlir_smem.codegen import Compiled
from mlir_smem.dialect import new_context
from mlir_smem.dialect.types import FragmentType, is_accumulator, is_in_flight, with_state
from mlir_smem.ir.walk import walk
from mlir_smem.layout import LayoutError
from mlir_smem.passes import OpError, pass_named

from ..generated.kernels import CheckResult, emulate_kernel, lower
from .programs import NetProgram

#: Schedules under which the emulator runs a program.
SCHEDULES = 8

#: Verdicts, by code.
VERDICTS = {
    "p": "proven",
    "u": "unproven",
    "w": "wrong",
    "r": "refused",
    "c": "crash",
    "h": "hang",
}

#: The codes of the checker's results.
_CODES = {"proven": "p", "not proven": "u", "wrong": "w"}

#: Schedules under which the emulator runs what `smem-insert-sync` has made of a program.
INSERTED_SCHEDULES = 2

#: The outcome of a run that shows nothing wrong.
RIGHT = "right"

_REFUSALS = (OpError, Invalid, LayoutError, ir.MLIRError)

#: Ops that `smem-insert-sync` can insert; it also inserts barriers of the CTA.
_INSERTED = (
    *("smem.copy_commit", "smem.copy_wait", "smem.fence", "smem.tma_commit", "smem.tma_wait"),
    *("smem.wait", "smem.warpgroup_barrier", "gpu.barrier"),
)


@dataclass(frozen=True)
class Row:
    """The verdicts and the outcomes of a program.

    Attributes:
        digest: see `Program.digest`.
        verdict: the code of the checker's verdict.
        inserted: the code of what `smem-insert-sync` makes of the program without its synchronization: of
            a refusal, or of the checker's verdict on the result.
        count: how many ops it inserts.
        runs: the emulator's outcome under each schedule; empty if the program is not lowered.
        inserted_runs: the same, of what `smem-insert-sync` makes of it.
    """

    digest: str
    verdict: str
    inserted: str = "-"
    count: int = 0
    runs: tuple[str, ...] = ()
    inserted_runs: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether the emulator ran the program and found nothing wrong under any schedule."""
        return bool(self.runs) and set(self.runs) == {RIGHT}


def row(program: NetProgram, schedules: int = SCHEDULES, before: Row | None = None) -> Row:
    """Evaluate a program.

    Args:
        program: the program.
        schedules: under how many schedules the emulator runs it; 0 leaves it out.
        before: an earlier row of the program: where `smem-insert-sync` now inserts other ops, the
            emulator runs the result in any case.
    """
    verdict, compiled = _check(program)
    inserted, count, synchronized = _insert_sync(program)
    differs = before is not None and (inserted, count) != (before.inserted, before.count)
    runs = () if compiled is None else tuple(_runs(program, compiled, schedules))
    inserted_schedules = INSERTED_SCHEDULES if differs else min(schedules, INSERTED_SCHEDULES)
    inserted_runs = (
        () if synchronized is None else tuple(_runs(program, synchronized, inserted_schedules))
    )
    return Row(program.digest, verdict, inserted, count, runs, inserted_runs)


def _check(program: NetProgram) -> tuple[str, Compiled | None]:
    """Return the verdict of a program, and the lowered module even if the checker refuses it."""
    results: list[CheckResult] = []
    try:
        with new_context():
            module = ir.Module.parse(program.text)
            compiled = lower(module, program.kernels[0], results.append)
            return _code(results), compiled
    except _REFUSALS:
        code = _code(results)
        return ("r" if code == "p" else code), None
    except Exception:
        return "c", None


def _code(results: Sequence[CheckResult]) -> str:
    """Return the code of the checker's result; of none, that of a refusal."""
    return _CODES[results[0].evaluation] if results else "r"


def _insert_sync(program: NetProgram) -> tuple[str, int, Compiled | None]:
    """Return what `smem-insert-sync` makes of a program without its synchronization.

    Returns:
        The code, how many ops it inserts, and the lowered module.
    """
    count = 0
    results: list[CheckResult] = []
    try:
        with new_context():
            module = ir.Module.parse(program.text)
            _strip(module)
            pass_named("smem-insert-sync")().run(module)
            module.operation.verify()
            count = len([*_synchronization(module)])
            compiled = lower(module, program.kernels[0], results.append)
            return _code(results), count, compiled
    except _REFUSALS:
        return _code(results), count, None
    except Exception:
        return "c", count, None


def _synchronization(module: Module) -> Iterator[Op]:
    return (op.operation for op in walk(module.operation) if op.operation.name in _INSERTED)


def _strip(module: Module) -> None:
    """Take out what `smem-insert-sync` can insert; accumulators become readable."""
    for op in [*_synchronization(module)]:
        for result in op.results:
            result.replace_all_uses_with(op.operands[0])
        op.erase()
    for op in walk(module.operation):
        values = [*op.results]
        for region in op.regions:
            values += [value for block in region.blocks for value in block.arguments]
        for value in values:
            type_ = value.type
            if isinstance(type_, FragmentType) and is_accumulator(type_) and is_in_flight(type_):
                value.set_type(with_state(type_, False))


def _runs(program: NetProgram, compiled: Compiled, schedules: int) -> Iterator[str]:
    """Run a program under each schedule, with the inputs of its kernels in turn."""
    for schedule in range(schedules):
        kernel = program.kernels[schedule % len(program.kernels)]
        yield _outcome(
            lambda kernel=kernel, schedule=schedule: emulate_kernel(compiled, kernel, schedule)
        )


def _outcome(run: Callable[[], str]) -> str:
    try:
        seen = run()
    except Exception as error:
        return f"crash: {type(error).__name__}"
    # The order of the broken rules does not matter.
    return "refused" if seen.startswith("refused") else ", ".join(sorted(seen.split(", "))) or RIGHT
