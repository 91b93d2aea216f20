"""The signature of a kernel: the extents, strides and element types of its array parameters.

It is a text with a part for each parameter, in parentheses, as in NumPy's generalised ufuncs:
`"(M,K), (K,N):(1,?):e4m3, ()"`. A part is `(extents):(strides):type`, as CuTe writes shape:stride;
strides and type may be missing.

| part | the argument of a call |
|---|---|
| `(M,K)` | a contiguous array of two dimensions. Equal names are equal extents, in all parts |
| `(M,64)` | the last extent is 64 |
| `(M,d)` | the last extent is d, if the kernel has a keyword-only parameter d that is an integer |
| `(M,)`, `(M)` | an array of one dimension |
| `()` | a number |
| `(M,K):bf16` | elements of bf16, a type of the list at the end; without, the call says it |
| `(M,K):(?,1)` | strides in elements, `?` is any: contiguous rows, such as `x[:, 0:64]` |
| `(K,N):(1,?)` | contiguous columns ("column-major"), such as `w.T` |
| `(K,N):(1,?):e4m3` | both: strides, then the type |
| `(G,M,K):(?,?,1)` | three dimensions; matrices and rows at any distance |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..bindings.mlir import ir
from .dtypes import DType, dtype_of
from .errors import TraceError

_PARAMETER = re.compile(
    r"\s*\((?P<shape>[^()]*)\)(?P<suffixes>(?:\s*:\s*(?:\([^()]*\)|[\w.]+))*)\s*(?P<end>,|$)"
)
_SUFFIX = re.compile(r":\s*(\([^()]*\)|[\w.]+)")
_EXTENT = re.compile(r"[A-Za-z_]\w*|[1-9]\d*")
_STRIDE = re.compile(r"\?|[1-9]\d*")

_FORM = '"(M,K), (K,N):bf16, (M,N):(?,1), (N,K):(1,?):e4m3, ()"'


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    Attributes:
        shape: names of extents, and numbers; empty for a scalar.
        strides: in elements, None for one that is known at run time; None for a contiguous array.
        dtype: the element type; None if the call gives it.
    """

    shape: tuple[str | int, ...]
    strides: tuple[int | None, ...] | None = None
    dtype: DType | None = None

    def __str__(self) -> str:
        text = f"({', '.join(map(str, self.shape))})"
        if self.strides is not None:
            text += f":({', '.join('?' if n is None else str(n) for n in self.strides)})"
        return text + (f":{self.dtype}" if self.dtype else "")

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number."""
        return not self.shape

    def with_extents(self, constants: Mapping[str, Any]) -> Parameter:
        """Return the parameter with the extents that constants of the kernel name.

        Raises:
            TraceError: for a constant below 1.
        """
        fixed = {
            name: constants[name]
            for name in self.shape
            if isinstance(name, str) and type(constants.get(name)) is int
        }
        for name, extent in fixed.items():
            if extent < 1:
                raise TraceError(
                    f"the constant {name}, an extent of {self}, is {extent}; expected a "
                    "positive number"
                )
        shape = tuple(fixed.get(str(extent), extent) for extent in self.shape)
        return replace(self, shape=shape) if fixed else self

    def type(self, dtype: DType) -> Any:
        """Return the MLIR type of the argument in the current context."""
        if self.is_scalar:
            return dtype.type
        dynamic = ir.ShapedType.get_dynamic_size()
        extents = [extent if isinstance(extent, int) else dynamic for extent in self.shape]
        if self.strides is None:
            return ir.MemRefType.get(extents, dtype.type)
        unknown = ir.ShapedType.get_dynamic_stride_or_offset()
        strides = [unknown if stride is None else stride for stride in self.strides]
        return ir.MemRefType.get(extents, dtype.type, ir.StridedLayoutAttr.get(0, strides))


def parse(text: str) -> tuple[Parameter, ...]:
    """Return the parameters of a signature.

    Raises:
        TraceError: if the text is malformed.
    """
    parameters: list[Parameter] = []
    offset = 0
    while offset < len(text):
        match = _PARAMETER.match(text, offset)
        if match is None:
            raise TraceError(
                f"the signature {text!r} is malformed at {text[offset:].strip()[:20]!r}; expected a form "
                f"like {_FORM}"
            )
        parameters.append(_parameter(match["shape"], _SUFFIX.findall(match["suffixes"])))
        offset = match.end()
        if match["end"] and offset >= len(text.rstrip()):
            raise TraceError(f"the signature {text!r} ends with a comma")
    return tuple(parameters)


def _parameter(shape: str, suffixes: list[str]) -> Parameter:
    extents = tuple(
        int(word) if word.isdigit() else word for word in _words(shape, _EXTENT, "an extent")
    )
    strides: tuple[int | None, ...] | None = None
    dtype: DType | None = None
    for suffix in suffixes:
        if suffix.startswith("("):
            words = _words(suffix[1:-1], _STRIDE, "a stride")
            strides = tuple(None if word == "?" else int(word) for word in words)
        else:
            dtype = dtype_of(suffix)
    if strides is not None and len(strides) != len(extents):
        raise TraceError(f"({shape}) has {len(extents)} extents, but {len(strides)} strides")
    return Parameter(extents, strides, dtype)


def _words(text: str, form: re.Pattern[str], role: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if words and not words[-1]:
        words.pop()
    for word in words:
        if not form.fullmatch(word):
            raise TraceError(f"the signature has {word!r} as {role}; expected a form like {_FORM}")
    return words
