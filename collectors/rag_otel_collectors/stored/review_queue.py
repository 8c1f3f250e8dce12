"""The queue of answers for people to label, as annotations in Phoenix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from rag_otel import semconv
from rag_otel.delivery.http import post, to_json
from rag_otel.writers.feedback import IDENTIFIER, risk_name
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.phoenix_spans import stored_traces

QUEUE: Final = "review"
"""Name of the annotation that puts an answer into the queue."""
PROBABILITY: Final = "probability"
_PEOPLE: Final = "HUMAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """One answer of a project with what judges and people have said of it."""

    span_id: str
    risks: tuple[float, ...]
    """Of rag-otel's judge first, then of other judges that annotated the span with the metric's name."""
    labelled: bool
    queued: bool


def scored_answers(
    client: PhoenixClient,
    project: str,
    *,
    metric: str,
    annotation: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[ScoredAnswer]:
    """Every span with a result of `metric`. `annotation` is the name of people's labels. Raises the client's errors."""
    key = f"{semconv.EVALUATION}.{metric}."
    for batch in stored_traces(client, project, since=since, until=until):
        spans = {span.span_id: span.attributes for trace in batch for span in trace.spans}
        notes: dict[str, list[Mapping[str, Any]]] = {span_id: [] for span_id in spans}
        for row in client.annotations(project, spans) if spans else ():
            notes[row["span_id"]].append(row)
        for span_id, attributes in spans.items():
            if attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR:
                continue
            rows = notes[span_id]
            own = _own_risk(attributes, rows, key, metric)
            if own is None:
                continue
            yield ScoredAnswer(
                span_id=span_id,
                risks=(own, *_other_risks(rows, metric)),
                labelled=any(row.get("annotator_kind") == _PEOPLE and row["name"] == annotation for row in rows),
                queued=any(row["name"] == QUEUE and row.get("identifier") == IDENTIFIER for row in rows),
            )


def put_into_queue(
    endpoint: str, answers: Sequence[tuple[str, float, str]], *, api_key: str | None, timeout_s: float = 30.0
) -> None:
    """Annotates spans, given as (span id, probability, reason). Writing an answer twice stores it once. Raises
    RetryableError or PermanentError."""
    rows = [
        {
            "span_id": span_id,
            "name": QUEUE,
            "annotator_kind": "CODE",
            "identifier": IDENTIFIER,
            "result": {"label": "queued", "explanation": f"Please label this answer: {reason}."},
            "metadata": {PROBABILITY: probability, "reason": reason},
        }
        for span_id, probability, reason in answers
    ]
    if rows:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        url = f"{phoenix_base_url(endpoint)}/v1/span_annotations?sync=true"
        post(url, to_json({"data": rows}), headers=headers, timeout_s=timeout_s)


def _own_risk(attributes: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], key: str, metric: str) -> float | None:
    noted = {row["name"]: (row.get("result") or {}).get("score") for row in rows if row.get("identifier") == IDENTIFIER}
    risks = [_share(noted.get(risk_name(metric))), _share(attributes.get(f"{key}risk"))]
    scores = [_share(noted.get(metric)), _share(attributes.get(f"{key}score"))]
    known = [each for each in risks if each is not None] + [1.0 - each for each in scores if each is not None]
    return known[0] if known else None


def _other_risks(rows: Sequence[Mapping[str, Any]], metric: str) -> Iterator[float]:
    for row in rows:
        score = _share((row.get("result") or {}).get("score"))
        other = row.get("identifier") != IDENTIFIER and row.get("annotator_kind") != _PEOPLE
        if other and row["name"] == metric and score is not None:
            yield 1.0 - score


def _share(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
    return float(value) if known else None
