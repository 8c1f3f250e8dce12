"""What the demo says in the terminal: before and after, against the human labels, the worst answers, drift."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from rag_otel.cli.demo.story import AFTER, BEFORE, StoryQuestion
from rag_otel.cli.drift_report.view import replay
from rag_otel.cli.terminal import table
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.observation import ALL, Observation, observation
from rag_otel.drift.sentence import sentence
from rag_otel.evaluation.calibration import Labelled
from rag_otel.evaluation.support import UNFAITHFUL, worst_first
from rag_otel.model import EvaluatedTrace, Evaluation
from rag_otel.rendering.text_cutting import one_line
from rag_otel.writers.phoenix_links import trace_link
from rag_otel_evaluators.calibration.agreement import auroc

BASELINE_COUNT: Final = 80
"""The week has 170 answers; in production 500 are learned from."""
_WIDTH: Final = 110
"""Characters of a claim or of its explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryAnswer:
    """One question of the story with its result."""

    asked: StoryQuestion
    result: EvaluatedTrace

    @property
    def evaluation(self) -> Evaluation:
        return self.result.evaluations[0]


def outcomes(asked: Mapping[tuple[str, str], StoryQuestion], results: Sequence[EvaluatedTrace]) -> list[StoryAnswer]:
    """The story's questions, found again by question and model, in the order of their times."""
    found = [
        StoryAnswer(asked=asked[result.trace.question or "", result.trace.tags["model"]], result=result)
        for result in results
    ]
    return sorted(found, key=lambda outcome: outcome.asked.at_ns)


def report(found: Sequence[StoryAnswer], *, base_url: str) -> str:
    """The whole text: a table of the two models, agreement with people, the five worst answers with links."""
    return "\n\n".join((_models(found), _agreement(found), _riskiest(found, base_url)))


def means(found: Sequence[StoryAnswer], model: str) -> tuple[float, float]:
    """Mean faithfulness and mean risk of a model's answers, those without a score left out."""
    evaluations = [outcome.evaluation for outcome in found if outcome.asked.model == model]
    return (
        fmean(each.score for each in evaluations if each.score is not None),
        fmean(each.risk for each in evaluations if each.risk is not None),
    )


def _models(found: Sequence[StoryAnswer]) -> str:
    rows = []
    for when, model in (*(("before the swap", each) for each in BEFORE), ("after the swap", AFTER)):
        of_model = [outcome for outcome in found if outcome.asked.model == model]
        score, risk = means(found, model)
        unscored = sum(outcome.evaluation.score is None for outcome in of_model)
        marked = sum(outcome.asked.hallucinated for outcome in of_model) / len(of_model)
        rows.append((when, model, str(len(of_model)), str(unscored), f"{score:.3f}", f"{risk:.3f}", f"{marked:.0%}"))
    header = ("", "model", "evaluated", "no score", "faithfulness", "risk", "hallucinated, say people")
    return table(rows, header=header)


def _agreement(found: Sequence[StoryAnswer]) -> str:
    scored = [outcome for outcome in found if outcome.evaluation.risk is not None]
    flagged = [outcome for outcome in scored if outcome.evaluation.label == UNFAITHFUL]
    marked = [outcome for outcome in scored if outcome.asked.hallucinated]
    both = sum(outcome.asked.hallucinated for outcome in flagged)
    agreed = sum((outcome.evaluation.label == UNFAITHFUL) == outcome.asked.hallucinated for outcome in scored)
    area = auroc([Labelled(risk=each.evaluation.risk or 0.0, bad=each.asked.hallucinated) for each in scored])
    return (
        f"  Against the human labels: AUROC of risk {area:.2f}; {both} of {len(marked)} marked answers labelled "
        f"unfaithful, {len(flagged) - both} others as well; {agreed / len(scored):.0%} of labels agree."
    )


def _riskiest(found: Sequence[StoryAnswer], base_url: str) -> str:
    worst = sorted(found, key=lambda outcome: -(outcome.evaluation.risk or 0.0))[:5]
    lines = ["  The five worst answers, each with its worst claim (* hallucinated, say people):"]
    for outcome in worst:
        mark = "*" if outcome.asked.hallucinated else " "
        lines.append(f"\n  {mark} risk {outcome.evaluation.risk:.2f}  {outcome.asked.model}: {outcome.asked.question}")
        response = outcome.result.trace.response or ""
        for claim in worst_first(outcome.evaluation.claims)[:1]:
            # The slice itself: a list item's stem would be the same on every line.
            said = one_line(response[claim.claim.start : claim.claim.end], _WIDTH)
            lines.append(f"      {claim.verdict}: {said}")
            if claim.explanation:
                lines.append(f"        {one_line(claim.explanation, _WIDTH)}")
        lines.append(f"      {trace_link(base_url, outcome.result.trace.target.trace_id)}")
    return "\n".join(lines)


def drift_report(found: Sequence[StoryAnswer]) -> str:
    """The alarms over all traffic, as text; one line where nothing was noticed."""
    settings = FamilySettings(baseline_count=BASELINE_COUNT, dimensions=("model",))
    alarms = [event for event in replay(_observations(found), settings).events if event.slice == ALL]
    title = f"  Drift, with a baseline of the first {BASELINE_COUNT} answers:"
    return "\n".join([title, *(map(_line, alarms) if alarms else ["    none noticed"])])


def _observations(found: Sequence[StoryAnswer]) -> list[Observation]:
    """At the times of the story: the clock was shifted on the way to Phoenix, not here."""
    seen = ((each, observation(each.result, ("model",))) for each in found)
    return [dataclasses.replace(each, time_s=outcome.asked.at_ns / 1e9) for outcome, each in seen if each is not None]


def _line(event: DriftEvent) -> str:
    line = f"    {moment(event.time_s)}  {sentence(event)}"
    return "\n      ".join([line, *(describe(each, event.series) for each in event.movements[:1])])
