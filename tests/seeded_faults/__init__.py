"""Faults that are put into correct kernels, to see who finds them; `docs/faults.md` is the table."""
