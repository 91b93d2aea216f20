"""Parts that the instructions of tensor cores share: element types, operand bytes, arithmetic."""
