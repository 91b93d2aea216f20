"""`wgmma`, the matrix products of a warpgroup (PTX ISA 9.7.15)."""
