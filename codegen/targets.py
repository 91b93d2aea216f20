"""Architectures that code is generated for."""

from dataclasses import dataclass

from .errors import CompileError


@dataclass(frozen=True)
class Target:
    """What LLVM and ptxas are told of an architecture.

    Attributes:
        arch: the name, for example "sm_90a".
        ptx: the PTX version that has its instructions, as an LLVM feature.
    """

    arch: str
    ptx: str


#: PTX ISA 8.0 introduced sm_90a; 8.4 the wgmma of mixed 8-bit integers; 8.6 tcgen05; 8.8 sm_103a,
#: and all of tcgen05 in LLVM 22.
TARGETS = {
    t.arch: t
    for t in (Target("sm_90a", "ptx84"), Target("sm_100a", "ptx88"), Target("sm_103a", "ptx88"))
}


def target(arch: str) -> Target:
    """The target of that name.

    Raises:
        CompileError: if there is none.
    """
    try:
        return TARGETS[arch]
    except KeyError:
        raise CompileError(
            f"no code is generated for '{arch}'; expected {' or '.join(TARGETS)}"
        ) from None
