"""Programs of StableHLO as linalg on tensors."""

from __future__ import annotations

import importlib
import re
from typing import Any

from ..bindings.mlir import PACKAGE, ir, passmanager
from ..codegen import CompileError
from ..ir.walk import walk
from .linalg.detensorize import detensorize
from .linalg.precision import HIGHEST, PRECISION
from .stablehlo_regions import lower_regions
from .tm_tensor import lower_tm_tensor

#: Functions become a part of their callers, so that loops and branches are seen whole.
_INLINE = "builtin.module(inline,symbol-dce)"

#: StableHLO to linalg, by passes of torch-mlir's wheel.
_TO_LINALG = (
    "builtin.module(stablehlo-legalize-to-linalg,stablehlo-convert-to-signless,"
    "reconcile-unrealized-casts,canonicalize,cse)"
)

#: Dialects of control flow.
_DIALECTS = ("arith", "scf", "tensor")

#: Attributes that say how a product is computed; upstream's passes ignore them.
_ALGORITHM, _PRECISION_CONFIG = "algorithm", "precision_config"

#: Types of an algorithm that have more bits than tf32.
_WIDE = ("f32", "f64")


def linalg_of(text: str) -> str:
    """Lower a module of StableHLO to linalg on tensors; the bindings must be torch-mlir's.

    Raises:
        CompileError: if an op has no form in linalg.
    """
    stablehlo: Any = importlib.import_module(f"{PACKAGE}._mlir_libs._stablehlo")
    # The parser of torch-mlir's wheel does not know CHLO, and what calls of other code say.
    _check_lowered(set(re.findall(r"\b(?:chlo\.\w+|stablehlo\.custom_call)\b", text)))
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = ir.Module.parse(text)
        for name in _DIALECTS:
            _ = context.dialects[name]
        passmanager.PassManager.parse(_INLINE).run(module.operation)
        lower_regions(module)
        for op in walk(module.operation):
            if _is_highest(op):
                op.attributes[PRECISION] = ir.StringAttr.get(HIGHEST)
            if op.name == "stablehlo.dot_general" and _ALGORITHM in op.attributes:
                _check_algorithm(op)
                del op.attributes[_ALGORITHM]
        passmanager.PassManager.parse(_TO_LINALG).run(module.operation)
        detensorize(module)
        lower_tm_tensor(module)
        names = {op.name for op in walk(module.operation)}
        _check_lowered({name for name in names if name.startswith("stablehlo.")})
        return str(module)


def _check_lowered(names: set[str]) -> None:
    if names:
        raise CompileError(
            f"the function has {', '.join(sorted(names))}, which upstream does not lower to linalg"
        )


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
