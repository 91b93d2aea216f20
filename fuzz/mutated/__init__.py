"""Modules that are broken a little, in their text or as parsed."""
