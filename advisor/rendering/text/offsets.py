"""The meaning of LBO and SBO in a canonical layout."""

from __future__ import annotations

from ....layout import Form, Major, Swizzle


def offset_meaning(form: Form, name: str) -> str:
    """Return the stride that LBO or SBO is.

    Args:
        form: the canonical layout.
        name: `LBO` or `SBO`.
    """
    if name not in form.text:
        return "not used"
    in_rows = name in form.strides[0]
    plain = form.swizzle is Swizzle.NONE
    if form.major is Major.K:
        return "to the next 8 rows of m/n" if in_rows else "to the next 16 bytes of k"
    if not in_rows:
        return f"to the next {form.swizzle.lines} of k"
    return f"to the next {16 if plain else form.swizzle.width} bytes of m/n"
