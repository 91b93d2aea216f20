"""Add the folder of the benchmarks, which are scripts, to the import path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
