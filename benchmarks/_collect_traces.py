"""What the collector's benchmarks send: RAG traces out of real passages, as OTLP requests."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.requests.wire import attribute_bytes

DATA = Path(__file__).parents[1] / "examples/data/ragtruth_qa_dev.jsonl"
TRACES_PER_REQUEST = 20
SPANS_PER_TRACE = 5
CHUNK_BYTES = 1000
CLAIMS = 6
UNFAITHFUL = 1 / 6


class Traces:
    """Makes RAG traces: 5 spans, 5 chunks of 1 kB, an answer of 6 claims, out of real passages.

    Answers are sentences of their own chunks; in one of six, as people found in the labelled data, one sentence comes
    from elsewhere.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
        texts = [" ".join(row["contexts"]) for row in rows]
        text = " ".join(texts)
        self._chunks = [text[at : at + CHUNK_BYTES] for at in range(0, len(text) - CHUNK_BYTES, CHUNK_BYTES)]
        self._sentences = _sentences(text)
        self._questions = [row["question"] for row in rows]

    def request(self, traces: int = TRACES_PER_REQUEST) -> bytes:
        """A serialised export request of so many traces."""
        message = ExportTraceServiceRequest()
        resource = message.resource_spans.add()
        resource.resource.attributes.add(key=semconv.SERVICE_NAME).value.string_value = "shop"
        scope = resource.scope_spans.add()
        scope.scope.name = "openinference.instrumentation.langchain"
        for _ in range(traces):
            scope.spans.extend(self._trace())
        return bytes(message.SerializeToString())

    def _trace(self) -> Iterator[Span]:
        trace_id, root = os.urandom(16), os.urandom(8)
        question = self._random.choice(self._questions)
        chunks = self._random.sample(self._chunks, 5)
        said = self._random.sample([s for chunk in chunks for s in _sentences(chunk)], CLAIMS)
        if self._random.random() < UNFAITHFUL:
            said[-1] = self._random.choice(self._sentences)
        answer = " ".join(said)
        documents = {f"{semconv.DOCUMENTS}.{n}.{semconv.DOCUMENT_CONTENT}": text for n, text in enumerate(chunks)}
        io = {semconv.INPUT_VALUE: question, semconv.OUTPUT_VALUE: answer}
        yield self._span(trace_id, root, "retrieve", semconv.KIND_RETRIEVER, documents)
        yield self._span(trace_id, root, "embed", semconv.KIND_EMBEDDING, {})
        yield self._span(trace_id, root, "prompt", semconv.KIND_CHAIN, {semconv.INPUT_VALUE: question})
        yield self._span(trace_id, root, "model", semconv.KIND_LLM, io)
        yield self._span(trace_id, b"", "answer", semconv.KIND_CHAIN, io, span_id=root)

    def _span(
        self, trace_id: bytes, parent: bytes, name: str, kind: str, more: dict[str, Any], span_id: bytes = b""
    ) -> Span:
        now = time.time_ns()
        span = Span(
            trace_id=trace_id,
            span_id=span_id or os.urandom(8),
            parent_span_id=parent,
            name=name,
            start_time_unix_nano=now - 10**9,
            end_time_unix_nano=now,
        )
        span.MergeFromString(attribute_bytes({semconv.SPAN_KIND: kind, **more}))
        return span


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if 40 < len(sentence) < 160]
