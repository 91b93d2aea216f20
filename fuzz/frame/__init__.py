"""The frame of every fuzzer: seeds, workers that may crash, saved and minimised inputs."""

from .fuzzer import Fuzzer, Wrong, failure_of, generator
from .main import main
from .worker import trying

__all__ = ["Fuzzer", "Wrong", "failure_of", "generator", "main", "trying"]
