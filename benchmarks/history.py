"""Evaluating history: rows of Parquet a CPU second, memory as a series, two processes against one.

    python -m benchmarks.history [--rows 200000] [--turns 3] [--turn-rows 4000]

The rows are those of examples/data, each with a number in its question and in every passage, so that no two are alike.
Files of 10,000 rows go through `evaluate_file` with the embedded judge, as a scheduler would call it. The turns compare
one process with two by the same Dask call; a pair of turns with one process shows the machine's own noise.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import dask
import dask.bag
import pyarrow
import pyarrow.parquet

from rag_otel_evaluators import evaluate_file

SOURCE = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
FILE_ROWS = 10_000
TARGET_ROWS = 10_000_000


def rows(total: int) -> Iterator[dict[str, Any]]:
    """`total` different rows."""
    known = [json.loads(line) for line in SOURCE.read_text("utf-8").splitlines()]
    for number in range(total):
        row = known[number % len(known)]
        yield {
            "id": f"row-{number}",
            "question": f"{row['question']} (case {number})",
            "contexts": [f"{text} Record {number}." for text in row["contexts"]],
            "response": row["response"],
        }


def write_files(folder: Path, total: int, file_rows: int) -> list[Path]:
    """Parquet files of `file_rows` rows each."""
    folder.mkdir(parents=True)
    every, paths = rows(total), []
    for number in count():
        part = [row for _, row in zip(range(file_rows), every, strict=False)]
        if not part:
            return paths
        paths.append(folder / f"{number:05}.parquet")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), paths[-1])
    raise AssertionError


def cpu_s() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def evaluated(source: Path, output: Path) -> dict[str, Any]:
    """One file, with what it cost."""
    before, started = cpu_s(), time.perf_counter()
    outcome = evaluate_file(source, output)
    assert outcome["problem"] is None, outcome
    cost = {"rows": outcome["rows"], "cpu_s": cpu_s() - before, "mb": resident_mb(), "pid": os.getpid()}
    wall = time.perf_counter() - started
    if outcome["rows"] >= FILE_ROWS:  # so that an interrupted run has figures too
        print(f"{source.name}: process {os.getpid()}, {wall:.0f} s, {cost['cpu_s']:.0f} CPU s, {cost['mb']:.0f} MB")
    return cost


def run(paths: Sequence[Path], output: Path, processes: int) -> tuple[float, list[dict[str, Any]]]:
    """Seconds for all files, and what each cost."""
    pairs = [(path, output / path.name) for path in paths]
    bag = dask.bag.from_sequence(pairs, npartitions=len(pairs))
    started = time.perf_counter()
    with dask.config.set(scheduler="processes", num_workers=processes, chunksize=1):
        costs = bag.starmap(evaluated).compute()
    seconds = time.perf_counter() - started
    shutil.rmtree(output)
    return seconds, costs


def turns(folder: Path, total: int, number: int) -> None:
    """One, two, one processes, by turns."""
    paths = write_files(folder / "turns", total, total // 8)
    ratios, noise = [], []
    for _ in range(number):
        one, two, again = (run(paths, folder / "scored", processes)[0] for processes in (1, 2, 1))
        ratios.append((one + again) / 2 / two)
        noise.append(one / again)
        print(f"one process {one:.1f} s, two {two:.1f} s, one again {again:.1f} s", flush=True)
    shown = ", ".join(f"{each:.2f}" for each in ratios)
    print(f"two processes do {statistics.median(ratios):.2f} times the work of one ({shown})")
    print(f"one against itself: {', '.join(f'{each:.2f}' for each in noise)}", flush=True)


def series(folder: Path, total: int) -> None:
    """All rows with two processes: cost and memory, file by file."""
    paths = write_files(folder / "series", total, FILE_ROWS)
    size = sum(path.stat().st_size for path in paths)
    seconds, costs = run(paths, folder / "scored", 2)
    cpu = sum(each["cpu_s"] for each in costs)
    per_cpu_s = total / cpu
    for pid in dict.fromkeys(each["pid"] for each in costs):
        shown = " ".join(f"{each['mb']:.0f}" for each in costs if each["pid"] == pid)
        print(f"memory of process {pid} after each file, MB: {shown}")
    print(f"{total} rows ({size / 2**20:.0f} MB of Parquet): {seconds:.0f} s, {cpu:.0f} CPU s")
    print(f"{per_cpu_s:.0f} rows a CPU second")
    hours = TARGET_ROWS / per_cpu_s / 3600
    print(f"{TARGET_ROWS} rows at this rate: {hours:.1f} core hours, on 16 cores {hours / 16:.1f} hours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--turn-rows", type=int, default=4_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.turns:
            turns(Path(name), options.turn_rows, options.turns)
        if options.rows:
            series(Path(name), options.rows)


if __name__ == "__main__":
    main()
