"""Fuzzers: random inputs by seed, and what must be true of what becomes of each.

`python -m fuzz.NAME --seconds 60 --seed 1` runs one; CONTRIBUTING.md says more. No part of the installed
package.
"""

import os

# Workers are forked, which threads do not survive; there is one for each core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
