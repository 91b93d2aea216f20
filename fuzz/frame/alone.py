"""One input, checked in a process of its own."""

import math
import select

from .fuzzer import Failure, Fuzzer
from .worker import Worker


def outcome(fuzzer: Fuzzer, text: str) -> Failure | None:
    """How an input fails; None if it does not."""
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
