"""`wgmma`: accumulators are in the registers of a warpgroup."""
