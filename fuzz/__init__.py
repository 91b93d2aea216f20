"""Fuzzers: random inputs by seed, and a check of each.

`python -m fuzz.NAME --seconds 60 --seed 1` runs one; CONTRIBUTING.md describes them. They are not
installed with the package.
"""

import os

# Workers are forked, and threads do not survive a fork. There is one worker for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A random program is compiled once.
os.environ.setdefault("MLIR_SMEM_CACHE", "off")
