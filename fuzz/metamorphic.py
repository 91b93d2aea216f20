"""Transformations that must not change a kernel's result: printing and parsing, canonicalization, other
layouts, splitting in halves, another architecture, transposes of transposes.

An input lists the choices that are not the first of theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np

from mlir_smem.bindings import ir, passmanager
from mlir_smem.bindings.diagnostics import Invalid
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.codegen import Compiled
from mlir_smem.dialect import new_context
from mlir_smem.dialect.ops import SubtileOp, TileMma, subtile, transpose
from mlir_smem.dialect.types import TileType, shape_of
from mlir_smem.emulator import EmulationError, Violations
from mlir_smem.ir.walk import walk
from mlir_smem.layout import LayoutError, Swizzle
from mlir_smem.passes import OpError
from mlir_smem.passes.check_async import CheckAsync
from mlir_smem.passes.driver.base import Pass
from mlir_smem.passes.smem_to_nvvm import SmemToNvvm
from mlir_smem.runtime import LaunchError, run_on_cpu

from .frame import Fuzzer, Wrong, main
from .generated.choices import Choose, RandomChoices, ReadChoices
from .generated.gemms import SWIZZLES
from .generated.kernels import KernelCase, fold_constants, run_checker
from .programs import gemm_of, kernel_of

#: A transformation of the module between two passes.
Between = Callable[[ir.Module], ir.Module]


#: The check that the choices lead to; None if they do not fit.
Check = Callable[[], None] | None

#: The most passes between which a transformation runs, and the end.
_MOST_PASSES = 10


# -- transformations -------------------------------------------------------------------------------


def _printing(choose: Choose) -> Check:
    """Printing and parsing between passes does not change the output text."""
    kernel = kernel_of(choose)
    generic = [choose(f"generic {i}", (False, True)) for i in range(_MOST_PASSES)]

    def check(kernel: KernelCase) -> None:
        forms = iter(generic)
        direct = lower_kernel(kernel)
        reparsed = lower_kernel(kernel, lambda module: _print_and_parse(module, next(forms)))
        if direct.nvvm != reparsed.nvvm:
            raise Wrong("different module", "printed", _difference(direct.nvvm, reparsed.nvvm))

    return kernel and partial(check, kernel)


def _print_and_parse(module: ir.Module, generic: bool) -> ir.Module:
    text = module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=True)
    return parse_module(text)


def _canonicalization(choose: Choose) -> Check:
    """Canonicalization and CSE between any passes do not change the result."""
    kernel = kernel_of(choose)
    pass_lists = ((), ("canonicalize",), ("cse",), ("canonicalize", "cse"))
    names = [choose(f"between {i}", pass_lists) for i in range(_MOST_PASSES)]

    def check(kernel: KernelCase) -> None:
        lists = iter(names)
        changed = lower_kernel(kernel, lambda module: _run_upstream(module, next(lists)))
        _compare("canonicalized", kernel, changed)

    return kernel and partial(check, kernel)


def _run_upstream(module: ir.Module, names: Sequence[str]) -> ir.Module:
    for name in names:
        pm = passmanager.PassManager("builtin.module")
        pm.add(name)
        pm.run(module.operation)
    return module


def _transposes(choose: Choose) -> Check:
    """A subtile is the transpose of a subtile of the transpose."""
    kernel = kernel_of(choose)

    def check(kernel: KernelCase) -> None:
        changes = [_transpose_subtiles]  # before the first pass
        changed = lower_kernel(kernel, lambda module: changes.pop()(module) if changes else module)
        _compare("transposed", kernel, changed)

    return kernel and partial(check, kernel)


def _transpose_subtiles(module: ir.Module) -> ir.Module:
    """Take each subtile of a transpose, and operands of mma transposed twice."""
    for op in walk(module, SubtileOp):
        with ir.InsertionPoint(op), op.location:
            sizes, multiples = shape_of(op.result.type)[::-1], op.multiple_of[::-1]
            part = subtile(transpose(op.tile), op.positions[::-1], sizes, multiples or None)
            op.result.replace_all_uses_with(transpose(part))
        op.operation.erase()
    for op in walk(module, TileMma):
        for position, operand in enumerate(op.operands):
            if isinstance(operand.type, TileType):
                with ir.InsertionPoint(op), op.location:
                    op.operation.operands[position] = transpose(transpose(operand))
    return module


def _other_layouts(choose: Choose) -> Check:
    """The layouts of tiles do not change the result."""
    program = gemm_of(choose)
    layouts = [choose(f"other layout of {name}", SWIZZLES) for name in "AB"]
    widest = choose("widest", (128, 64, 32, 0))
    other = program
    if program.view is None:
        a, b = (replace(x, layout=y) for x, y in zip((program.a, program.b), layouts, strict=True))
        other = replace(program, a=a, b=b)
    pipeline = SmemToNvvm(
        max_swizzle=Swizzle.of_width(widest), reserved_bytes=program.reserved_bytes
    )
    if not (program.fits and other.fits):
        return None
    return lambda: _compare(
        "laid out", program.kernel(), lower_kernel(other.kernel(), pipeline=pipeline)
    )


def _halves(choose: Choose) -> Check:
    """A GEMM equals the GEMMs of its halves along M, N or K."""
    program = gemm_of(choose)
    none = {"margin": (0, 0), "split": None, "run_time": False}
    program = replace(program, a=replace(program.a, **none), b=replace(program.b, **none))
    along = choose("along", ("M", "N", "K"))
    extent, least, half = {
        "M": (program.m, 64, {"m": program.m // 2, "warpgroups": 2 * program.warpgroups}),
        "N": (
            program.n,
            8 if program.b.major == "k" else 64,
            {"n": program.n // 2, "ctas": 2 * program.ctas},
        ),
        "K": (program.k, 16, {"k": program.k // 2, "chunks": 2 * program.chunks}),
    }[along]
    other = replace(program, **half)
    if extent % (2 * least) or not (program.fits and other.fits):
        return None
    return lambda: _compare(
        "halved", program.kernel(), lower_kernel(other.kernel()), other.kernel()
    )


def _other_arch(choose: Choose) -> Check:
    """wgmma and tcgen05 accumulate in the same order."""
    program = gemm_of(choose)
    arch = choose("other arch", ("sm_100a", "sm_103a"))
    if not program.fits_on(arch):
        return None
    return lambda: _compare("elsewhere", program.kernel(), lower_kernel(program.kernel(arch)))


_CHANGES = {
    "printed": _printing,
    "canonicalized": _canonicalization,
    "laid out": _other_layouts,
    "halved": _halves,
    "elsewhere": _other_arch,
    "transposed": _transposes,
}


# -- comparison ----------------------------------------------------------------------


def lower_kernel(
    kernel: KernelCase, between: Between = lambda module: module, pipeline: Pass | None = None
) -> Compiled:
    """Lower a kernel, with a transformation between the passes.

    Raises:
        Wrong: if a pass refuses it.
    """
    with new_context() as context:
        module = ir.Module.parse(kernel.text)
        for pass_ in (pipeline or kernel.pipeline()).passes():
            try:
                module = between(module)
                if not isinstance(pass_, CheckAsync):
                    pass_.run(module)
                elif (result := run_checker(module, pass_)).evaluation == "wrong":
                    raise Wrong("reported as wrong", pass_.name, result.messages[0])
            except (OpError, Invalid, LayoutError, ir.MLIRError) as error:
                raise Wrong("refused", pass_.name, str(error)) from None
        return fold_constants(between(module), context, kernel.arch)


def _compare(
    change: str, kernel: KernelCase, changed: Compiled, other: KernelCase | None = None
) -> None:
    """Check that a kernel and its transformation compute the same bytes."""
    results = [
        result_of(lower_kernel(kernel), kernel),
        result_of(changed, other or kernel),
    ]
    if isinstance(results[0], str) or isinstance(results[1], str):
        if isinstance(results[0], np.ndarray):
            raise Wrong("violation", change, results[1])
        raise Wrong("violation", "unchanged", str(results[0]))
    if results[0].tobytes() != results[1].tobytes():
        different = int((results[0] != results[1]).sum())
        raise Wrong("different result", change, f"{different} of {results[0].size} elements")


def result_of(compiled: Compiled, kernel: KernelCase) -> np.ndarray | str:
    """The result of a kernel, or the rules that it violates."""
    try:
        inputs = {name: array.copy(order="K") for name, array in kernel.inputs.items()}
        return run_on_cpu(compiled, kernel.entry, inputs, [kernel.output], kernel.grid)[
            kernel.output
        ]
    except Violations as error:
        return ", ".join(dict.fromkeys(violation.kind.value for violation in error.found))
    except (EmulationError, LaunchError) as error:
        return f"refused: {error}"


def _difference(one: str, other: str) -> str:
    pairs = zip(one.splitlines(), other.splitlines(), strict=False)
    return next((f"{a.strip()}\n{b.strip()}" for a, b in pairs if a != b), "one is longer")


# -- the fuzzer ------------------------------------------------------------------------------------


def _draw_check(choose: Choose) -> Check:
    return _CHANGES[choose("change", [*_CHANGES])](choose)


def draw(random: Random) -> str:
    """Draw choices."""
    while True:
        choose = RandomChoices(random)
        if _draw_check(choose):
            return choose.text


def check(text: str) -> None:
    """Check one transformation.

    Raises:
        Wrong: if it changes the result.
    """
    chosen = _draw_check(ReadChoices(text))
    if chosen:
        chosen()


FUZZER = Fuzzer("metamorphic", draw, check, suffix=".txt", lifetime=500)

if __name__ == "__main__":
    main(FUZZER)
