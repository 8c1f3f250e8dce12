"""How many judge calls a cascade saves, and what that does to the labels.

    python benchmarks/cascade.py

Data: examples/data (335 answers to 59 questions, hallucinated spans marked by people). The cheap judge is the embedded
one, out of fold. The expensive judge is simulated, because no language model runs here: it knows what people marked
and errs at a stated rate for each claim, `miss` (an unsupported claim passes) and `alarm` (a supported one does not).
Where it errs decides what a cascade can win, so both ends are shown:

    anywhere      its errors fall on any claim alike: the cheap judge's word spares it some of them
    where unsure  the same number of errors, all on claims that the cheap judge passes on: it is spared none

A real judge lies between the two. Intervals: 95%, bootstrap over questions, of the paired difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faithfulness_quality import DATA, balanced_accuracy, f1, is_marked

from rag_otel.cli.terminal import table
from rag_otel.model import Chunk, Claim, ClaimVerdict, Usage, Verdict
from rag_otel_evaluators.judges.cascade import SURE_SUPPORTED_FROM, SURE_UNSUPPORTED_TO, CascadeJudge
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.judges.judge import Judge, Judgement
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

RESAMPLES = 400
STRENGTHS = {
    "perfect": (0.0, 0.0),
    "strong": (0.15, 0.02),
    "usual": (0.25, 0.03),  # F1 about .66; published prompts to GPT-4-turbo reach .63 to .77 on all of RAGTruth
    "weak": (0.35, 0.05),
}
BANDS = (
    (0.02, 0.99),
    (0.05, 0.98),
    (SURE_UNSUPPORTED_TO, SURE_SUPPORTED_FROM),
    (0.1, 0.97),
    (0.1, 0.95),
    (0.1, 0.9),
    (0.3, 0.8),
)

Row = dict[str, Any]
Rate = Callable[[Row, Claim], float]
"""How often the simulated judge errs on a claim of a row."""
Labelled = list[tuple[str, bool, int]]
"""(question, labelled unfaithful, marked by people) of each answer."""


class RememberedJudge:
    """A judge's judgements of one answer, worked out once; the figures differ in what is done with them."""

    name, version = "embedded", "out of fold"

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        return self._judgement


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """What people marked, with errors; the same error for the same claim, whoever asks."""

    row: Row
    miss: Rate
    alarm: Rate
    seed: int
    asked: list[int]
    """Claims of each call."""
    name = "simulated"
    version = "1"

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        self.asked.append(len(claims))
        verdicts = tuple(self._verdict(response, claim) for claim in claims)
        risk = max(0.05 if verdict.verdict is Verdict.SUPPORTED else 0.95 for verdict in verdicts)
        return Judgement(verdicts=verdicts, risk=risk, usage=Usage(calls=1))

    def _verdict(self, response: str, claim: Claim) -> ClaimVerdict:
        draw = random.Random(f"{self.seed}/{self.row['id']}/{claim.start}").random()
        if is_marked(response, claim.start, claim.end, self.row["spans"]):
            supported = draw < self.miss(self.row, claim)
        else:
            supported = draw >= self.alarm(self.row, claim)
        return ClaimVerdict(claim=claim, verdict=Verdict.SUPPORTED if supported else Verdict.NOT_ENOUGH_INFO)


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the data that has claims, as the cheap judge sees it."""

    row: Row
    cheap: RememberedJudge
    verdicts: tuple[ClaimVerdict, ...]

    async def label(self, judge: Judge) -> tuple[str, bool, int]:
        result = await Faithfulness(judge=judge).evaluate(
            question=self.row["question"], chunks=self.row["contexts"], response=self.row["response"]
        )
        return self.row["source_id"], result.label == "unfaithful", int(self.row["label"])


@dataclass(frozen=True, slots=True)
class Trial:
    """One simulated judge, alone and behind the cheap one."""

    alone: Labelled
    cascade: Labelled
    calls_saved: float
    claims_saved: float


def load() -> list[Answer]:
    folds = OutOfFold.load(DATA / "out_of_fold.json")
    answers = []
    for line in (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        metric = Faithfulness(judge=folds.judge_for(row["source_id"]))
        result = metric.evaluate_sync(question=row["question"], chunks=row["contexts"], response=row["response"])
        if result.risk is not None:
            judgement = Judgement(verdicts=result.claims, risk=result.risk)
            answers.append(Answer(row, RememberedJudge(judgement), result.claims))
    return answers


async def trial(
    answers: Sequence[Answer], rates: tuple[float, float], band: tuple[float, float], *, spread: bool, seeds: int
) -> Trial:
    """Every answer judged both ways, `seeds` times with other errors. `spread`: errors fall anywhere."""
    miss = _rate(answers, rates[0], band, marked=True, spread=spread)
    alarm = _rate(answers, rates[1], band, marked=False, spread=spread)
    alone, cascade, asked_alone, asked = [], [], [], []
    for seed in range(seeds):
        for answer in answers:
            judge = SimulatedJudge(answer.row, miss, alarm, seed, asked_alone)
            alone.append(await answer.label(judge))
            behind = CascadeJudge(
                cheap=answer.cheap,
                expensive=replace(judge, asked=asked),
                sure_unsupported_to=band[0],
                sure_supported_from=band[1],
            )
            cascade.append(await answer.label(behind))
    return Trial(alone, cascade, 1 - len(asked) / len(asked_alone), 1 - sum(asked) / sum(asked_alone))


def _rate(answers: Sequence[Answer], rate: float, band: tuple[float, float], *, marked: bool, spread: bool) -> Rate:
    """The rate everywhere, or as many errors on the claims alone that the cheap judge passes on."""
    if spread:
        return lambda row, claim: rate
    of_kind = [
        (answer.row["id"], verdict)
        for answer in answers
        for verdict in answer.verdicts
        if is_marked(answer.row["response"], verdict.claim.start, verdict.claim.end, answer.row["spans"]) == marked
    ]
    unsure = {(row, v.claim.start) for row, v in of_kind if band[0] < (v.support_probability or 0.0) < band[1]}
    concentrated = min(1.0, rate * len(of_kind) / max(1, len(unsure)))
    return lambda row, claim: concentrated if (row["id"], claim.start) in unsure else 0.0


def flags(labelled: Labelled) -> list[tuple[bool, int]]:
    return [(flag, label) for _, flag, label in labelled]


def difference(found: Trial, figure: Callable[[Sequence[tuple[bool, int]]], float]) -> str:
    """The figure alone and in the cascade, and the paired difference's interval."""
    by_question: dict[str, tuple[list[tuple[bool, int]], list[tuple[bool, int]]]] = {}
    for (question, flag, label), (_, other_flag, _) in zip(found.alone, found.cascade, strict=True):
        own = by_question.setdefault(question, ([], []))
        own[0].append((flag, label))
        own[1].append((other_flag, label))
    source, questions, drawn = random.Random(0), list(by_question.values()), []
    for _ in range(RESAMPLES):
        sample = source.choices(questions, k=len(questions))
        one, other = ([pair for own in sample for pair in own[side]] for side in (0, 1))
        drawn.append(figure(other) - figure(one))
    drawn.sort()
    low, high = drawn[round(0.025 * RESAMPLES)], drawn[round(0.975 * RESAMPLES) - 1]
    alone, cascade = figure(flags(found.alone)), figure(flags(found.cascade))
    return f"{alone:.3f} -> {cascade:.3f} ({low:+.3f} to {high:+.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="What a cascade saves, and what it costs.")
    parser.add_argument("--seeds", type=int, default=3, help="draws of the simulated judge's errors")
    options = parser.parse_args()
    answers = load()
    alone = [asyncio.run(answer.label(answer.cheap)) for answer in answers]
    print(
        f"{len(answers)} answers; the cheap judge alone: balanced accuracy {balanced_accuracy(flags(alone)):.3f}, "
        f"F1 {f1(flags(alone)):.3f}\n"
    )
    default = (SURE_UNSUPPORTED_TO, SURE_SUPPORTED_FROM)
    cases = [(name, default, spread) for name in STRENGTHS for spread in (True, False)]
    cases += [("usual", band, spread) for band in BANDS for spread in (True, False) if band != default]
    rows = []
    for name, band, spread in cases:
        found = asyncio.run(trial(answers, STRENGTHS[name], band, spread=spread, seeds=options.seeds))
        rows.append(
            [
                f"{name} ({STRENGTHS[name][0]:.0%} miss, {STRENGTHS[name][1]:.0%} alarm)",
                "anywhere" if spread else "where unsure",
                f"{band[0]:g} to {band[1]:g}",
                f"{found.calls_saved:.0%}",
                f"{found.claims_saved:.0%}",
                difference(found, balanced_accuracy),
                difference(found, f1),
            ]
        )
    header = ["expensive judge", "errs", "band", "calls saved", "claims saved"]
    print(table(rows, header=[*header, "balanced accuracy, alone -> cascade", "F1, alone -> cascade"]))


if __name__ == "__main__":
    main()
