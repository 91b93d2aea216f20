"""The record of the sweep: one row for each shape, written so that an interrupted run goes on."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from interleaved import Times
from record import circumstances

Row = dict[str, Any]

#: The name of the contender that each row compares with.
CUBLAS = "cuBLAS"


class Record:
    """The rows of a file and new ones; a configuration stands once in the file, rows have its number.

    A row has the `shape`, `cublas` (its median seconds), `seconds` and `ratio` by number of the
    configuration (medians over the rounds; the ratio is cuBLAS's time over ours in the same round),
    `dropped` (why others were not measured), and its run's `date` and `command`; a shape that cuBLAS does
    not multiply has an `error` instead.
    """

    def __init__(self, file: Path, setup: dict[str, Any]) -> None:
        """Read a file, or begin one.

        Args:
            file: the record; it need not exist.
            setup: what rows of one file have in common: type, layout, seed.

        Raises:
            ValueError: if the file is of another setup, device or version.
        """
        self._file, self._head = file, circumstances() | {"setup": setup}
        old = json.loads(file.read_text()) if file.exists() else {}
        for key in ("device", "versions", "setup"):
            if old and old[key] != self._head[key]:
                raise ValueError(
                    f"{file} is of {key} {old[key]}, not {self._head[key]}: record to a new file"
                )
        self.configs: list[dict[str, Any]] = old.get("configs", [])
        self.rows: list[Row] = old.get("rows", [])

    @property
    def measured_shapes(self) -> set[tuple[int, ...]]:
        """The shapes that have a row."""
        return {tuple(row["shape"]) for row in self.rows}

    def add(
        self, shape: tuple[int, int, int], times: dict[Any, Times], dropped: dict[Any, str]
    ) -> Row:
        """Add the row of a shape.

        Args:
            shape: M, N, K.
            times: the times of each configuration, and of `CUBLAS`, in the same rounds.
            dropped: reasons by configuration.
        """
        theirs = times[CUBLAS]
        ours = {self._number(c): config_times for c, config_times in times.items() if c != CUBLAS}
        row = {
            "shape": list(shape),
            "cublas": theirs.seconds,
            "seconds": {number: config_times.seconds for number, config_times in ours.items()},
            "ratio": {
                number: _ratio(theirs, config_times) for number, config_times in ours.items()
            },
            "dropped": {self._number(config): reason for config, reason in dropped.items()},
            "date": self._head["date"],
            "command": self._head["command"],
        }
        self.rows.append(row)
        return row

    def skip(self, shape: tuple[int, int, int], reason: str) -> None:
        """Add a row without times, for a shape that cuBLAS does not multiply."""
        run = {key: self._head[key] for key in ("date", "command")}
        self.rows.append({"shape": list(shape), "error": reason} | run)

    def write(self) -> None:
        """Replace the file at once: a reader, or an interrupted run, sees the old file or the new one."""
        rows = ",\n".join(json.dumps(row) for row in self.rows)
        configs = ",\n".join(json.dumps(config) for config in self.configs)
        head = json.dumps(self._head, indent=1).removesuffix("\n}")
        text = f'{head},\n "configs": [\n{configs}\n ],\n "rows": [\n{rows}\n ]\n}}\n'
        partial_file = self._file.with_suffix(".part")
        partial_file.write_text(text)
        os.replace(partial_file, self._file)

    def _number(self, config: Any) -> str:
        fields = json.loads(json.dumps(asdict(config)))
        if fields not in self.configs:
            self.configs.append(fields)
        return str(self.configs.index(fields))


def _ratio(theirs: Times, ours: Times) -> float:
    return round(median(a / b for a, b in zip(theirs.gpu, ours.gpu, strict=True)), 4)
