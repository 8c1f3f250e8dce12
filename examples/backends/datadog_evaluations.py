"""Sends the scores to Datadog, as external evaluations of OpenTelemetry spans.

    rag_otel.instrument(writers=[DatadogEvaluations(api_key=..., ml_app="docs-bot")])

Source: Datadog's documentation, "External Evaluations" (API) and "OpenTelemetry Instrumentation": evaluations of such
spans need the tag `source:otel`, and ids as decimal numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rag_otel.delivery.http import post, to_json
from rag_otel.model import EvaluatedTrace
from rag_otel.writers.annotations import Annotation, annotations_of


class DatadogEvaluations:
    """A writer: one `score` metric for each named score of a result, on the evaluated span."""

    name = "datadog"

    def __init__(
        self, *, api_key: str, ml_app: str, site: str = "https://api.datadoghq.com", capture_content: bool = True
    ) -> None:
        self._url = f"{site.rstrip('/')}/api/intake/llm-obs/v2/eval-metric"
        self._headers = {"DD-API-KEY": api_key}
        self._ml_app = ml_app
        self._capture_content = capture_content

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Raises RetryableError or PermanentError; rag-otel then sends the batch again, or counts it as lost."""
        metrics = [metric for result in batch for metric in self._metrics(result)]
        if metrics:
            data = {"type": "evaluation_metric", "attributes": {"metrics": metrics}}
            post(self._url, to_json({"data": data}), headers=self._headers)

    def _metrics(self, result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
        for item in annotations_of(result, capture_content=self._capture_content):
            if item.score is not None:
                yield self._metric(result, item)

    def _metric(self, result: EvaluatedTrace, item: Annotation) -> dict[str, Any]:
        trace = result.trace
        ids = {"trace_id": str(int(trace.target.trace_id, 16)), "span_id": str(int(trace.target.span_id, 16))}
        told = {"reasoning": item.explanation} if item.explanation else {}
        return {
            "join_on": {"span": ids},
            "ml_app": self._ml_app,
            "timestamp_ms": (trace.start_ns + trace.duration_ns) // 1_000_000,
            "metric_type": "score",
            "label": item.name,
            "score_value": item.score,
            "tags": ["source:otel", f"judge:{item.metadata.get('judge', 'unknown')}"],
            **told,
        }
