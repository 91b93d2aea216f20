"""What the checker, `smem-insert-sync` and the emulator say of a program, as short codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir_smem.codegen import Compiled
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
from mlir_smem.dialect.diagnostics import Invalid, remark_handler
from mlir_smem.dialect.irtypes import Module, Op
from mlir_smem.dialect.types import FragmentType, is_accumulator, is_in_flight, with_state
from mlir_smem.ir.walk import walk
from mlir_smem.layout import LayoutError
from mlir_smem.passes import OpError, Pass, pass_named

from ..generated.kernels import emulated, folded
from .programs import Program

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

#: What a run under a schedule that shows nothing wrong is called.
RIGHT = "right"

_REFUSALS = (OpError, Invalid, LayoutError, ir.MLIRError)

#: Ops that `smem-insert-sync` can insert; it also inserts barriers of the CTA.
_INSERTED = (
    *("smem.copy_commit", "smem.copy_wait", "smem.fence", "smem.tma_commit", "smem.tma_wait"),
    *("smem.wait", "smem.warpgroup_barrier", "gpu.barrier"),
)


@dataclass(frozen=True)
class Row:
    """What is known of a program.

    Attributes:
        digest: see `Program.digest`.
        verdict: the code of the checker's verdict.
        inserted: the code of what `smem-insert-sync` makes of the program without its synchronization: of
            a refusal, or of the checker's verdict on the result.
        count: how many ops it inserts.
        runs: the emulator's outcome under each schedule; empty if the program is not lowered.
    """

    digest: str
    verdict: str
    inserted: str = "-"
    count: int = 0
    runs: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether the emulator ran the program and found nothing wrong under any schedule."""
        return bool(self.runs) and set(self.runs) == {RIGHT}


def row(program: Program, schedules: int = SCHEDULES) -> Row:
    """Evaluate a program.

    Args:
        program: the program.
        schedules: under how many schedules the emulator runs it; 0 leaves it out.
    """
    verdict, compiled = _checked(program)
    inserted, count = _inserted(program.text)
    runs = () if compiled is None else tuple(_runs(program, compiled, schedules))
    return Row(program.digest, verdict, inserted, count, runs)


def _checked(program: Program) -> tuple[str, Compiled | None]:
    """Return the verdict of a program, and the lowered module even if the checker refuses it."""
    kernel, verdict = program.kernels[0], "p"
    try:
        with new_context() as context:
            module = ir.Module.parse(kernel.text)
            for each in kernel.pipeline().passes():
                if each.name == "smem-check-async":
                    verdict = verdict_of(module, each)
                    pass_named("smem-assert-bounds")().run(module)
                else:
                    each.run(module)
            return verdict, folded(module, context, kernel.arch)
    except _REFUSALS:
        return ("r" if verdict == "p" else verdict), None
    except Exception:
        return "c", None


def verdict_of(module: Module, check: Pass) -> str:
    """Return the code of what a pass says of a module: an error is "wrong", a remark "unproven"."""
    remarks: list[str] = []
    with remark_handler(lambda _, message: remarks.append(message)):
        try:
            check.run(module)
        except OpError:
            return "w"
    return "u" if remarks else "p"


def _inserted(text: str) -> tuple[str, int]:
    """Return what `smem-insert-sync` makes of a program without its synchronization."""
    try:
        with new_context():
            module = ir.Module.parse(text)
            _strip(module)
            pass_named("smem-insert-sync")().run(module)
            module.operation.verify()
            count = len([*_synchronization(module)])
            return verdict_of(module, pass_named("smem-check-async")()), count
    except _REFUSALS:
        return "r", 0
    except Exception:
        return "c", 0


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


def _runs(program: Program, compiled: Compiled, schedules: int) -> Iterator[str]:
    """Run a program under each schedule, with the inputs of its kernels in turn."""
    for schedule in range(schedules):
        kernel = program.kernels[schedule % len(program.kernels)]
        yield _outcome(
            lambda kernel=kernel, schedule=schedule: emulated(compiled, kernel, schedule)
        )


def _outcome(run: Callable[[], str]) -> str:
    try:
        seen = run()
    except Exception as error:
        return f"crash: {type(error).__name__}"
    return "refused" if seen.startswith("refused") else seen or RIGHT
