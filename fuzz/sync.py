"""Random programs in program order, synchronized by `smem-insert-sync`, on the emulator.

A program is one of three kinds: a kernel of the language, whose source is also run as Python on NumPy
arrays, one statement after the other; statements of `fuzz.ordered`, which has an interpreter of its own;
or a kernel of `fuzz.programs` (GEMMs, partitions, pipelines) without its waits, fences and barriers,
whose result is known. Elements of the first two are small whole numbers, so that results are exact.

After the pass, the emulator must find no violation and the right result, the checker must prove the
program, and the pass must insert nothing more. A kernel of `fuzz.programs` that is proven with its own
synchronization must stay as it is. Then one op is taken out, or a wait leaves one group more
pending: if the checker still proves that, and the emulator finds nothing, the op was not needed.
"""

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

import mlir_smem.language as sl
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.ir.errors import OpError
from mlir_smem.ir.kernel import functions_of
from mlir_smem.passes.check_async.analysis import analyze
from mlir_smem.passes.insert_sync import insert

from .frame import Fuzzer, Wrong, main
from .generated import order_text
from .generated.choices import RandomChoices, ReadChoices
from .generated.kernels import KernelCase, check_and_lower, emulate_kernel
from .generated.order_kernels import language_kernels
from .generated.program_order import strip, sync_of
from .ordered.draw import draw as draw_ordered
from .ordered.kernels import kernels_of
from .programs import kernel_of

#: Parts that differ between messages of one kind.
_NUMBERS = re.compile(r"[0-9:.]+")

#: The choice that tells a program of `fuzz.ordered` from one of `fuzz.programs`.
_ORDERED = "ordered = True"


@dataclass
class Outcome:
    """The outcome of a program.

    Attributes:
        kind: "inserted", or why the pass refused it.
        inserted: how many ops of each name were inserted.
        mutants: how many mutants were rejected, by what rejected them; "nothing" for those that were not.
        survivors: those that nothing rejected.
    """

    kind: str
    inserted: Counter[str] = field(default_factory=Counter)
    mutants: Counter[str] = field(default_factory=Counter)
    survivors: list[str] = field(default_factory=list)


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw a program: the body of a kernel, or choices of `fuzz.programs`."""
    kind = random.random()
    if kind < 0.35:
        return order_text.draw(random)
    if kind < 0.75:
        choose = RandomChoices(random)
        draw_ordered(choose)
        return f"{_ORDERED}\n{choose.text}"
    while True:
        choose = RandomChoices(random)
        if kernel_of(choose):
            return choose.text


def generator_of(text: str) -> str:
    """Return what drew a program."""
    if "sl." in text:
        return "language"
    if _ORDERED in text:
        return "statements"
    match = re.search(r"^generator = '(\w+)'$", text, re.MULTILINE)
    return match[1] if match else "gemm"


# -- checking --------------------------------------------------------------------------------------


def kernels(text: str) -> list[KernelCase]:
    """Return the runs of a program; none if it is malformed, or does not fit."""
    if "sl." in text:
        try:
            return language_kernels(text)
        except (SyntaxError, NameError, IndexError, sl.TraceError):
            return []
    if _ORDERED in text:
        return kernels_of(draw_ordered(ReadChoices(text)))
    kernel = kernel_of(ReadChoices(text))
    return [] if kernel is None else [replace(kernel, text=strip_text(kernel.text))]


def strip_text(text: str) -> str:
    """Return a module without what `smem-insert-sync` can insert."""
    with new_context():
        module = ir.Module.parse(text)
        for function in functions_of(module):
            strip(function)
        return str(module)


def synchronize(text: str) -> tuple[int, str, Counter[str]]:
    """Return how many ops of a module order accesses, the module after `smem-insert-sync`, and how many
    ops of each name that inserted.

    Raises:
        OpError: if the pass refuses it.
        Wrong: if the pass inserts more when it is run again.
    """
    with new_context():
        module = ir.Module.parse(text)
        present = len(sync_of(module))
        inserted: Counter[str] = Counter()
        for function in functions_of(module):
            inserted.update(insertion.op.name for insertion in insert(function))
        module.operation.verify()
        synchronized = str(module)
        repeated = [
            insertion for function in functions_of(module) for insertion in insert(function)
        ]
        if repeated or str(module) != synchronized:
            raise Wrong("inserts twice", "the second run", synchronized)
    return present, synchronized, inserted


def outcome(text: str, mutate: Random | None = None) -> Outcome:
    """Check a program.

    Args:
        text: the program.
        mutate: if given, mutants are made, and it draws the one that the emulator runs.

    Raises:
        Wrong: if what the pass makes of it is not proven, or not right.
    """
    runs = kernels(text)
    if not runs:
        return Outcome("malformed")
    if generator_of(text) not in ("language", "statements"):
        _check_untouched(kernel_of(ReadChoices(text)))
    try:
        present, synchronized, inserted = synchronize(runs[0].text)
    except OpError as error:
        return Outcome(f"refused: {_NUMBERS.sub('#', error.message)}")
    checked = None
    for run in runs:
        kernel = replace(run, text=synchronized)
        checked = checked or check_and_lower(kernel)
        if checked.check.evaluation != "proven":
            raise Wrong("not proven", checked.check.evaluation, "; ".join(checked.check.messages))
        seen = emulate_kernel(checked.compiled, kernel)
        if seen.startswith("refused"):
            return Outcome(f"not emulated: {_NUMBERS.sub('#', seen)}", inserted)
        if seen:
            raise Wrong("wrong", seen.partition(":")[0], f"{seen}\n{synchronized}")
    result = Outcome("inserted", inserted)
    if mutate is not None and not present:
        _mutate(replace(runs[0], text=synchronized), result, mutate)
    return result


def _check_untouched(kernel: KernelCase | None) -> None:
    """Check that the pass leaves a kernel alone that is proven, with its own synchronization.

    Raises:
        Wrong: if it does not.
    """
    if kernel is None:
        return
    with new_context():
        module = ir.Module.parse(kernel.text)
        proven, before = _is_proven(module), str(module)
        for function in functions_of(module) if proven else ():
            insert(function)
        if str(module) != before:
            raise Wrong("changes a proven kernel", "its own synchronization", str(module))


# -- mutants ---------------------------------------------------------------------------------------


class SyncMutant(NamedTuple):
    """A synchronized module without one op that synchronizes, or with one group more pending.

    Attributes:
        description: of the change.
        text: the module.
        proven: whether the checker still proves it.
    """

    description: str
    text: str
    proven: bool


def mutants(text: str) -> list[SyncMutant]:
    """Return the mutants of a module; what types alone forbid is left out."""
    verified = []
    with new_context():
        count = len(sync_of(ir.Module.parse(text)))
        for number, change in itertools.product(range(count), ("without", "more pending")):
            module = ir.Module.parse(text)
            op = sync_of(module)[number].operation
            description = f"{change}: {op.name} {number}"
            if change == "without":
                if len(op.results) and op.results[0].type != op.operands[0].type:
                    continue
                for result in op.results:
                    result.replace_all_uses_with(op.operands[0])
                op.erase()
            elif "pending" in op.attributes:
                pending = ir.IntegerAttr(op.attributes["pending"])
                op.attributes["pending"] = ir.IntegerAttr.get(pending.type, pending.value + 1)
            else:
                continue
            try:
                module.operation.verify()
            except ir.MLIRError:
                continue
            verified.append(SyncMutant(description, str(module), _is_proven(module)))
    return verified


def _is_proven(module: ir.Module) -> bool:
    try:
        return all(analyze(function).is_proven for function in functions_of(module))
    except OpError:
        return False


def _mutate(kernel: KernelCase, result: Outcome, random: Random) -> None:
    """Count which mutants are rejected; the emulator runs those that are not, and one of all."""
    candidates = mutants(kernel.text)
    result.mutants["the checker"] += sum(not mutant.proven for mutant in candidates)
    for mutant in filter(lambda mutant: mutant.proven, candidates):
        seen = _emulate_mutant(kernel, mutant)
        if seen:
            raise Wrong("a mutant is proven", mutant.description, f"{seen}\n{mutant.text}")
        result.mutants["nothing"] += 1
        result.survivors.append(mutant.description)
    if candidates:
        seen = _emulate_mutant(kernel, random.choice(candidates))
        result.mutants["run: objected to" if seen else "run: not seen in one order of threads"] += 1


def _emulate_mutant(kernel: KernelCase, mutant: SyncMutant) -> str:
    """Return what the emulator finds wrong with a mutant."""
    edited = replace(kernel, text=mutant.text)
    return emulate_kernel(check_and_lower(edited).compiled, edited)


def check(text: str) -> None:
    """Check a program.

    Raises:
        Wrong: if what the pass makes of it is not proven, not right, or has an op that is not needed.
    """
    program_outcome = outcome(text, Random(text))
    if program_outcome.survivors:
        raise Wrong("not needed", "an inserted op", "; ".join(program_outcome.survivors))


FUZZER = Fuzzer("sync", draw, check, suffix=".txt", lifetime=200)

if __name__ == "__main__":
    main(FUZZER)
