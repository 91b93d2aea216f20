"""Mutated modules: in their text or after parsing."""
