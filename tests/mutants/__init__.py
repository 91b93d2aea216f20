"""Mutants of the code that computes layouts and descriptors, and who notices them; see `run.py`."""
