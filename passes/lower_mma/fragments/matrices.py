"""Attributes of `ldmatrix` and `stmatrix`."""

from ....bindings.irtypes import Attribute
from ....bindings.mlir import ir

#: Columns of 16-bit elements of 64 rows that four matrices cover.
MATRIX_COLUMNS = 16


def matrix_attributes(transposed: bool) -> dict[str, Attribute]:
    """Return the attributes of matrices of 8 rows of 16 bytes; upstream calls transposed ones `col`."""
    return {
        "layout": ir.Attribute.parse(f"#nvvm.mma_layout<{'col' if transposed else 'row'}>"),
        "shape": ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
        "eltType": ir.Attribute.parse("#nvvm.ld_st_matrix_elt_type<b16>"),
    }
