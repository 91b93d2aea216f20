"""What every fuzzer is made of: seeds, workers that may die, saved and minimised inputs."""

from .fuzzer import Fuzzer, Wrong, failure_of, generator
from .main import main
from .worker import trying

__all__ = ["Fuzzer", "Wrong", "failure_of", "generator", "main", "trying"]
