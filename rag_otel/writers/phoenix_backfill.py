"""The writer of backfill into Phoenix: annotations, and evaluation spans that hold the claims.

Stored spans cannot be changed in Phoenix, so the claims of a stored trace are written to a new span below the target.
Its span id is a hash of its content, and Phoenix ignores a second span with the same id. So a repeated write changes
nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.model import EvaluatedTrace, EvaluationStatus
from rag_otel.writers.evaluation_span import EvaluationSpanWriter
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel.writers.phoenix_api import PhoenixApi


class PhoenixBackfillWriter:
    """Writes results of stored traces into one project of Phoenix."""

    name = "phoenix_backfill"

    def __init__(
        self,
        endpoint: str,
        *,
        project: str,
        api_key: str | None = None,
        capture_content: bool = True,
        timeout_s: float = 10.0,
    ) -> None:
        """`endpoint` is Phoenix's address (`http://host:6006`). `api_key` is sent as a bearer token."""
        self._annotations = PhoenixAnnotationWriter(
            endpoint, api_key=api_key, capture_content=capture_content, timeout_s=timeout_s
        )
        self._spans: list[ReadableSpan] = []
        resource = Resource({semconv.PROJECT_NAME: project})
        self._evaluation_spans = EvaluationSpanWriter(
            self._spans.append, lambda: resource, capture_content=capture_content
        )
        self._api = PhoenixApi(endpoint, api_key=api_key, timeout_s=timeout_s)

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Sends the spans, then the annotations. Raises RetryableError or PermanentError, see `http.post`."""
        self.write_spans(batch)
        self.write_annotations(batch)

    def write_spans(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Sends the evaluation spans in one request. Raises what `write` raises."""
        self._spans.clear()
        # The target is already stored, so the evaluation span carries the attributes.
        self._evaluation_spans.write([dataclasses.replace(each, status=EvaluationStatus.LATE) for each in batch])
        if self._spans:
            request = encode_spans(self._spans).SerializeToString()
            self._api.post("/v1/traces", request, content_type="application/x-protobuf")

    def write_annotations(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Sends the annotations of spans, traces and documents. Raises what `write` raises."""
        self._annotations.write(batch)
