"""Is the embedded judge better than its first version? The same answers, the same folds, question by question.

    python benchmarks/faithfulness_paired.py

Both versions judge every answer of examples/data with coefficients that never saw its question. What version 1 said
stands in benchmarks/data/embedded_version_1.jsonl: written once, by the code of its last commit (2161e10) with the
coefficients per fold that it was trained to. Intervals: 95% of the differences, bootstrap over questions, both versions
on the same draw.

Below stands what the label's F1 is when its threshold too is chosen without the answers that it is applied to.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from faithfulness_quality import (
    DATA,
    FIGURES,
    RESAMPLES,
    Judged,
    claims,
    f1,
    is_marked,
    judge_all,
    labels,
    risks,
)

from rag_otel.cli.terminal import table
from rag_otel_evaluators.judges.embedded import OutOfFold
from rag_otel_evaluators.metrics.faithfulness import UNFAITHFUL_FROM

FIRST_VERSION = Path(__file__).parent / "data" / "embedded_version_1.jsonl"
THRESHOLDS = tuple(step / 100 for step in range(5, 80))


def first_version() -> dict[str, list[Judged]]:
    """What version 1 said, by question, in the order of `judge_all`."""
    said = {row["id"]: row for row in map(json.loads, FIRST_VERSION.read_text(encoding="utf-8").splitlines())}
    by_question: dict[str, list[Judged]] = {}
    for line in (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        judged = said[row["id"]]
        found = tuple(
            (probability, int(is_marked(row["response"], start, end, row["spans"])), flagged)
            for start, end, probability, flagged in judged["claims"]
        )
        answer = Judged(judged["risk"], judged["score"], int(row["label"]), row["model"], found)
        by_question.setdefault(row["source_id"], []).append(answer)
    return by_question


def average_precision(scored: Sequence[tuple[float, int]]) -> float:
    """Mean precision at the positives, in order of the score; equal scores are one step (Manning et al., 8.4)."""
    positives = sum(label for _, label in scored)
    by_score: dict[float, list[int]] = {}
    for score, label in scored:
        by_score.setdefault(score, []).append(label)
    total, seen, hits = 0.0, 0, 0
    for score in sorted(by_score, reverse=True):
        seen, found = seen + len(by_score[score]), sum(by_score[score])
        hits += found
        total += found * hits / seen
    return total / positives if positives else 0.0


COMPARED = {
    **FIGURES,
    "average precision of risk": lambda answers: average_precision(risks(answers)),
    "average precision of sentences": lambda answers: average_precision(claims(answers)),
}


def nested_f1(by_question: dict[str, list[Judged]]) -> tuple[float, list[float]]:
    """F1 of the label with, for each fold, the threshold that is best on the other folds; and those thresholds.

    Of equally good thresholds the middle one: what lies between two answers' risks, no data can tell apart.
    """
    folds = OutOfFold.load(DATA / "out_of_fold.json").folds
    flagged: list[tuple[bool, int]] = []
    chosen: list[float] = []
    for fold in sorted(set(folds.values())):
        others = risks(
            [answer for question, found in by_question.items() if folds[question] != fold for answer in found]
        )
        own = risks([answer for question, found in by_question.items() if folds[question] == fold for answer in found])
        values = {threshold: f1([(risk >= threshold, label) for risk, label in others]) for threshold in THRESHOLDS}
        best = [threshold for threshold, value in values.items() if value == max(values.values())]
        chosen.append(best[len(best) // 2])
        flagged += [(risk >= chosen[-1], label) for risk, label in own]
    return f1(flagged), chosen


def main() -> None:
    now, before = judge_all(), first_version()
    questions = sorted(before)
    assert questions == sorted(now), "both versions judge the same questions"
    source = random.Random(0)
    draws = [source.choices(questions, k=len(questions)) for _ in range(RESAMPLES)]
    rows = []
    for name, figure in COMPARED.items():
        first, second = ([answer for question in questions for answer in said[question]] for said in (before, now))
        differences = sorted(
            figure([answer for question in draw for answer in now[question]])
            - figure([answer for question in draw for answer in before[question]])
            for draw in draws
        )
        low, high = differences[round(0.025 * RESAMPLES)], differences[round(0.975 * RESAMPLES) - 1]
        values = (figure(first), figure(second))
        rows.append(
            [name, *(f"{value:.3f}" for value in values), f"{values[1] - values[0]:+.3f}", f"{low:+.3f} to {high:+.3f}"]
        )
    print(f"{sum(len(found) for found in now.values())} answers to {len(questions)} questions, out of fold\n")
    print(table(rows, header=["figure", "version 1", "now", "difference", "95% interval"]))
    value, chosen = nested_f1(now)
    thresholds = ", ".join(f"{threshold:g}" for threshold in chosen)
    frozen = f1(labels([answer for found in now.values() for answer in found]))
    print(f"\nF1 of the label: {frozen:.3f} at the frozen threshold, {UNFAITHFUL_FROM:g};")
    print(f"{value:.3f} at thresholds chosen for each fold on the other folds, {thresholds}")


if __name__ == "__main__":
    main()
