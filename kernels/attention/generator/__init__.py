"""The generator builds a kernel from a `Problem` and a `Config`; it needs no GPU and no runtime."""
