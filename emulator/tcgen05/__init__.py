"""`tcgen05`, tensor memory and the matrix products of single threads (PTX ISA 9.7.16)."""
