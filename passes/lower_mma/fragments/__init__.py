"""What is computed with fragments in registers, and how these move in and out of them."""
