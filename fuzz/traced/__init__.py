"""Random Python functions for the kernel language."""
