"""An instruction descriptor of tcgen05 read back: its fields in words, and whether it can be."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ..layout import Arch, LayoutError
from ..layout.descriptor import field_of
from ..layout.tcgen05 import InstructionDescriptor, Kind
from .columns import columns, html_table
from .sentences import html_list

if TYPE_CHECKING:
    from .suspicions import Suspicion

#: What `DecodedInstruction.fields` holds.
HEADS = ("field", "bits", "encoded", "meaning")

#: Attributes of a descriptor in words.
_NAMES = {
    "selector": "sparsity selector",
    "a": "A",
    "b": "B",
    "d": "D",
    "negate_a": "negate A",
    "negate_b": "negate B",
    "a_mn_major": "A's major",
    "b_mn_major": "B's major",
    "m": "M",
    "n": "N",
    "scale": "scale factors",
    "a_scale": "A's factors",
    "b_scale": "B's factors",
    "k_bytes": "K",
}


@dataclass(frozen=True)
class DecodedInstruction:
    """What an instruction descriptor says.

    Attributes:
        bits: the 32 bits.
        descriptor: what they mean.
        suspicions: why no instruction can be that.
        arch: whose instruction it is.
    """

    bits: int
    descriptor: InstructionDescriptor
    suspicions: tuple[Suspicion, ...]
    arch: Arch

    @property
    def ctas(self) -> int:
        """Blocks that multiply together, as M tells: 256 rows are of two, others are taken for one's."""
        return 2 if self.descriptor.m == 256 else 1

    @property
    def fields(self) -> tuple[tuple[str, ...], ...]:
        """Each field: its name, bits, encoded value and meaning."""
        return tuple(
            (
                _NAMES.get(name, name),
                f"{bit}-{bit + width - 1}" if width > 1 else str(bit),
                str(field_of(self.bits, (bit, width))),
                self._meaning(name),
            )
            for name, (bit, width) in self.descriptor.fields(self.descriptor.kind).items()
        )

    def _meaning(self, name: str) -> str:
        value = getattr(self.descriptor, name)
        if name in ("a_mn_major", "b_mn_major"):
            return f"{'M' if name[0] == 'a' else 'N'}-major" if value else "K-major"
        if name in ("a_scale", "b_scale"):
            return f"from byte {value} of their words"
        if name == "k_bytes":
            return f"{value} bytes, {value * 8 // self.descriptor.a.bits} elements"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)

    @property
    def _head(self) -> str:
        d = self.descriptor
        return f"{self.bits:#010x}, kind::{d.kind}: {d.m} x {d.n} {d.d} from {d.a} and {d.b}"

    def __str__(self) -> str:
        notes = [f"suspicious ({each.name}): {each.text}" for each in self.suspicions]
        lines = [self._head, "", columns(HEADS, self.fields), ""]
        return "\n".join([*lines, *(notes or ["nothing is suspicious"])])

    def data(self) -> dict[str, Any]:
        """The answer for JSON; the K of an instruction in bytes."""
        d = self.descriptor
        return {
            "arch": str(self.arch),
            "instruction": f"{self.bits:#010x}",
            "kind": str(d.kind),
            "ctas": self.ctas,
            "fields": {
                name: value if isinstance(value, bool | int) else str(value)
                for name in d.fields(d.kind)
                if (value := getattr(d, name)) is not None
            },
            "suspicions": [asdict(s) for s in self.suspicions],
        }

    def _repr_html_(self) -> str:
        notes = [self._head, *(f"{s.name}: {s.text}" for s in self.suspicions)]
        return html_table(HEADS, self.fields) + html_list(notes)


def decode_instruction(bits: int, kind: Kind, arch: Arch = Arch.SM_100) -> DecodedInstruction:
    """What an instruction descriptor says, and whether an instruction can be that.

    Args:
        bits: the descriptor.
        kind: the instruction's kind, which the bits do not say.
        arch: whose instruction it is.

    Raises:
        LayoutError: if the architecture has no such descriptors, bits that belong to no field are set,
            or a field holds what means nothing.
    """
    if not arch.is_tcgen05:
        raise LayoutError(f"{arch} has no instruction descriptors; sm_100 and sm_103 have")
    try:
        descriptor = InstructionDescriptor.decode(bits, kind)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    made = DecodedInstruction(bits, descriptor, (), arch)
    return replace(made, suspicions=tuple(_wrong(made)))


def _wrong(made: DecodedInstruction) -> list[Suspicion]:
    """Why no instruction of the architecture can be that."""
    from .suspicions import Suspicion

    d, arch, found = made.descriptor, made.arch, []
    if d.kind not in arch.kinds:
        found.append(Suspicion("kind", f"{arch} has no kind::{d.kind}; sm_100 has"))
    if d.k_bytes not in arch.k_bytes:
        found.append(
            Suspicion("k-bytes", f"K is {d.k_bytes} bytes (bit 31), which only sm_103 has")
        )
    try:
        d.check(made.ctas)
    except ValueError as error:
        found.append(Suspicion("instruction", str(error)))
    return found
