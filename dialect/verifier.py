"""Verifiers of ops: checks that raise `Invalid`."""

import functools
from collections.abc import Callable
from typing import Any

from ..bindings.diagnostics import NOT_UTF8, UNREADABLE, Invalid, emit_op_error, emit_unreadable
from ..bindings.irtypes import Op
from ..layout import LayoutError


def verifier(check: Callable[[Any], None]) -> Any:
    """Convert a check that raises `Invalid` to a verifier of the bindings, which returns true or false.

    Checks are named `verify_region_invariants`: one named `verify_invariants` would run before IRDL has
    verified that operands, results and attributes exist.
    """

    @functools.wraps(check)
    def verify(op: Op) -> bool:
        try:
            check(op)
        except (Invalid, LayoutError) as error:
            emit_op_error(op, str(error))
            return False
        except UNREADABLE as error:
            if not emit_unreadable(op):
                if NOT_UTF8 not in str(error):
                    raise
                emit_op_error(op, "has a type with text that is not UTF-8")
            return False
        return True

    return staticmethod(verify)
