"""Architectures that code is generated for."""

from dataclasses import dataclass

from .errors import CompileError


@dataclass(frozen=True)
class Target:
    """The options of LLVM and ptxas for an architecture.

    Attributes:
        arch: the architecture's name, for example "sm_90a".
        ptx: the PTX version with all of its instructions, as an LLVM feature.
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
    """Return the target of an architecture.

    Raises:
        CompileError: if no code is generated for it.
    """
    try:
        return TARGETS[arch]
    except KeyError:
        raise CompileError(
            f"no code is generated for '{arch}'; expected {' or '.join(TARGETS)}"
        ) from None
