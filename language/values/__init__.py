"""Values of the running kernel: indices, numbers, fragments, tiles, arrays."""
