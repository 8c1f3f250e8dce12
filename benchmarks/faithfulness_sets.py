"""How well the embedded judge ranks answers by risk on several data sets, beside length and word overlap.

    python benchmarks/faithfulness_sets.py
    python benchmarks/faithfulness_sets.py pairs.jsonl.gz
    git worktree add ../before COMMIT && python benchmarks/faithfulness_sets.py pairs.jsonl.gz --against ../before

Always: the answers of examples/data, out of fold. Files: a JSON object a line with `source`, `evidence`, `claim` and
`unsupported` (1 where the evidence does not support the claim); no weight is learned from them. AUROC of risk.
Thresholds were chosen with a look at the sets of `docs/judges.md`: their figures are not held out.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "examples" / "data"
OWN = "examples/data, out of fold"

Row = dict[str, Any]
"""set, unfaithful, question, chunks, answer, source_id."""


def rows_of(files: list[Path]) -> Iterator[Row]:
    """The answers of examples/data, then the claims of the files."""
    for line in (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield {
            "set": OWN,
            "unfaithful": row["label"],
            "question": row["question"],
            "chunks": row["contexts"],
            "answer": row["response"],
            "source_id": row["source_id"],
        }
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield {
                    "set": row["source"],
                    "unfaithful": row["unsupported"],
                    "question": None,
                    "chunks": [row["evidence"]],
                    "answer": row["claim"],
                }


def serve(checkout: Path) -> None:
    """A line with the risk of each row on standard input, by the version that this process imports."""
    from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold

    try:
        metric_class = importlib.import_module("rag_otel_evaluators.metrics.faithfulness").Faithfulness
    except ModuleNotFoundError:  # where it was in the first versions
        metric_class = importlib.import_module("rag_otel_evaluators.faithfulness").Faithfulness
    folds, metric = OutOfFold.load(checkout / "examples" / "data" / "out_of_fold.json"), metric_class()

    async def judge() -> None:
        for line in sys.stdin:
            row = json.loads(line)
            own = metric_class(judge=folds.judge_for(row["source_id"])) if "source_id" in row else metric
            result = await own.evaluate(question=row["question"], chunks=row["chunks"], response=row["answer"])
            print(json.dumps(result.risk), flush=True)

    asyncio.run(judge())


def risks(checkout: Path, rows: list[Row]) -> list[float]:
    """The risk of each row by a checkout; 0 where it gives none."""
    paths = os.pathsep.join(str(checkout / name) for name in ("", "collectors", "evaluators"))
    said = subprocess.run(
        [sys.executable, __file__, "--serve", str(checkout)],
        input="\n".join(map(json.dumps, rows)),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return [json.loads(line) or 0.0 for line in said.stdout.splitlines()]


def overlap(row: Row) -> float:
    """Share of the answer's words that no chunk has."""
    known = {word for chunk in row["chunks"] for word in chunk.lower().split()}
    words = row["answer"].lower().split()
    return sum(word not in known for word in words) / max(1, len(words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*", help="claims with evidence, JSONL, perhaps gzipped")
    parser.add_argument("--against", type=Path, help="a checkout of another commit")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(arguments.serve)
        return
    from faithfulness_quality import auroc

    from rag_otel.cli.terminal import table

    rows = list(rows_of(arguments.files))
    scores = {"risk": risks(ROOT, rows)}
    if arguments.against is not None:
        scores["the other version's"] = risks(arguments.against.resolve(), rows)
    scores["length"] = [len(row["answer"].split()) for row in rows]
    scores["words that are nowhere"] = [overlap(row) for row in rows]
    shown = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [at for at, row in enumerate(rows) if row["set"] == name]
        labels = [int(rows[at]["unfaithful"]) for at in own]
        values = [auroc([(each[at], label) for at, label in zip(own, labels, strict=True)]) for each in scores.values()]
        shown.append([name, str(len(own)), f"{sum(labels) / len(own):.0%}", *(f"{value:.3f}" for value in values)])
    print(table(shown, header=["set", "answers", "unfaithful", *scores]))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
