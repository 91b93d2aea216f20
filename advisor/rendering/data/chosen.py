"""The chosen layouts of operands, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...chosen import ChosenOperands


@data.register
def _(chosen: ChosenOperands) -> dict[str, Any]:
    return {
        "arch": str(chosen.op.arch),
        "a": chosen.a and data(chosen.a),
        "b": chosen.b and data(chosen.b),
        "mma": chosen.mma and data(chosen.mma),
    }
