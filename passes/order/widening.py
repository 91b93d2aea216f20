"""How the integers of loops are widened, so that the stages computed from them stay known."""

from math import lcm

#: Larger moduli, and larger constants in comparisons, are ignored.
_LIMIT = 4096
_COMPARED = 64


class Widening:
    """Finds the remainders that are computed from integers that loops carry.

    An integer has the scale s if it is about 1/s of a carried one: its remainder by r needs the
    carried one modulo s * r.
    """

    def __init__(self) -> None:
        self._scale: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._modulus = 1
        self._bound = 1

    def constant(self, result: int, number: int) -> None:
        """Note that an integer is a constant."""
        self._constants[result] = number

    def carried(self, *integers: int) -> None:
        """Note integers that a loop changes."""
        self._scale.update(dict.fromkeys(integers, 1))

    def follow(self, name: str, result: int, operands: tuple[int, ...]) -> None:
        """Note an op on integers."""
        scales = [self._scale[x] for x in operands if x in self._scale]
        if not scales:
            return
        scale = max(scales)
        constant = self._constants.get(operands[-1], 0)
        if name in ("arith.remui", "arith.remsi"):
            self._need(scale * constant)
        elif name == "arith.andi":
            self._need(scale * (constant + 1))
        elif name in ("arith.divui", "arith.divsi"):
            scale *= max(constant, 1)
        elif name == "arith.shrui":
            scale <<= min(max(constant, 0), 32)
        for x in operands:
            known = self._constants.get(x, 0)
            if 0 < known <= _COMPARED and name in ("arith.cmpi", "arith.xori"):
                self._bound = max(self._bound, 2 * known)
        self._scale[result] = scale

    def _need(self, modulus: int) -> None:
        together = lcm(self._modulus, max(modulus, 1))
        if together <= _LIMIT:
            self._modulus = together

    def limits(self) -> tuple[int, int]:
        """Return the modulus, and the bound up to which integers are kept exactly."""
        return self._modulus, max(self._modulus, self._bound)
