"""Time of each pass in mlir-opt by the plugin: with a server of its own, with one that runs, and without.

    python benchmarks/plugin.py [--record FILE] [--runs N] [--mlir-opt PROGRAM]

`make plugin` builds the plugin first. mlir-opt lowers examples/matmul.mlir by the passes of smem-to-nvvm,
one after another, and `--mlir-timing` gives the time of each; medians of several runs, in turn:

- own server: the first pass starts it, and the others find it warm;
- running server: it was started before, `$SMEM_OPT_SERVER`;
- children: `SMEM_OPT_SERVER=`, each pass starts smem-opt.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from record import record

from mlir_smem.passes.driver.base import pass_named

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "matmul.mlir"
LIBRARY = ROOT / "build" / "plugin" / "libsmem.so"
SMEM_OPT = Path(sys.executable).parent / "smem-opt"
PASSES = [pass_.name for pass_ in pass_named("smem-to-nvvm")().passes()]


def milliseconds(mlir_opt: str, server: str | None) -> dict[str, float]:
    """Milliseconds of each pass and of the whole command.

    Args:
        mlir_opt: the tool.
        server: the value of `$SMEM_OPT_SERVER`; None to unset it.
    """
    environment = os.environ | {"SMEM_OPT": str(SMEM_OPT)}
    environment.pop("SMEM_OPT_SERVER", None)
    if server is not None:
        environment["SMEM_OPT_SERVER"] = server
    command = [
        mlir_opt,
        f"--load-dialect-plugin={LIBRARY}",
        f"--load-pass-plugin={LIBRARY}",
        f"--pass-pipeline=builtin.module({','.join(PASSES)})",
        "--mlir-timing",
        str(EXAMPLE),
        "-o",
        os.devnull,
    ]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    times = {}
    for name in (*PASSES, "Total"):
        match = re.search(rf"([\d.]+) \([^)]*\)\s+{name}$", process.stderr, re.M)
        assert match, process.stderr
        times[name] = 1e3 * float(match[1])
    return times


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--mlir-opt", default="mlir-opt-22")
    options = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/s"
        server = subprocess.Popen(
            [SMEM_OPT, f"--server={socket}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdout and server.stdout.readline() == b"listening\n"
        ways = {"own server": None, "running server": socket, "children": ""}
        runs = {way: [] for way in ways}
        for _ in range(options.runs):
            for way, value in ways.items():
                runs[way].append(milliseconds(options.mlir_opt, value))
        server.communicate()

    rows = {
        way: {name: round(median(run[name] for run in way_runs), 1) for name in way_runs[0]}
        for way, way_runs in runs.items()
    }
    print(f"{'milliseconds':32}", *(f"{way:>16}" for way in rows))
    for name in (*PASSES, "Total"):
        print(f"{name:32}", *(f"{row[name]:16.0f}" for row in rows.values()))
    if options.record:
        version = subprocess.run(
            [options.mlir_opt, "--version"], capture_output=True, text=True, check=True
        )
        tool = re.search(r"LLVM version \S+", version.stdout)
        result = {"tool": f"mlir-opt, {tool[0]}" if tool else "mlir-opt"}
        result["load"] = f"{os.getloadavg()[0]:.1f} processes on {os.cpu_count()} cores"
        record(options.record, result | {"unit": "milliseconds, medians", "rows": rows})


if __name__ == "__main__":
    main()
