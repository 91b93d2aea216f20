"""A fixed sample of programs with what the checker and the emulator say of each: a net under the prover.

It knows passes by their names and diagnostics only, so that it stays as it is when they are rewritten.
"""
