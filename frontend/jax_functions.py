"""Functions of JAX as executables."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..bindings.mlir import PACKAGE, ir, passmanager
from ..bindings.parsing import parse_module
from ..codegen import CompileError
from ..dialect import new_context
from .executable import Executable
from .linalg.lowering import lower_linalg
from .linalg.precision import HIGHEST, PRECISION

#: StableHLO to linalg, by passes of torch-mlir's wheel.
_TO_LINALG = "builtin.module(inline,symbol-dce,stablehlo-legalize-to-linalg,canonicalize,cse)"

#: Attributes that say how a product is computed; upstream's passes ignore them.
_ALGORITHM, _PRECISION_CONFIG = "algorithm", "precision_config"

#: Types of an algorithm that have more bits than tf32.
_WIDE = ("f32", "f64")


def from_jax(
    function: Callable[..., Any],
    *example_inputs: Any,
    on: str = "gpu",
    mixed: bool = False,
    **options: Any,
) -> Executable:
    """Compile a function of JAX.

    JAX lowers it to StableHLO, which becomes linalg; products become kernels (`linalg-to-smem`). Products
    of f32 whose `jax.lax.Precision` is HIGHEST, or whose algorithm has more bits than tf32, are none.

    Args:
        function: a function of arrays, which `jax.jit` takes.
        example_inputs: arrays, or `jax.ShapeDtypeStruct`.
        on: "gpu", or "cpu" for the emulator.
        mixed: see `Executable`.
        options: options of `linalg-to-smem`, dashes as underscores.

    Returns:
        An executable that takes arrays of those shapes.

    Raises:
        CompileError: if jax or torch-mlir is not installed, or an op of StableHLO has no form in linalg.
        MLIRError: if the program cannot be lowered.

    Example:
        >>> import jax, ml_dtypes
        >>> x = np.ones((64, 64), ml_dtypes.bfloat16)
        >>> product = from_jax(lambda a, b: jax.nn.relu(a @ b), x, x, on="cpu")
        >>> float(product(x, x)[0, 0])
        64.0
    """
    text = export_jax(function, example_inputs)
    with new_context():
        program = parse_module(text)
        lower_linalg(program, **options)
        return Executable(program, "main", on=on, mixed=mixed)


def export_jax(function: Callable[..., Any], example_inputs: Sequence[Any]) -> str:
    """Export a function to linalg on tensors.

    Args:
        function, example_inputs: as for `from_jax`.

    Raises:
        CompileError: if jax or torch-mlir is not installed, or an op of StableHLO has no form in linalg.
    """
    try:
        jax = importlib.import_module("jax")
        importlib.import_module(f"{PACKAGE}._mlir_libs._stablehlo")
        importlib.import_module(f"{PACKAGE}._mlir_libs._torchMlir")  # registers the passes
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed; from_jax needs jax, and torch-mlir as the bindings"
        ) from None
    return linalg_of(jax.jit(function).lower(*example_inputs).as_text())


def linalg_of(text: str) -> str:
    """Lower a module of StableHLO to linalg on tensors; the bindings must be torch-mlir's.

    Raises:
        CompileError: if an op has no form in linalg.
    """
    stablehlo: Any = importlib.import_module(f"{PACKAGE}._mlir_libs._stablehlo")
    missing = sorted(set(re.findall(r"\bchlo\.\w+", text)))
    if missing:
        raise CompileError(
            f"the function has {', '.join(missing)}, which upstream does not lower to linalg"
        )
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = ir.Module.parse(text)
        for op in _ops(module.operation):
            if _is_highest(op):
                op.attributes[PRECISION] = ir.StringAttr.get(HIGHEST)
            if op.name == "stablehlo.dot_general" and _ALGORITHM in op.attributes:
                _check_algorithm(op)
                del op.attributes[_ALGORITHM]
        passmanager.PassManager.parse(_TO_LINALG).run(module.operation)
        unlowered = {
            op.name
            for op in _ops(module.operation)
            if op.name.split(".")[0] in ("stablehlo", "chlo")
        }
        if unlowered:
            raise CompileError(
                f"the function has {', '.join(sorted(unlowered))}, which upstream does not lower to "
                "linalg"
            )
        return str(module)


def _is_highest(op: Any) -> bool:
    """Whether a product or a convolution asks for more precision than tensor cores have.

    It asks for products of f32 or of parts of f32, or for exact sums of 8-bit floats.
    """
    if _PRECISION_CONFIG in op.attributes and "HIGHEST" in str(op.attributes[_PRECISION_CONFIG]):
        return True
    if op.name != "stablehlo.dot_general" or _ALGORITHM not in op.attributes:
        return False
    fields = dict(re.findall(r"(\w+) = (\w+)", str(op.attributes[_ALGORITHM])))
    types = [fields[f"{side}_precision_type"] for side in ("lhs", "rhs")]
    parts = [fields[f"{side}_component_count"] for side in ("lhs", "rhs")]
    is_exact = fields["allow_imprecise_accumulation"] == "false"
    return (
        any(type_ in _WIDE or (type_.startswith("f8") and is_exact) for type_ in types)
        or [*parts, fields["num_primitive_operations"]] != ["1"] * 3
    )


def _check_algorithm(op: Any) -> None:
    """Check that a product is summed in the element type of its result, as linalg does."""
    summed = str(op.results[0].type.element_type)
    if f"accumulation_type = {summed}," not in str(op.attributes[_ALGORITHM]):
        raise CompileError(
            f"a product of {op.results[0].type} has {op.attributes[_ALGORITHM]}; expected sums in "
            f"{summed}"
        )


def _ops(op: Any) -> list[Any]:
    ops: list[Any] = []

    def visit(op: Any) -> Any:
        ops.append(op.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return ops
