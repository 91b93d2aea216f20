"""The symbols of a function: one for each computation, so that polynomials can be compared."""

from collections.abc import Hashable

from ...bindings.irtypes import Op
from ...ir.op_address import OpIdentity
from .polynomials import Divergence, Polynomial, Symbol, Variable


class SymbolTable:
    """The symbols of a function's values, by what identifies them."""

    def __init__(self) -> None:
        self._symbols: dict[tuple, Symbol] = {}
        self._keys: list[tuple] = []

    def known(self, key: tuple) -> Symbol | None:
        """Return the symbol of a key if it was made."""
        return self._symbols.get(key)

    def key_of(self, symbol: Symbol) -> tuple:
        """Return the key of a symbol."""
        return self._keys[symbol.number]

    def of(
        self,
        key: tuple,
        operands: tuple[Polynomial, ...] = (),
        divergence: Divergence = Divergence.NONE,
        lower_bound: int | None = None,
        by: Variable | None = None,
        within: Op | None = None,
        same_in_pair: bool = False,
        same_in_cluster: bool = False,
        bound: Symbol | None = None,
    ) -> Symbol:
        """Return the symbol of a key.

        Args:
            key: identifies it; with operands, it begins with the op's name and its attributes and type.
            operands: what it is computed from.
            divergence: the threads between which it may differ.
            lower_bound: it is not below this.
            by: a loop, partition or value with which it changes.
            within: it changes with the loops around this op.
            same_in_pair: whether it is known to be the same in both CTAs of a pair.
            same_in_cluster: whether it is known to be the same in all CTAs of a cluster.
            bound: a symbol of the operands with which it does not change, as that of a sum's terms.
        """
        if key not in self._symbols:
            varies = frozenset(() if by is None else (by,)).union(*(x.varies for x in operands))
            if within is not None:
                varies |= frozenset(_loops_around(within))
            if bound is not None:
                varies -= bound.varies
            name, more = key[:2] if operands else ("", "")
            new = len(self._symbols)
            self._keys.append(key)
            in_pair = bool(operands) and all(x.same_in_pair for x in operands)
            in_cluster = bool(operands) and all(x.same_in_cluster for x in operands)
            self._symbols[key] = Symbol(
                new,
                name,
                more,
                operands,
                varies,
                divergence,
                lower_bound,
                same_in_pair or in_pair or divergence is Divergence.NONE,
                same_in_cluster or in_cluster or divergence is Divergence.NONE,
            )
        return self._symbols[key]

    def unknown(
        self,
        value: Hashable,
        within: Op | None,
        divergence: Divergence = Divergence.BETWEEN_THREADS,
    ) -> Symbol:
        """Return the symbol of a value of which nothing else is known."""
        return self.of(("value", value), divergence=divergence, within=within)


def _loops_around(op: Op | None) -> list[OpIdentity]:
    """Return the loops that an op is in, and the op if it is one."""
    found = []
    while op is not None and op.name != "builtin.module":
        if op.name == "scf.for":
            found.append(OpIdentity.of(op))
        op = op.parent.operation if op.parent is not None else None
    return found
