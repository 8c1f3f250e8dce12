"""How many claims a second the embedded judge decides on one core: segmentation, index, verdicts and quotes included.

    python benchmarks/faithfulness_speed.py

Answers of six claims over contexts of growing size, made of the passages of examples/data: the question's own first,
then others. Best of several rounds, because the machine has other things to do.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

from rag_otel.cli.terminal import table
from rag_otel_evaluators.faithfulness import Faithfulness
from rag_otel_evaluators.segmentation import segment

DATA = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
CLAIMS = 6
ANSWERS = 30
ROUNDS = 7
TARGETS = {1_000: 3_000, 6_000: 1_500, 20_000: 600}
"""Characters of context -> claims a second to reach."""
CHUNK = 1_000
"""Passages are cut to this many characters, so that a size means the same number of chunks each time."""


def cases(size: int) -> list[tuple[str, list[str], str]]:
    """(question, chunks of `size` characters in all, answer of six claims)."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    found = []
    for at, row in enumerate(rows):
        claims = segment(row["response"]).claims
        if len(claims) < CLAIMS:
            continue
        answer = row["response"][: claims[CLAIMS - 1].end]
        if len(segment(answer).claims) == CLAIMS:
            found.append((row["question"], list(_passages(rows, at, size)), answer))
    return found[:ANSWERS]


def _passages(rows: list[dict[str, object]], at: int, size: int) -> Iterator[str]:
    left = size
    for row in rows[at:] + rows[:at]:
        contexts = row["contexts"]
        assert isinstance(contexts, list)
        for text in contexts:
            piece = text[: min(CHUNK, left)]
            yield piece
            left -= len(piece)
            if left <= 0:
                return


async def claims_per_second(size: int) -> float:
    """Best of the rounds."""
    metric = Faithfulness()
    work = cases(size)
    best = 0.0
    for _ in range(ROUNDS):
        started = time.process_time()
        judged = 0
        for question, chunks, answer in work:
            judged += len((await metric.evaluate(question=question, chunks=chunks, response=answer)).claims)
        best = max(best, judged / (time.process_time() - started))
    return best


def main() -> None:
    rows = []
    for size, target in TARGETS.items():
        reached = asyncio.run(claims_per_second(size))
        rows.append([f"{size / 1000:g} kB", f"{reached:,.0f}", f"{target:,}", f"{reached / target:.2f}x"])
    print(f"claims a second, {CLAIMS} claims an answer, CPU time of one core\n")
    print(table(rows, header=["context", "reached", "to reach", "ratio"]))


if __name__ == "__main__":
    main()
