"""Check one input in its own process."""

import math
import select

from .fuzzer import Failure, Fuzzer
from .worker import Worker


def outcome(fuzzer: Fuzzer, text: str) -> Failure | None:
    """The failure of an input; None if there is none."""
    worker = Worker(fuzzer, [(0, lambda: text)], math.inf)
    try:
        while True:
            ready, _, _ = select.select([worker.pipe], [], [], 0.5)
            if ready and worker.ended():
                found = worker.result()
                break
            if worker.hangs:
                found = worker.kill()
                break
    finally:
        worker.close()
    return found.failure if found else None
