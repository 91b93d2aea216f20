"""Random kernels on the emulator against NumPy: whole, with one synchronisation left out, with one op
doubled or moved.

A kernel that is whole must be lowered, not be called wrong, break no rule, and compute its product. Of
one that was edited, the checker must not prove what the emulator sees go wrong; and where an op is left
out, it must not call wrong what goes right. What it then proves, and goes right, did not need the op.

An input says what was chosen, where that is not the first of the choices; or it is a kernel, of which
`// D = A @ B` says what it computes.
"""

import re
from dataclasses import replace
from random import Random

import numpy as np

from mlir_smem.dialect.bindings import ir
from mlir_smem.dialect.diagnostics import Invalid
from mlir_smem.layout import LayoutError
from mlir_smem.passes import OpError
from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.arguments import DTYPES

from .frame import Fuzzer, Wrong, main
from .generated.blocks import BlockCase
from .generated.choices import Choose, Drawn, Read
from .generated.edits import doubled, moved, omissions
from .generated.kernels import Evaluated, Kernel, emulated, evaluated
from .generated.pipelines import Pipeline
from .generated.products import Program

_REFUSALS = (OpError, Invalid, LayoutError, ir.MLIRError)

_EDITS = {"without": omissions, "doubled": doubled, "different": moved}

_EXPECTED = re.compile(r"^// (\w+) = (.+)$", re.MULTILINE)


# -- drawing ---------------------------------------------------------------------------------------


def kernel_of(choose: Choose) -> Kernel | None:
    """A kernel; None if it does not fit."""
    kind = choose("kind", ("product", "pipeline", "pipeline", "pipeline", "blocks"))
    if kind == "product":
        program = product_of(choose)
        arch = choose("arch", ("sm_90a", "sm_90a", "sm_100a", "sm_103a"))
        return program.kernel(arch) if program.fits_on(arch) else None
    other = (Pipeline if kind == "pipeline" else BlockCase).draw(choose)
    return other.kernel() if other.fits else None


def product_of(choose: Choose) -> Program:
    """A product in a loop; it may not fit."""
    # That of a seed, which the chip has run, has A in shared memory.
    program = Program.draw(choose)
    return replace(program, registers=choose("A in registers", (False, False, True)))


def _edited(choose: Choose, kernel: Kernel) -> tuple[str, str, Kernel]:
    """A kernel with an edit or none: of what kind it is, what it was done to, the kernel."""
    edit = choose("edit", ("none", "none", "without", "without", "without", "doubled", "moved"))
    if edit == "none":
        return edit, "", kernel
    edits = _EDITS[edit](kernel.text)
    op = choose(edit, [*edits])
    return edit, op, replace(kernel, text=edits[op])


def draw(random: Random) -> str:
    """What is chosen of a kernel, and of its edit."""
    while True:
        choose = Drawn(random)
        kernel = kernel_of(choose)
        if kernel:
            _edited(choose, kernel)
            return choose.text


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Checks a kernel, or one that was edited.

    Raises:
        Wrong: if what is said of it is not what happens.
    """
    if "gpu.module" in text:
        _check_given(text)
        return
    choose = Read(text)
    kernel = kernel_of(choose)
    if kernel is None:
        return
    edit, op, kernel = _edited(choose, kernel)
    try:
        found = evaluated(kernel)
    except _REFUSALS as error:
        if edit in ("none", "without"):
            raise Wrong("refused", edit, str(error)) from None
        return
    seen = emulated(found.compiled, kernel)
    if edit != "none":
        if found.said.evaluation == "wrong" and not seen:
            seen = _seen_with_fewer_steps(text)
        _check_edited(kernel, f"{edit} {op.partition(' ')[0]}", found, seen)
    elif seen:
        raise Wrong(f"emulator: {seen.partition(':')[0]}", "whole", seen)
    elif found.said.evaluation == "wrong":
        raise Wrong("called wrong", "whole", found.said.messages[0])


def _seen_with_fewer_steps(text: str) -> str:
    """What the emulator says of the same kernel with one step along K: with more steps than stages, a
    pipeline may order what the checker, which knows no numbers of steps, has to call wrong."""
    choose = Read(f"{text}\nsteps = 1")
    kernel = kernel_of(choose)
    if kernel is None:
        return ""
    _, _, kernel = _edited(choose, kernel)
    return emulated(evaluated(kernel).compiled, kernel)


def _check_edited(kernel: Kernel, edit: str, found: Evaluated, seen: str) -> None:
    evaluation, messages = found.said.evaluation, "; ".join(found.said.messages)
    said = f"{evaluation}: {messages}; the emulator: {seen or 'right'}"
    if seen.startswith("refused"):
        raise Wrong("not emulated", edit, said)
    computes = edit.startswith("without")
    if evaluation == "proven" and seen and (computes or seen != "wrong result"):
        raise Wrong("proven", f"{edit}: {seen}", said)
    if seen == "wrong result" and computes:
        raise Wrong("no rule is broken, but the result is wrong", edit, said)
    # For tcgen05 the lowering adds barriers itself. What is done twice, or later, can go right in one
    # order of the threads and wrong in another; the emulator takes one.
    added = "gpu.barrier" in edit and kernel.arch != "sm_90a"
    if evaluation == "wrong" and not seen and computes and kernel.tells and not added:
        raise Wrong("called wrong", edit, said)


def _check_given(text: str) -> None:
    """Checks a kernel that is given: what is proven breaks no rule, and computes what it says."""
    none = np.zeros(0)
    kernel = Kernel(text, "", {}, "", None, none, none)
    try:
        found = evaluated(kernel)
    except _REFUSALS:
        return
    (entry,) = found.compiled.manifest["kernels"]
    random = np.random.default_rng(0)
    inputs = {}
    for said in entry["arguments"]:
        drawn = random.integers(-2, 3, said["shape"]).astype(DTYPES[said["element"]])
        inputs[said["name"]] = np.asarray(drawn, order="F" if said["strides"][0] == 1 else "C")
    match = _EXPECTED.search(text)
    output = match[1] if match else [*inputs][-1]
    wide = {name: array.astype(np.float64) for name, array in inputs.items()}
    exact = eval(match[2], wide) if match else wide[output]
    # Without a word of what it computes, anything will do.
    bound = np.full_like(exact, 0 if match else np.inf)
    kernel = Kernel(text, entry["entry"], inputs, output, (1,), exact, bound)
    try:
        seen = emulated(found.compiled, kernel)
    except LaunchError as error:
        raise Wrong("cannot be launched", "given", str(error)) from None
    if found.said.evaluation == "proven" and seen:
        raise Wrong("proven", f"given: {seen}")


FUZZER = Fuzzer("programs", draw, check, suffix=".txt", lifetime=500)

if __name__ == "__main__":
    main(FUZZER)
