"""`tcgen05`: accumulators are in tensor memory, and one thread issues the mma of a warpgroup."""
