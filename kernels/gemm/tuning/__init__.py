"""The search for the fastest configuration, by measurement."""
