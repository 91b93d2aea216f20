"""Programs of the kinds that models are made of, for `front_ends.py`.

`torch_cases`, `jax_cases` and `linalg_cases` are written by hand; `contractions` draws random ones.
"""
