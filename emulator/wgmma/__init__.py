"""`wgmma`: warpgroup-level mma (PTX ISA 9.7.15)."""
