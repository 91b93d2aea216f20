"""What the instructions of tensor cores have in common: types, the bytes they read, the arithmetic."""
