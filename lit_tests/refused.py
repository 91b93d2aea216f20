"""`%{refused} COMMAND`: run a command that must refuse its input properly.

The command must exit with code 1, write nothing to standard output, and write one error to standard
error, without a traceback. Its standard error is copied to standard output, for FileCheck.
"""

import subprocess
import sys

run = subprocess.run(sys.argv[1:], stdin=sys.stdin, capture_output=True, text=True, check=False)
print(run.stderr, end="")

faults = []
if run.returncode != 1:
    faults.append(f"exit code {run.returncode}, expected 1")
if run.stdout:
    faults.append(f"wrote to standard output:\n{run.stdout}")
if "Traceback" in run.stderr or "internal error" in run.stderr:
    faults.append(f"failed with an exception:\n{run.stderr}")
elif run.stderr.count("error: ") != 1:
    faults.append(f"printed {run.stderr.count('error: ')} errors, expected 1:\n{run.stderr}")
if faults:
    sys.exit("refused.py: " + "; ".join(faults))
