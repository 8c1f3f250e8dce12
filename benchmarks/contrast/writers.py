"""How well the embedded judge tells apart pairs of a writer whose pairs it never learned from.

    python benchmarks/contrast/writers.py [--unseen FILE]

Each of the five writers of `examples/data/contrast_train.jsonl` who did not know the judge is left out in turn: the
judge is trained on everything else and judges that writer's pairs. With `--unseen`, the shipped judge judges the pairs
of a file of the same format that nobody learned from.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from check_overlap import auroc

from rag_otel.cli.terminal import table
from rag_otel_evaluators.judges.embedded import Coefficients, EmbeddedJudge
from rag_otel_evaluators.judges.embedded.training.labelled import PAIRS, load_answers, load_pairs
from rag_otel_evaluators.judges.embedded.training.train import train
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

WRITERS = ("w1", "w2", "w3", "w4", "w6")


def judge(rows: Sequence[dict[str, Any]], coefficients: Coefficients | None) -> list[dict[str, Any]]:
    """The rows with the risk of both answers, and whether a claim was called contradicted; unjudged ones left out."""
    metric = Faithfulness(judge=EmbeddedJudge(coefficients))
    judged = []
    for row in rows:
        results = [
            metric.evaluate_sync(question=row["question"], chunks=row["contexts"], response=row[side])
            for side in ("faithful", "unfaithful")
        ]
        risks = [result.risk for result in results]
        contradicted = [any(claim.verdict == "contradicted" for claim in result.claims) for result in results]
        if None not in risks:
            judged.append({**row, "risks": risks, "contradicted": contradicted})
    return judged


def figures(judged: Sequence[dict[str, Any]]) -> list[str]:
    """Pairs, share whose unfaithful answer is riskier, AUROC, sure and wrong, precision and recall of `contradicted`."""
    good, bad = ([row["risks"][side] for row in judged] for side in (0, 1))
    share = sum((b > g) + 0.5 * (b == g) for g, b in zip(good, bad, strict=True)) / len(judged)
    wrong = (sum(risk > 0.9 for risk in good) + sum(risk < 0.1 for risk in bad)) / (2 * len(judged))
    right, called = (sum(row["contradicted"][1] for row in judged), sum(sum(row["contradicted"]) for row in judged))
    return [
        str(len(judged)),
        f"{share:.3f}",
        f"{auroc(bad, good):.3f}",
        f"{wrong:.3f}",
        f"{right / max(1, called):.2f}",
        f"{right / len(judged):.2f}",
    ]


def show(judged: Sequence[dict[str, Any]], by: Callable[[dict[str, Any]], str]) -> None:
    groups = sorted({by(row) for row in judged})
    rows = [[name, *figures([row for row in judged if by(row) == name])] for name in groups]
    header = ["", "pairs", "riskier", "AUROC", "sure and wrong", "contradicted: precision", "recall"]
    print(table([*rows, ["all", *figures(judged)]], header=header), "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unseen", type=Path, help="pairs that nobody learned from")
    unseen = parser.parse_args().unseen
    if unseen is not None:
        judged = judge([json.loads(line) for line in unseen.read_text("utf-8").splitlines()], None)
    else:
        rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
        answers, pairs = load_answers(), load_pairs()
        judged = []
        for writer in WRITERS:
            coefficients = train(answers, [pair for pair in pairs if not pair.group.startswith(f"{writer}-")])
            judged += judge([row for row in rows if row["id"].startswith(f"{writer}-")], coefficients)
    show(judged, lambda row: str(row["id"]).partition("-")[0])
    show(judged, lambda row: str(row["phenomenon"]))
    show(judged, lambda row: str(row["language"]))


if __name__ == "__main__":
    main()
