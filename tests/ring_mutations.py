"""A GEMM with rings and roles, damaged in its text: what the checker and the emulator say of it."""

import re
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mlir_smem.codegen.llvm_dialect import device_module
from mlir_smem.codegen.manifest import manifest_of
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir, passmanager
from mlir_smem.dialect.diagnostics import remark_handler
from mlir_smem.emulator import EmulationError, Violations, emulate
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.passes import OpError
from mlir_smem.passes.check_async import CheckAsync
from mlir_smem.passes.driver.base import run_on
from mlir_smem.passes.smem_to_nvvm import SmemToNvvm


def text_of(config):
    """The kernel of `kernels/gemm`, each op on a line of its own."""
    with new_context(), ir.Location.unknown():
        return str(build(Problem(), config))


@dataclass(frozen=True)
class Said:
    """What the checker says: "proven", "wrong" or "undecided", and the messages."""

    verdict: str
    messages: tuple[str, ...]


def checked(text):
    """What `smem-check-async` says of a module."""
    remarks = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        try:
            CheckAsync().run(ir.Module.parse(text))
        except OpError as error:
            return Said("wrong", (error.message,))
    return Said("undecided" if remarks else "proven", tuple(remarks))


def emulated(text, config, extents):
    """What the emulator says of a module that was not checked: the kinds of what goes wrong."""
    m, n, k = extents
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), ml_dtypes.bfloat16)
    nvvm, shared = _lowered(text)
    block, grid = (128 * (1 + config.consumers), 1, 1), (*config.cluster, 1)
    try:
        emulate(nvvm, "gemm", [a, b, c], grid=grid, block=block, dynamic_shared_bytes=shared)
    except Violations as error:
        return {violation.kind.name for violation in error.found}
    except EmulationError as error:
        return {f"refused: {error.message}"}
    right = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    return set() if (c == right).all() else {"WRONG RESULT"}


def _lowered(text):
    """A module lowered without the checker, and the bytes of shared memory of its kernel."""
    with new_context() as context:
        module = ir.Module.parse(text)
        for each in SmemToNvvm().passes():
            if each.name != CheckAsync.name and not run_on(each, module.operation):
                raise ValueError(f"{each.name} fails")
        pm = passmanager.PassManager("builtin.module", context)
        pm.add("gpu.module(canonicalize,cse)")
        pm.run(module.operation)
        device = device_module(module)
        manifest = manifest_of(device, "sm_90a")
        return str(module), manifest["kernels"][0]["shared_bytes"]


def lines_with(text, pattern):
    """The numbers of the lines in which a pattern is found."""
    return [i for i, line in enumerate(text.splitlines()) if re.search(pattern, line)]


def without_line(text, number):
    """The text with a line that does nothing in the place of another."""
    lines = text.splitlines()
    lines[number] = f"%nothing{number} = arith.constant 0 : index"
    return "\n".join(lines)


def with_number(text, number, name, by):
    """The text with an attribute of a line changed; None if it has none, or it would be negative."""
    lines = text.splitlines()
    found = re.search(rf"{name} = (\d+)", lines[number])
    if not found or int(found[1]) + by < (name != "pending"):
        return None
    lines[number] = lines[number].replace(found[0], f"{name} = {int(found[1]) + by}")
    return "\n".join(lines)


def with_line_moved(text, number, pattern):
    """The text with a line behind the next one of its block that has a pattern; None if none has."""
    lines = text.splitlines()
    for other in range(number + 1, len(lines)):
        if lines[other].strip().startswith("}") or lines[other].endswith("{"):
            return None
        if re.search(pattern, lines[other]):
            lines.insert(other, lines.pop(number))
            return "\n".join(lines)
    return None


def is_valid(text):
    """Whether a module can be parsed."""
    with new_context():
        try:
            ir.Module.parse(text)
        except ir.MLIRError:
            return False
    return True
