"""Faults that are put into correct kernels, and what finds each; `docs/faults.md` is the table."""
