"""Known crashes of LLVM's NVPTX back end, found before it runs and reported at the op.

Other crashes end the process that LLVM runs in; see `llvm_process`.
"""

import re
from collections.abc import Callable
from math import prod
from typing import Any

from ..bindings.diagnostics import UNREADABLE
from ..bindings.mlir import ir
from ..ir.walk import walk
from .errors import error_at, unreadable_error

#: An identifier of PTX (PTX ISA 4.4), except those with '%', which LLVM does not write.
_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$][\w$]+", re.ASCII)

#: Identifiers that are reserved in PTX or in LLVM.
_RESERVED = {"WARP_SZ", "__nvvm_reflect"}

#: Ops that define symbols of PTX.
_SYMBOLS = ("gpu.func", "func.func", "llvm.func", "memref.global", "llvm.mlir.global")

#: Linkages of symbols in which LLVM replaces '.' and '@', so that PTX accepts the name.
_LOCAL = ("#llvm.linkage<internal>", "#llvm.linkage<private>")

#: Prefixes of the intrinsics of LLVM's other targets (llvm/IR/Intrinsics*.td of LLVM 22).
_FOREIGN = re.compile(
    r"llvm\.(aarch64|amdgcn|arm|bpf|dx|hexagon|loongarch|mips|ppc|r600|riscv|s390|sparc|spv|ve|wasm|x86"
    r"|xcore)\."
)

#: Types without PTX registers that LLVM does not split into others; tf32 is f32 in registers.
_NO_TYPE = re.compile(
    r'(?<![\w."-])(f80|f128|tf32|!llvm\.(?:metadata|token|ppc_fp128|x86_amx)|vector<[\dx]*\[)'
)

#: Elements of a vector. A value in LLVM's instruction selection has at most 65,535 parts, and vectors are
#: rounded up to a power of two.
MAX_VECTOR = 1 << 15


def check_limits(kernels: Any) -> None:
    """Check a gpu.module before it is lowered to the LLVM dialect.

    Raises:
        CompileError: with a located diagnostic.
    """
    refusals: dict[Any, str | None] = {}
    for op in walk(kernels):
        if check := _CHECKS.get(op.name):
            _apply(check, op)
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.arguments)]
        for type_ in (value.type for value in values):
            if type_ not in refusals:
                refusals[type_] = _refusal(type_)
            if refusals[type_]:
                raise error_at(op, f"has a value of type {type_}; {refusals[type_]}")


def _apply(check: Callable[[Any], None], op: Any) -> None:
    try:
        check(op)
    except UNREADABLE:
        if (error := unreadable_error(op, f"'{op.name}'")) is None:
            raise
        raise error from None


def _check_name(op: Any) -> None:
    name = ir.StringAttr(op.attributes["sym_name"]).value
    if op.name == "llvm.func" and not len(op.regions[0].blocks):
        return  # an intrinsic, or a function whose calls are refused
    plain = name
    if "linkage" in op.attributes and str(op.attributes["linkage"]) in _LOCAL:
        plain = re.sub(r"[.@]", "_", name)
    if plain in _RESERVED or name.startswith("llvm."):
        raise error_at(op, f"has the name {name!r}, which is reserved in PTX or LLVM")
    if not _IDENTIFIER.fullmatch(plain):
        raise error_at(
            op,
            f"has the name {name!r}, which PTX cannot hold; expected letters, digits, '_' and '$', a "
            "letter first (or '_' or '$' and more)",
        )


def _check_intrinsic(op: Any) -> None:
    name = ir.StringAttr(op.attributes["intrin"]).value
    if foreign := _FOREIGN.match(name):
        raise error_at(
            op,
            f"calls '{name}', an intrinsic of {foreign[1]}; expected one of nvvm, or of all targets",
        )


def _check_ptx(op: Any) -> None:
    if not ir.StringAttr(op.attributes["ptxCode"]).value:
        raise error_at(op, 'has no instructions; expected PTX, as in "bar.sync 1;"')


_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(_SYMBOLS, _check_name),
    "llvm.call_intrinsic": _check_intrinsic,
    "nvvm.inline_ptx": _check_ptx,
}


def _refusal(type_: Any) -> str | None:
    """Return why no code can be generated for a type; None if it can."""
    if match := _NO_TYPE.search(str(type_)):
        scalable = match[1].startswith("vector")
        return f"GPUs have no {'scalable vectors' if scalable else match[1]}"
    element = type_.element_type if isinstance(type_, ir.MemRefType) else type_
    if isinstance(element, ir.VectorType) and prod(element.shape) > MAX_VECTOR:
        return f"a vector has at most {MAX_VECTOR} elements, not {prod(element.shape)}"
    return None
