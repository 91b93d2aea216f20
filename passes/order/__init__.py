"""The order of accesses in functions without pipelines: all runs of a function, and hazards on them."""
