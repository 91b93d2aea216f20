"""What has been drawn of a program of PyTorch: tensors in scope, and lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

#: Element types of floats; bf16 more often.
FLOATS = ("bf16", "bf16", "bf16", "f16", "f32")


@dataclass(frozen=True)
class TorchTensor:
    """A tensor in scope: what Python calls it, its element type and shape, and what is known of it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    contiguous: bool = True
    writable: bool = True

    @property
    def is_float(self) -> bool:
        return self.dtype in ("bf16", "f16", "f32")


@dataclass
class TorchScope:
    """What has been drawn of a program."""

    random: Random
    exact: bool
    lines: list[str] = field(default_factory=list)
    vars: list[TorchTensor] = field(default_factory=list)
    args: list[TorchTensor] = field(default_factory=list)
    state: list[TorchTensor] = field(default_factory=list)
    beyond: set[str] = field(default_factory=set)
    wider: bool = False
    numbers: int = 0

    def say(self, word: str, line: str) -> None:
        self.lines.append(f"{word} {line}")

    def name(self) -> str:
        self.numbers += 1
        return f"t{self.numbers}"

    def bind(
        self, expression: str, dtype: str, shape: tuple[int, ...], **known: bool
    ) -> TorchTensor:
        """Add a statement that names a new tensor."""
        var = TorchTensor(self.name(), dtype, shape, **known)
        self.say("body", f"{var.name} = {expression}")
        self.vars.append(var)
        return var

    def pick(
        self, *, floats: bool = False, rank: int | None = None, writable: bool = False
    ) -> TorchTensor:
        """Choose a tensor, later ones more often."""
        fits = [
            v
            for v in self.vars
            if (v.is_float or not floats)
            and (rank is None or len(v.shape) == rank)
            and (v.writable or not writable)
        ]
        if not fits:
            return self.bind("torch.ones(8, 64, dtype=bf16)", "bf16", (8, 64))
        return self.random.choice(fits + fits[-4:])

    @property
    def clamp_suffix(self) -> str:
        return ".clamp(-2, 2)" if self.exact else ""
