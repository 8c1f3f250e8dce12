"""What the demo wrote, read back through Phoenix's API: every span once, its scores and claims, annotations, drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from rag_otel import semconv
from rag_otel.cli.demo.report import StoryAnswer
from rag_otel.cli.demo.story import AFTER, BEFORE
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.model import Verdict
from rag_otel.writers.phoenix_annotations import SCORE as NOTED_SCORE
from rag_otel.writers.phoenix_configurations import LABEL_SCORES
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

SCORE = semconv.metric_key(FAITHFULNESS, "score")
RISK = semconv.metric_key(FAITHFULNESS, "risk")
MODEL = semconv.TAG_PREFIX + "model"
_VERDICTS = {str(verdict) for verdict in Verdict}


def failures(reader: PhoenixClient, project: str, found: Sequence[StoryAnswer]) -> Iterator[tuple[str, str | None]]:
    """Each check as (what was checked, what is wrong or None)."""
    everything = reader.spans(project)
    carriers = [span for span in everything if span["span_kind"] == semconv.KIND_EVALUATOR]
    spans = [span for span in everything if span["span_kind"] != semconv.KIND_EVALUATOR]
    by_id = {span["context"]["span_id"]: span for span in spans}
    wanted = {outcome.result.trace.target.span_id: outcome for outcome in found}
    yield (
        f"{len(wanted)} spans, each once",
        _differs(sorted(wanted), sorted(span["context"]["span_id"] for span in spans)),
    )
    yield (
        "an evaluation span below each, with the claims as text",
        _differs(sorted(wanted), sorted(span["parent_id"] for span in carriers if _shows_claims(span))),
    )
    yield "scores, risks and claims on every span", _first(_wrong_on_span(by_id[i], o) for i, o in wanted.items())
    annotations = reader.annotations(project, by_id)
    yield (
        "its label as an annotation of every span",
        _first(_wrong_annotations(i, o, annotations) for i, o in wanted.items()),
    )
    yield from _drift(spans)


def _shows_claims(span: dict[str, Any]) -> bool:
    return str(span["attributes"].get(semconv.OUTPUT_VALUE, "")).startswith(FAITHFULNESS)


def _wrong_on_span(span: dict[str, Any], outcome: StoryAnswer) -> str | None:
    attributes, evaluation = span["attributes"], outcome.evaluation
    span_id = span["context"]["span_id"]
    if attributes.get(semconv.STATUS) != "evaluated":
        return f"span {span_id} has status {attributes.get(semconv.STATUS)!r}"
    if attributes.get(SCORE) != evaluation.score or attributes.get(RISK) != evaluation.risk:
        return f"span {span_id} has score {attributes.get(SCORE)}, not {evaluation.score}"
    for number in range(len(evaluation.claims)):
        prefix = semconv.metric_key(FAITHFULNESS, f"claims.{number}.")
        if attributes.get(prefix + "verdict") not in _VERDICTS or not attributes.get(prefix + "text"):
            return f"span {span_id} lacks claim {number}"
        quote = attributes.get(prefix + "quote")
        if quote and not any(quote in chunk.text for chunk in outcome.result.trace.chunks):
            return f"span {span_id}: the quote of claim {number} is no slice of a chunk"
    return None


def _wrong_annotations(span_id: str, outcome: StoryAnswer, annotations: Sequence[dict[str, Any]]) -> str | None:
    shown = {
        row["name"]: (row["result"].get("label"), row["result"].get("score"), row["metadata"].get(NOTED_SCORE))
        for row in annotations
        if row["span_id"] == span_id
    }
    evaluation = outcome.evaluation
    label = evaluation.label or evaluation.reason_code
    wanted = {FAITHFULNESS: (label, LABEL_SCORES.get(evaluation.label or ""), evaluation.score)}
    return None if shown == wanted else f"span {span_id} has annotations {shown}, not {wanted}"


def _drift(spans: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    for what, key, rises in (("faithfulness falls", SCORE, False), ("hallucination risk rises", RISK, True)):
        before, after = (_mean(spans, models, key) for models in (BEFORE, (AFTER,)))
        moved = after > before if rises else after < before
        yield f"{what} after the swap: {before:.3f} -> {after:.3f}", None if moved else "it does not"


def _mean(spans: Sequence[dict[str, Any]], models: Sequence[str], key: str) -> float:
    return fmean(
        span["attributes"][key]
        for span in spans
        if span["attributes"].get(MODEL) in models and span["attributes"].get(key) is not None
    )


def _differs(wanted: list[str], there: list[str]) -> str | None:
    if wanted == there:
        return None
    return f"{len(there)} spans are there, {len(set(wanted) - set(there))} of the wanted ones missing"


def _first(problems: Iterator[str | None]) -> str | None:
    return next((problem for problem in problems if problem is not None), None)
