"""Phoenix annotations: the columns, filters and charts over time of Phoenix's UI.

Written through the REST API's asynchronous form: it takes a span's annotation before the span itself has arrived and
attaches it later. Until then Phoenix keeps it in memory alone, looks again every ten seconds and gives up after ten
minutes, so annotations set out a little after their spans do. Same span, name and identifier is an update: writing a
result twice leaves one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.delivery.http import post, to_json
from rag_otel.model import EvaluatedTrace, SpanRef
from rag_otel.writers.attributes import present
from rag_otel.writers.feedback import IDENTIFIER, Feedback, annotator_kind, feedback
from rag_otel.writers.phoenix_links import phoenix_base_url

RESERVED_NAMES: Final = frozenset({"note"})
"""Phoenix refuses a whole batch for it."""


class PhoenixAnnotationWriter:
    """Writes `faithfulness`, `hallucination_risk`, ... on spans and traces, and scores of chunks on documents."""

    name = "phoenix_annotations"
    export_policy = ExportPolicy(linger_s=6.0)
    """Longer than the five seconds for which span processors batch by default: the spans go first."""
    keeps_results = True
    """Where results are kept across restarts, those that Phoenix has not taken are."""

    def __init__(
        self,
        endpoint: str,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        capture_content: bool = True,
        timeout_s: float = 10.0,
    ) -> None:
        """`endpoint` is Phoenix's address (`http://host:6006`); a `/v1/traces` at its end is taken off.

        `api_key` goes out as a bearer token; `headers` are added to every request.
        """
        base_url = phoenix_base_url(endpoint)
        self._trace_url = f"{base_url}/v1/trace_annotations?sync=false"
        self._span_url = f"{base_url}/v1/span_annotations?sync=false"
        self._document_url = f"{base_url}/v1/document_annotations?sync=false"
        self._headers = {**({"Authorization": f"Bearer {api_key}"} if api_key else {}), **(headers or {})}
        self._capture_content = capture_content
        self._timeout_s = timeout_s

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Send the batch in at most three requests. Raises RetryableError or PermanentError, see `http.post`."""
        self._post(self._span_url, [row for result in batch for row in self._span_rows(result)])
        self._post(self._trace_url, [row for result in batch for row in self._trace_rows(result)])
        self._post(self._document_url, [row for result in batch for row in _document_rows(result)])

    def _post(self, url: str, rows: list[dict[str, Any]]) -> None:
        if rows:
            post(url, to_json({"data": rows}), headers=self._headers, timeout_s=self._timeout_s)

    def _span_rows(self, result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
        """On the target, under the metric's name; on the root of its trace under another one, see `root_name`."""
        trace = result.trace
        for item in self._items(result):
            yield {"span_id": trace.target.span_id, "identifier": IDENTIFIER, **_row(item)}
            if trace.root is not None and item.name in {each.name for each in result.evaluations}:
                row = _row(item) | {"name": root_name(item.name)}
                yield {"span_id": trace.root.span_id, "identifier": _of_target(trace.target), **row}

    def _trace_rows(self, result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
        """On the trace: several answers in one trace have one each, and Phoenix shows their mean."""
        target = result.trace.target
        for item in self._items(result):
            yield {"trace_id": target.trace_id, "identifier": _of_target(target), **_row(item)}

    def _items(self, result: EvaluatedTrace) -> Iterator[Feedback]:
        items = feedback(result, capture_content=self._capture_content)
        return (item for item in items if item.name not in RESERVED_NAMES)


def root_name(name: str) -> str:
    """Under which name a score of a span stands on the root of its trace: `rag_faithfulness`.

    Phoenix lists root spans by default. The metric's own name would count the score twice in its means. Risks stay
    away: the column has room for one short name, and the trace's annotations have them.
    """
    return f"rag_{name}"


def _of_target(target: SpanRef) -> str:
    return f"{IDENTIFIER}:{target.span_id}"


def _row(item: Feedback) -> dict[str, Any]:
    return {
        "name": item.name,
        "annotator_kind": item.annotator_kind,
        "result": present({"score": item.score, "label": item.label, "explanation": item.explanation}),
        "metadata": item.metadata,
    }


def _document_rows(result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
    """Scores of chunks, where one span holds exactly those: Phoenix refuses the whole batch for a position that its
    span has no document at. No identifier: that is refused too, and updates go by span, name and position."""
    span = result.trace.chunk_span
    if span is None:
        return
    for evaluation in result.evaluations:
        for chunk, score in zip(result.trace.chunks, evaluation.chunk_scores, strict=False):
            if score is not None and evaluation.name not in RESERVED_NAMES:
                yield {
                    "span_id": span.span_id,
                    "document_position": chunk.position,
                    "name": evaluation.name,
                    "annotator_kind": annotator_kind(evaluation.judge),
                    "result": {"score": score},
                    "metadata": present({"version": evaluation.version, "judge": evaluation.judge}),
                }
