"""How many claims a second the embedded judge decides on one core: segmentation, index, verdicts and quotes included.

    python benchmarks/faithfulness_speed.py
    git worktree add ../before COMMIT && python benchmarks/faithfulness_speed.py --against ../before

Answers of six claims over contexts of growing size, made of the passages of examples/data: the question's own first,
then others; and answers of six sentences from anywhere over five chunks of 1 kB from anywhere, as the collector's
benchmark sends them. Chunks are new (read for the first time) or known (they came with an earlier question). CPU time,
per answer the best of several rounds, because the machine has other things to do; versions take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "examples" / "data" / "ragtruth_qa_dev.jsonl"
CLAIMS = 6
ANSWERS = 30
TARGETS = {"1 kB": 3_000, "6 kB": 1_500, "20 kB": 600, "5 x 1 kB, from anywhere": 1_720}
"""Context -> claims a second to reach; the last is six claims in 3.5 ms."""
CHUNK = 1_000
"""Passages are cut to this many characters, so that a size means the same number of chunks each time."""

Case = tuple[str, list[str], str]


def cases() -> dict[str, list[Case]]:
    """(question, chunks, answer) by context."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    sized = {f"{size} kB": list(_own_answers(rows, size * 1_000))[:ANSWERS] for size in (1, 6, 20)}
    return {**sized, "5 x 1 kB, from anywhere": list(_mixed_answers(rows))}


def _own_answers(rows: list[dict[str, str]], size: int) -> Iterator[Case]:
    from rag_otel_evaluators.text.claim_segmentation import segment

    for at, row in enumerate(rows):
        claims = segment(row["response"]).claims
        if len(claims) >= CLAIMS:
            answer = row["response"][: claims[CLAIMS - 1].end]
            if len(segment(answer).claims) == CLAIMS:
                yield row["question"], list(_passages(rows[at:] + rows[:at], size)), answer


def _passages(rows: list[dict[str, str]], size: int) -> Iterator[str]:
    left = size
    for row in rows:
        for text in row["contexts"]:
            piece = text[: min(CHUNK, left)]
            yield piece
            left -= len(piece)
            if left <= 0:
                return


def _mixed_answers(rows: list[dict[str, str]]) -> Iterator[Case]:
    chosen = random.Random(0)
    text = " ".join(" ".join(row["contexts"]) for row in rows)
    chunks = [text[at : at + CHUNK] for at in range(0, len(text) - CHUNK, CHUNK)]
    sentences = [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if 40 < len(sentence) < 160]
    for _ in range(ANSWERS):
        question = chosen.choice(rows)["question"]
        yield question, chosen.sample(chunks, 5), " ".join(chosen.sample(sentences, CLAIMS))


def serve() -> None:
    """Judge what is asked for on standard input, with the version that this process imports; a line for a line."""
    from rag_otel_evaluators.judges.embedded import EmbeddedJudge

    try:
        from rag_otel_evaluators.metrics.faithfulness import Faithfulness
    except ImportError:  # where it was in the first versions
        Faithfulness = importlib.import_module("rag_otel_evaluators.faithfulness").Faithfulness  # noqa: N806

    def forgetful() -> EmbeddedJudge:
        try:
            return EmbeddedJudge(remembered_characters=0)
        except TypeError:  # a version that remembers nothing
            return EmbeddedJudge()

    metrics = {"known": Faithfulness(), "new": Faithfulness(judge=forgetful())}

    async def judge(metric: Faithfulness, work: list[Case]) -> tuple[int, list[float]]:
        claims, seconds = 0, []
        for question, chunks, answer in work:
            started = time.process_time()
            claims += len((await metric.evaluate(question=question, chunks=chunks, response=answer)).claims)
            seconds.append(time.process_time() - started)
        return claims, seconds

    for line in sys.stdin:
        chunks, work = json.loads(line)
        print(json.dumps(asyncio.run(judge(metrics[chunks], work))), flush=True)


class Version:
    """A checkout under measurement, in a process of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        paths = os.pathsep.join(str(folder / name) for name in ("", "collectors", "evaluators"))
        self.best: dict[tuple[str, str], list[float]] = {}
        self.claims: dict[tuple[str, str], int] = {}
        self._process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, __file__, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": paths},
            )
        )
        assert self._process.stdin is not None
        stack.callback(self._process.stdin.close)

    def round(self, context: str, chunks: str, work: list[Case]) -> None:
        """Judge all of it once more and keep the best of each answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([chunks, work]), file=self._process.stdin, flush=True)
        self.claims[context, chunks], seconds = json.loads(self._process.stdout.readline())
        self.best[context, chunks] = list(map(min, self.best.get((context, chunks), seconds), seconds))

    def rate(self, context: str, chunks: str) -> float:
        """Claims a second."""
        return self.claims[context, chunks] / sum(self.best[context, chunks])


def measure(rounds: int, against: Path | None) -> None:
    """Print the rates of this checkout, and beside them those of another."""
    from rag_otel.cli.terminal import table

    work = cases()
    with ExitStack() as stack:
        here = Version(ROOT, stack)
        if against is not None and not (against / "rag_otel").is_dir():
            raise SystemExit(f"--against {against}: no checkout of rag-otel")
        other = None if against is None else Version(against.resolve(), stack)
        for _ in range(rounds):
            for context, answers in work.items():
                for chunks in ("new", "known"):
                    for version in filter(None, (here, other)):
                        version.round(context, chunks, answers)
        rows = []
        for context, target in TARGETS.items():
            new, known = here.rate(context, "new"), here.rate(context, "known")
            row = [context, f"{new:,.0f}", f"{known:,.0f}", f"{target:,}", f"{new / target:.2f}x"]
            if other is not None:
                before = {chunks: other.rate(context, chunks) for chunks in ("new", "known")}
                row += [f"{before['new']:,.0f}", f"{new / before['new']:.2f}x"]
                row += [f"{before['known']:,.0f}", f"{known / before['known']:.2f}x"]
            rows.append(row)
    header = ["context", "new chunks", "known chunks", "to reach", "ratio"]
    header += [] if other is None else ["the other version, new", "ratio", "known", "ratio"]
    print(f"claims a second, {CLAIMS} claims an answer, CPU time of one core\n")
    print(table(rows, header=header))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--against", type=Path, help="a checkout of another commit, measured in turns with this one")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    else:
        measure(arguments.rounds, arguments.against)


if __name__ == "__main__":
    main()
