"""`tcgen05`: tensor memory, and the mma that single threads issue (PTX ISA 9.7.16)."""
