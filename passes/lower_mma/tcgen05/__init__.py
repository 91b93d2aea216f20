"""`tcgen05`: accumulators are in tensor memory, and one thread starts the mma of a warpgroup."""
