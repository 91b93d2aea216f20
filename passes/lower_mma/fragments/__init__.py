"""Lowerings of ops on fragments in registers: conversions, elementwise functions, loads and stores."""
