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
from rag_otel.model import EvaluatedTrace
from rag_otel.writers.attributes import present
from rag_otel.writers.feedback import IDENTIFIER, annotator_kind, feedback
from rag_otel.writers.phoenix_links import phoenix_base_url

RESERVED_NAMES: Final = frozenset({"note"})
"""Phoenix refuses a whole batch for it."""


class PhoenixAnnotationWriter:
    """Writes `faithfulness`, `hallucination_risk`, ... on spans, and scores of chunks on their documents."""

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
        self._span_url = f"{base_url}/v1/span_annotations?sync=false"
        self._document_url = f"{base_url}/v1/document_annotations?sync=false"
        self._headers = {**({"Authorization": f"Bearer {api_key}"} if api_key else {}), **(headers or {})}
        self._capture_content = capture_content
        self._timeout_s = timeout_s

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Send the batch in at most two requests. Raises RetryableError or PermanentError, see `http.post`."""
        self._post(self._span_url, [row for result in batch for row in self._span_rows(result)])
        self._post(self._document_url, [row for result in batch for row in _document_rows(result)])

    def _post(self, url: str, rows: list[dict[str, Any]]) -> None:
        if rows:
            post(url, to_json({"data": rows}), headers=self._headers, timeout_s=self._timeout_s)

    def _span_rows(self, result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
        for item in feedback(result, capture_content=self._capture_content):
            if item.name not in RESERVED_NAMES:
                yield {
                    "span_id": result.trace.target.span_id,
                    "name": item.name,
                    "annotator_kind": item.annotator_kind,
                    "identifier": IDENTIFIER,
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
