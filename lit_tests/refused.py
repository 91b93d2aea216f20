"""`%{refused} COMMAND`: run a command that must refuse its input properly.

The command must exit with code 1, write nothing to standard output, and write one error to standard
error, without a traceback. Its standard error is copied to standard output, for FileCheck.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Any


def main(start: Callable[..., Any] = subprocess.Popen) -> None:
    """Run the command in `sys.argv`; exit with a message if it does not refuse its input properly.

    Args:
        start: starts the command, as `subprocess.Popen` does.
    """
    with start(
        sys.argv[1:], stdin=sys.stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        output, errors = command.communicate()
    print(errors, end="")

    faults = []
    if command.returncode != 1:
        faults.append(f"exit code {command.returncode}, expected 1")
    if output:
        faults.append(f"wrote to standard output:\n{output}")
    if "Traceback" in errors or "internal error" in errors:
        faults.append(f"failed with an exception:\n{errors}")
    elif errors.count("error: ") != 1:
        faults.append(f"printed {errors.count('error: ')} errors, expected 1:\n{errors}")
    if faults:
        sys.exit("refused.py: " + "; ".join(faults))


if __name__ == "__main__":
    main()
