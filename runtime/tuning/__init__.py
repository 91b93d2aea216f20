"""The search for the fastest configuration of a kernel, by measurement."""
