"""How well the embedded judge agrees with people, on answers whose question its coefficients never saw.

    python benchmarks/faithfulness_quality.py

Data: examples/data (335 answers to 59 questions, hallucinated spans marked by people). Five folds by question, the
coefficients of examples/data/out_of_fold.json. Intervals: 95%, bootstrap over questions, because the answers to one
question are alike.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_otel.cli.terminal import table
from rag_otel.model import Verdict
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

DATA = Path(__file__).parents[1] / "examples" / "data"
RESAMPLES = 1000
BINS = 10
LEAST_OVERLAP = 3
"""Letters or digits of a claim that lie in a marked span for it to count as unsupported."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer: what the judge said and what people said."""

    risk: float
    score: float
    hallucinated: int
    model: str
    claims: tuple[tuple[float, int, bool], ...]
    """(probability of being unsupported, marked by people, verdict is not `supported`)."""


def judge_all() -> dict[str, list[Judged]]:
    """Every answer that has claims, by question."""
    folds = OutOfFold.load(DATA / "out_of_fold.json")
    by_question: dict[str, list[Judged]] = {}
    for line in (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        metric = Faithfulness(judge=folds.judge_for(row["source_id"]))
        result = metric.evaluate_sync(question=row["question"], chunks=row["contexts"], response=row["response"])
        answers = by_question.setdefault(row["source_id"], [])
        if result.risk is None or result.score is None:
            continue
        claims = tuple(
            (
                1.0 - (verdict.support_probability or 0.0),
                int(is_marked(row["response"], verdict.claim.start, verdict.claim.end, row["spans"])),
                verdict.verdict is not Verdict.SUPPORTED,
            )
            for verdict in result.claims
        )
        answers.append(Judged(result.risk, result.score, int(row["label"]), row["model"], claims))
    return by_question


def is_marked(response: str, start: int, end: int, spans: Sequence[Sequence[int]]) -> bool:
    overlaps = (response[max(start, a) : min(end, b)] for a, b in spans)
    return any(sum(character.isalnum() for character in overlap) >= LEAST_OVERLAP for overlap in overlaps)


def auroc(scored: Sequence[tuple[float, int]]) -> float:
    """Probability that a positive scores above a negative, ties counted half (Mann-Whitney)."""
    ordered = sorted(scored)
    positives = sum(label for _, label in ordered)
    negatives = len(ordered) - positives
    rank_sum, at = 0.0, 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        rank_sum += sum(label for _, label in ordered[at:end]) * (at + end + 1) / 2
        at = end
    if not positives or not negatives:
        return 0.5
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def calibration_error(scored: Sequence[tuple[float, int]]) -> float:
    """Expected calibration error over ten bins of equal width."""
    bins: list[list[tuple[float, int]]] = [[] for _ in range(BINS)]
    for probability, label in scored:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, label))
    gaps = (abs(sum(p for p, _ in found) - sum(label for _, label in found)) for found in bins if found)
    return sum(gaps) / len(scored)


def f1(flagged: Sequence[tuple[bool, int]]) -> float:
    hits = sum(flag and bool(label) for flag, label in flagged)
    return 2 * hits / max(1, sum(flag for flag, _ in flagged) + sum(label for _, label in flagged))


def precision(flagged: Sequence[tuple[bool, int]]) -> float:
    found = [label for flag, label in flagged if flag]
    return sum(found) / max(1, len(found))


def recall(flagged: Sequence[tuple[bool, int]]) -> float:
    found = [flag for flag, label in flagged if label]
    return sum(found) / max(1, len(found))


def balanced_accuracy(flagged: Sequence[tuple[bool, int]]) -> float:
    rates = []
    for wanted in (0, 1):
        of_class = [flag for flag, label in flagged if label == wanted]
        rates.append(sum(flag == bool(wanted) for flag in of_class) / max(1, len(of_class)))
    return sum(rates) / 2


def risks(answers: Sequence[Judged]) -> list[tuple[float, int]]:
    return [(answer.risk, answer.hallucinated) for answer in answers]


def labels(answers: Sequence[Judged]) -> list[tuple[bool, int]]:
    return [(answer.score < 1.0, answer.hallucinated) for answer in answers]


def claims(answers: Sequence[Judged]) -> list[tuple[float, int]]:
    return [(probability, marked) for answer in answers for probability, marked, _ in answer.claims]


def verdicts(answers: Sequence[Judged]) -> list[tuple[bool, int]]:
    return [(flagged, marked) for answer in answers for _, marked, flagged in answer.claims]


FIGURES: dict[str, Callable[[Sequence[Judged]], float]] = {
    "AUROC of risk": lambda answers: auroc(risks(answers)),
    "AUROC of score": lambda answers: auroc([(-answer.score, answer.hallucinated) for answer in answers]),
    "calibration error of risk": lambda answers: calibration_error(risks(answers)),
    "precision of the label": lambda answers: precision(labels(answers)),
    "recall of the label": lambda answers: recall(labels(answers)),
    "F1 of the label": lambda answers: f1(labels(answers)),
    "balanced accuracy of the label": lambda answers: balanced_accuracy(labels(answers)),
    "AUROC of sentences": lambda answers: auroc(claims(answers)),
    "F1 of verdicts": lambda answers: f1(verdicts(answers)),
}


def main() -> None:
    by_question = judge_all()
    answers = [answer for found in by_question.values() for answer in found]
    random_source = random.Random(0)
    questions = list(by_question)
    samples = [
        [answer for question in random_source.choices(questions, k=len(questions)) for answer in by_question[question]]
        for _ in range(RESAMPLES)
    ]
    rows = []
    for name, figure in FIGURES.items():
        drawn = sorted(figure(sample) for sample in samples)
        low, high = drawn[round(0.025 * RESAMPLES)], drawn[round(0.975 * RESAMPLES) - 1]
        rows.append([name, f"{figure(answers):.3f}", f"{low:.3f} to {high:.3f}"])
    print(f"{len(answers)} answers with claims, {len(claims(answers))} claims, out of fold\n")
    print(table(rows, header=["figure", "value", "95% interval"]))
    by_model = sorted({answer.model for answer in answers})
    rows = []
    for model in by_model:
        own = [answer for answer in answers if answer.model == model]
        means = (sum(getattr(a, field) for a in own) / len(own) for field in ("score", "risk", "hallucinated"))
        rows.append([model, *(f"{mean:.3f}" for mean in means)])
    print("\n" + table(rows, header=["model", "mean score", "mean risk", "marked by people"]))


if __name__ == "__main__":
    main()
