"""By which modulus a loop's integers must be kept so that the stages that follow are known."""

from math import lcm

#: Larger moduli, and larger numbers that something is compared with, are given up.
_LIMIT = 4096
_COMPARED = 64


class Scales:
    """Follows the integers that loops carry to the remainders that are taken of them.

    An integer has the scale s if it is about 1/s of a carried one: a remainder by r of it needs the
    carried one modulo s * r.
    """

    def __init__(self) -> None:
        self._scale: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._modulus = 1
        self._bound = 1

    def constant(self, result: int, number: int) -> None:
        """Notes that an integer is a constant."""
        self._constants[result] = number

    def carried(self, *integers: int) -> None:
        """Notes integers that a loop changes."""
        self._scale.update(dict.fromkeys(integers, 1))

    def follow(self, name: str, result: int, operands: tuple[int, ...]) -> None:
        """Notes an op on integers."""
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

    def widening(self) -> tuple[int, int]:
        """The modulus, and the bound up to which integers are kept exactly."""
        return self._modulus, max(self._modulus, self._bound)
