"""Damaged requests: each gets a response, without crashes, hangs or growing memory."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.errors import InputError
from rag_otel.sampling.amount import RatioSampler
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.otlp.assembly.live_traces import LiveTraces
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.receivers.bodies import gunzip
from rag_otel_collectors.otlp.receivers.intake import Intake, RefusedError
from rag_otel_collectors.otlp.requests.json_request import parse_json
from rag_otel_collectors.otlp.requests.span_records import span_records
from rag_otel_collectors.otlp.requests.wire import split
from testkit.damaged_requests import JSON, mutations
from testkit.size import examples
from tests.support.journals import a_journal

REQUESTS = 5_000
MAX_BYTES = 2**20


class Door:
    """The intake without servers and without delivery."""

    def __init__(self, folder: Path) -> None:
        self.live = LiveTraces(max_traces=100, max_bytes=10**6)
        self.outbox = Outbox(folder / "outbox", ["one"], segment_bytes=2**16)
        self.intake = Intake(
            conventions=default_conventions(),
            sampler=RatioSampler(1.0),
            live=self.live,
            journal=a_journal(folder / "journal", segment_bytes=2**16),
            outbox=self.outbox,
            metrics=Metrics(),
            max_disk_bytes=4 * 2**20,
            max_held_bytes=10**6,
        )

    def knock(self, body: bytes, form: str, encoding: str) -> str:
        try:
            if encoding == "gzip":
                body = gunzip(body, MAX_BYTES)
            self.intake.accept(parse_json(body).SerializeToString() if form == JSON else body)
        except InputError:
            return "invalid"
        except RefusedError as error:
            return error.reason
        return "accepted"


@pytest.mark.parametrize("seed", [1, 2])
async def test_damaged_requests_are_answered_and_bounded(tmp_path: Path, seed: int) -> None:
    """Thousands of mutations of valid requests. Accepted ones can be read, and the bounds hold."""
    door = Door(tmp_path)
    answers = [door.knock(*request) for request in itertools.islice(mutations(seed), REQUESTS)]
    assert {"accepted", "invalid"} <= set(answers)
    assert answers.count("accepted") > 50
    assert door.live.held_bytes <= 10**6
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.log")) < 5 * 2**20
    for trace in door.live.drain():
        assert span_records(trace.trace_id.hex(), trace.slices, trace.outlines)
    reader = door.outbox.readers["one"]
    while not reader.idle:
        batch = await reader.next(10**9)
        assert all(split(request) for request in batch.requests)
        reader.delivered(batch.end)


@settings(max_examples=examples(500), deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_request_or_an_input_error(body: bytes) -> None:
    """As JSON and as gzip. No other error is raised."""
    for read in (parse_json, lambda each: gunzip(each, 1000)):
        try:
            read(body)
        except InputError:
            continue


KEYS = [
    *("resourceSpans", "scopeSpans", "spans", "resource", "scope", "attributes", "key", "value", "traceId", "spanId"),
    *("name", "kind", "status", "code", "events", "links", "flags", "startTimeUnixNano", "stringValue", "intValue"),
    *("doubleValue", "boolValue", "arrayValue", "kvlistValue", "bytesValue", "values", "parentSpanId"),
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), JSON_VALUES, max_size=6), st.lists(JSON_VALUES, max_size=3))
def test_any_json_is_a_request_or_an_input_error(top: dict[str, object], spans: list[object]) -> None:
    """Objects with OTLP's field names and values of any type."""
    for request in (top, {"resourceSpans": [{"scopeSpans": [{"spans": spans, **top}], **top}]}):
        try:
            parse_json(json.dumps(request).encode())
        except InputError:
            continue
