"""Random kernels on the emulator, compared with NumPy: unchanged, with one synchronisation removed,
or with one op duplicated or moved.

An unchanged kernel must lower, must not be reported as wrong, must violate no rule, and must compute its
GEMM. For an edited kernel, the checker must not prove what the emulator finds wrong. Where an op was
removed, it must not report as wrong what the emulator finds right. A kernel that it then proves, and that
runs right, did not need the op.

An input lists the choices that are not the first of theirs; or it is a kernel, with a line `// D = A @ B`
that says what it computes.
"""

import re
from dataclasses import replace
from random import Random

import numpy as np

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import Invalid
from mlir_smem.layout import LayoutError
from mlir_smem.passes import OpError
from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.arguments import DTYPES

from .frame import Fuzzer, Wrong, main
from .generated.blocks import BlockCase
from .generated.choices import Choose, RandomChoices, ReadChoices
from .generated.edits import duplications, moves, omissions
from .generated.gemms import GemmCase
from .generated.kernels import CheckedKernel, KernelCase, check_and_lower, emulate_kernel
from .generated.pipelines import PipelineCase

_REFUSALS = (OpError, Invalid, LayoutError, ir.MLIRError)

_EDITS = {"without": omissions, "doubled": duplications, "moved": moves}

_EXPECTED = re.compile(r"^// (\w+) = (.+)$", re.MULTILINE)


# -- drawing ---------------------------------------------------------------------------------------


def kernel_of(choose: Choose) -> KernelCase | None:
    """Draw a kernel; None if it does not fit."""
    generator = choose("generator", ("gemm", "pipeline", "pipeline", "pipeline", "blocks"))
    if generator == "gemm":
        program = gemm_of(choose)
        arch = choose("arch", ("sm_90a", "sm_90a", "sm_100a", "sm_103a"))
        return program.kernel(arch) if program.fits_on(arch) else None
    other = (PipelineCase if generator == "pipeline" else BlockCase).draw(choose)
    return other.kernel() if other.fits else None


def gemm_of(choose: Choose) -> GemmCase:
    """Draw a GEMM with a loop along K; it may not fit."""
    # `GemmCase.from_seed` has A in shared memory, as the GPU has run it.
    program = GemmCase.draw(choose)
    stored = program.view is not None and program.a.major == "k" and program.a.split is None
    return replace(
        program,
        registers=choose("A in registers", (False, False, True)),
        vectors=choose("vectors", (False, False, True)),
        stores=stored and choose("A stored at offsets", (False, True)),
    )


def _draw_edited(choose: Choose) -> tuple[str, str, KernelCase] | None:
    """Draw a kernel with an edit or none: the edit, the edited op, and the kernel; None if it does not
    fit."""
    kernel = kernel_of(choose)
    if kernel is None:
        return None
    edit = choose("edit", ("none", "none", "without", "without", "without", "doubled", "moved"))
    if edit == "none":
        return edit, "", kernel
    edits = _EDITS[edit](kernel.text)
    op = choose(edit, [*edits])
    return edit, op, replace(kernel, text=edits[op])


def draw(random: Random) -> str:
    """Draw the choices of a kernel and of its edit."""
    while True:
        choose = RandomChoices(random)
        if _draw_edited(choose):
            return choose.text


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Check an unchanged or edited kernel.

    Raises:
        Wrong: if the checker and the emulator contradict each other.
    """
    if "gpu.module" in text:
        _check_text(text)
        return
    drawn = _draw_edited(ReadChoices(text))
    if drawn is None:
        return
    edit, op, kernel = drawn
    try:
        checked = check_and_lower(kernel)
    except _REFUSALS as error:
        if edit in ("none", "without"):
            raise Wrong("refused", edit, str(error)) from None
        return
    seen = emulate_kernel(checked.compiled, kernel)
    if edit != "none":
        if checked.check.evaluation == "wrong" and not seen:
            seen = _outcome_with_one_iteration(text)
        _check_edited(kernel, f"{edit} {op.partition(' ')[0]}", checked, seen)
    elif seen:
        raise Wrong(f"emulator: {seen.partition(':')[0]}", "unchanged", seen)
    elif checked.check.evaluation == "wrong":
        raise Wrong("reported as wrong", "unchanged", checked.check.messages[0])


def _outcome_with_one_iteration(text: str) -> str:
    """The outcome of the same kernel with one iteration along K.

    With more iterations than stages, a pipeline may order accesses that the checker, which does not know
    the number of iterations, must report as wrong.
    """
    drawn = _draw_edited(ReadChoices(f"{text}\nsteps = 1"))
    if drawn is None:
        return ""
    _, _, kernel = drawn
    return emulate_kernel(check_and_lower(kernel).compiled, kernel)


def _check_edited(kernel: KernelCase, edit: str, checked: CheckedKernel, seen: str) -> None:
    evaluation, messages = checked.check.evaluation, "; ".join(checked.check.messages)
    summary = f"{evaluation}: {messages}; the emulator: {seen or 'right'}"
    if seen.startswith("refused"):
        raise Wrong("not emulated", edit, summary)
    computes = edit.startswith("without")
    if evaluation == "proven" and seen and (computes or seen != "wrong result"):
        raise Wrong("proven", f"{edit}: {seen}", summary)
    if seen == "wrong result" and computes:
        raise Wrong("wrong result without a violation", edit, summary)
    # For tcgen05 the lowering adds barriers itself. An op that is duplicated or moved can be right in
    # one order of the threads and wrong in another; the emulator runs one.
    barrier = "gpu.barrier" in edit or "warpgroup_barrier" in edit
    added = barrier and kernel.arch != "sm_90a"
    if evaluation == "wrong" and not seen and computes and kernel.is_conclusive and not added:
        raise Wrong("reported as wrong", edit, summary)


def _check_text(text: str) -> None:
    """Check a given kernel: if it is proven, it must violate no rule and compute what it says."""
    none = np.zeros(0)
    kernel = KernelCase(text, "", {}, "", None, none, none)
    try:
        checked = check_and_lower(kernel)
    except _REFUSALS:
        return
    (entry,) = checked.compiled.manifest["kernels"]
    random = np.random.default_rng(0)
    inputs = {}
    for argument in entry["arguments"]:
        drawn = random.integers(-2, 3, argument["shape"]).astype(DTYPES[argument["element"]])
        inputs[argument["name"]] = np.asarray(
            drawn, order="F" if argument["strides"][0] == 1 else "C"
        )
    match = _EXPECTED.search(text)
    output = match[1] if match else [*inputs][-1]
    wide = {name: array.astype(np.float64) for name, array in inputs.items()}
    exact = eval(match[2], wide) if match else wide[output]
    # A kernel that does not say what it computes may compute anything.
    bound = np.full_like(exact, 0 if match else np.inf)
    kernel = KernelCase(text, entry["entry"], inputs, output, (1,), exact, bound)
    try:
        seen = emulate_kernel(checked.compiled, kernel)
    except LaunchError as error:
        raise Wrong("cannot be launched", "given", str(error)) from None
    if checked.check.evaluation == "proven" and seen:
        raise Wrong("proven", f"given: {seen}")


FUZZER = Fuzzer("programs", draw, check, suffix=".txt", lifetime=500)

if __name__ == "__main__":
    main(FUZZER)
