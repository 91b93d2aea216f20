"""What LLVM's back end for PTX dies of, found before it and at its place.

What else it dies of ends the process that it runs in; see `llvm_process`.
"""

import re
from collections.abc import Callable
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..dialect.diagnostics import UNREADABLE
from ..ir.walk import walk
from .errors import located, unreadable

#: An identifier of PTX (PTX ISA 4.4) without '%', which LLVM does not write.
_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$][\w$]+", re.ASCII)

#: Identifiers with a meaning of their own, in PTX and in LLVM.
_RESERVED = {"WARP_SZ", "__nvvm_reflect"}

#: Ops that define symbols of PTX.
_SYMBOLS = ("gpu.func", "func.func", "llvm.func", "memref.global", "llvm.mlir.global")

#: Linkages of symbols that LLVM renames as PTX needs it, if '.' and '@' are all that is wrong.
_LOCAL = ("#llvm.linkage<internal>", "#llvm.linkage<private>")

#: Prefixes of the intrinsics of LLVM's other targets (llvm/IR/Intrinsics*.td of LLVM 22).
_FOREIGN = re.compile(
    r"llvm\.(aarch64|amdgcn|arm|bpf|dx|hexagon|loongarch|mips|ppc|r600|riscv|s390|sparc|spv|ve|wasm|x86"
    r"|xcore)\."
)

#: Types that PTX has no registers for and that LLVM does not compute in parts; tf32 is f32 in registers.
_NO_TYPE = re.compile(
    r'(?<![\w."-])(f80|f128|tf32|!llvm\.(?:metadata|token|ppc_fp128|x86_amx)|vector<[\dx]*\[)'
)

#: Elements of a vector: one value of LLVM's instruction selection has at most 65,535 parts, and it
#: rounds up to a power of two.
MAX_VECTOR = 1 << 15


def check_limits(kernels: Any) -> None:
    """Checks a gpu.module before it is lowered to the LLVM dialect.

    Raises:
        CompileError: with a located diagnostic.
    """
    objections: dict[Any, str | None] = {}
    for op in walk(kernels):
        if check := _CHECKS.get(op.name):
            _apply(check, op)
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.arguments)]
        for type_ in (value.type for value in values):
            if type_ not in objections:
                objections[type_] = _objection(type_)
            if objections[type_]:
                raise located(op, f"has a value of type {type_}; {objections[type_]}")


def _apply(check: Callable[[Any], None], op: Any) -> None:
    try:
        check(op)
    except UNREADABLE:
        if (error := unreadable(op, f"'{op.name}'")) is None:
            raise
        raise error from None


def _check_name(op: Any) -> None:
    name = ir.StringAttr(op.attributes["sym_name"]).value
    if op.name == "llvm.func" and not len(op.regions[0].blocks):
        return  # an intrinsic, or a function that is refused where it is called
    plain = name
    if "linkage" in op.attributes and str(op.attributes["linkage"]) in _LOCAL:
        plain = re.sub(r"[.@]", "_", name)
    if plain in _RESERVED or name.startswith("llvm."):
        raise located(op, f"has the name {name!r}, which has a meaning of its own in PTX or LLVM")
    if not _IDENTIFIER.fullmatch(plain):
        raise located(
            op,
            f"has the name {name!r}, which PTX cannot hold; expected letters, digits, '_' and '$', a "
            "letter first (or '_' or '$' and more)",
        )


def _check_intrinsic(op: Any) -> None:
    name = ir.StringAttr(op.attributes["intrin"]).value
    if foreign := _FOREIGN.match(name):
        raise located(
            op,
            f"calls '{name}', an intrinsic of {foreign[1]}; expected one of nvvm, or of all targets",
        )


def _check_ptx(op: Any) -> None:
    if not ir.StringAttr(op.attributes["ptxCode"]).value:
        raise located(op, 'has no instructions; expected PTX, as in "bar.sync 1;"')


_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(_SYMBOLS, _check_name),
    "llvm.call_intrinsic": _check_intrinsic,
    "nvvm.inline_ptx": _check_ptx,
}


def _objection(type_: Any) -> str | None:
    """Why no code is generated for a type; None if it may be."""
    if found := _NO_TYPE.search(str(type_)):
        scalable = found[1].startswith("vector")
        return f"GPUs have no {'scalable vectors' if scalable else found[1]}"
    element = type_.element_type if isinstance(type_, ir.MemRefType) else type_
    if isinstance(element, ir.VectorType) and prod(element.shape) > MAX_VECTOR:
        return f"a vector has at most {MAX_VECTOR} elements, not {prod(element.shape)}"
    return None
