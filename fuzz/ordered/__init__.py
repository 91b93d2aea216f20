"""Random programs whose meaning is the order of their ops: their description, text and results."""
