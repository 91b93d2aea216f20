"""Runs lit tests for `tests/test_lit.py`: reads the name of each in a line, and answers in one.

It is a process of its own because lit forks: a fork of a pytest worker, which has imported much and holds
all cases, takes three times as long.
"""

import json
import os
import sys
from pathlib import Path
from unittest import SkipTest

from lit.LitTestCase import load_test_suite

SUITE = Path(__file__).parents[2] / "lit_tests"


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # lit prints, too
    prefix = "mlir-smem :: "
    suite = {test.id().removeprefix(prefix): test for test in load_test_suite([str(SUITE)])}
    print(json.dumps(sorted(suite)), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_outcome(suite[line.rstrip("\n")])), file=answers, flush=True)


def _outcome(test) -> tuple[str, str]:
    try:
        test.runTest()
    except SkipTest as reason:
        return "skipped", str(reason)
    except AssertionError as error:
        return "failed", str(error)
    return "passed", ""


if __name__ == "__main__":
    main()
