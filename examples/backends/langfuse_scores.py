"""Sends the scores to Langfuse. Langfuse reads traces over OTLP, but no logs and no scores, so scores need its own API.

    rag_otel.instrument(writers=[LangfuseScores("https://cloud.langfuse.com", public_key=..., secret_key=...)])

Source: Langfuse's public API, `POST /api/public/scores`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from rag_otel.delivery.http import post, to_json
from rag_otel.model import EvaluatedTrace
from rag_otel.writers.annotations import annotations_of


class LangfuseScores:
    """A writer: one numeric score for each named score of a result, on the evaluated observation."""

    name = "langfuse"

    def __init__(self, address: str, *, public_key: str, secret_key: str, capture_content: bool = True) -> None:
        self._url = f"{address.rstrip('/')}/api/public/scores"
        key = base64.b64encode(f"{public_key}:{secret_key}".encode()).decode()
        self._headers = {"Authorization": f"Basic {key}"}
        self._capture_content = capture_content

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Raises RetryableError or PermanentError; rag-otel then sends the batch again, or counts it as lost."""
        for result in batch:
            for score in self._scores(result):
                post(self._url, to_json(score), headers=self._headers)

    def _scores(self, result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
        target = result.trace.target
        for item in annotations_of(result, capture_content=self._capture_content):
            if item.score is not None:
                yield {
                    # The same id again replaces the score, so a repeated batch stores it once.
                    "id": f"{target.trace_id}-{target.span_id}-{item.name}",
                    "traceId": target.trace_id,
                    "observationId": target.span_id,
                    "name": item.name,
                    "value": item.score,
                    "dataType": "NUMERIC",
                    "comment": item.explanation,
                    "metadata": dict(item.metadata),
                }
