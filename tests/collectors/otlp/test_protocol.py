"""The collector's responses: success, partial success, and errors."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from rag_otel import semconv
from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE
from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually

pytestmark = pytest.mark.server


PROTOBUF = "application/x-protobuf"
JSON = "application/json"


def post(collector: CollectorProcess, body: bytes, content_type: str = PROTOBUF, **headers: str) -> tuple[int, Any]:
    """(status, response with headers) of a POST to /v1/traces."""
    fields = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(f"{collector.http_address}/v1/traces", body, fields, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def trace_with_ids(trace_id: str, span_id: str, name: str) -> bytes:
    span = {"traceId": trace_id, "spanId": span_id, "name": name, "startTimeUnixNano": "1", "endTimeUnixNano": 2}
    request = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": [span]}], "later": {"x": 1}}]}
    return json.dumps(request).encode()


def test_success_is_an_empty_answer_of_the_same_type(collector: CollectorProcess) -> None:
    """Protobuf for protobuf, JSON for JSON, also for an empty request."""
    assert post(collector, b"") == (200, b"")
    assert post(collector, b"{}", JSON) == (200, b"{}")
    assert post(collector, a_request(*a_rag_trace()).SerializeToString()) == (200, b"")


def test_json_keeps_ids_and_numbers(collector: CollectorProcess, backend: Backend) -> None:
    """Ids are hex, integers are strings or numbers, unknown fields are ignored, a lone surrogate is replaced."""
    body = trace_with_ids("5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174", "json ids \\ud83d")
    body = body.replace(b"\\\\ud83d", b"\\ud83d")
    assert post(collector, body, JSON)[0] == 200
    (span,) = eventually(lambda: [span for span in backend.spans() if span.name.startswith("json ids")])
    assert span.trace_id.hex() == "5b8efff798038103d269b633813fc60c"
    assert span.span_id.hex() == "eee19b7ec3c1b174"
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1, 2)
    assert span.name == "json ids ?"


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "status"),
    [
        (b"\x0a\xff", PROTOBUF, "identity", 400),
        (b"{", JSON, "identity", 400),
        (b"[]", JSON, "identity", 400),
        (b'{"resourceSpans": [{"scopeSpans": 5}]}', JSON, "identity", 400),
        (b'{"resourceSpans": "x"}', JSON, "identity", 400),
        (b"[" * 100_000, JSON, "identity", 400),
        (b"not gzip", PROTOBUF, "gzip", 400),
        (gzip.compress(b"\x0a\x00" * 100, mtime=0)[:-12], PROTOBUF, "gzip", 400),
        (b"", "text/plain", "identity", 415),
        (b"", PROTOBUF, "br", 415),
    ],
)
def test_what_is_no_request_is_refused_for_good(
    collector: CollectorProcess, body: bytes, content_type: str, encoding: str, status: int
) -> None:
    """The status is a client error, so that the exporter does not retry."""
    assert post(collector, body, content_type, Content_Encoding=encoding)[0] == status


def test_malformed_protobuf_over_grpc_is_an_invalid_argument(collector: CollectorProcess) -> None:
    """Exporters do not retry this status."""
    with pytest.raises(grpc.RpcError) as caught:
        collector.export(b"\x0a\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("size", [20 * 2**20, 200 * 2**20])
def test_a_decompression_bomb_does_no_harm(collector: CollectorProcess, size: int) -> None:
    """It is rejected as soon as it is too large, and memory does not grow."""
    before = resident_mb(collector)
    bomb = gzip.compress(b"\x0a" * size, 9)
    assert len(bomb) < size / 500
    assert post(collector, bomb, Content_Encoding="gzip")[0] == 413
    with pytest.raises(grpc.RpcError) as caught:
        collector.export(bomb)  # as a gRPC client sends it: with a flag, and these bytes
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert resident_mb(collector) - before < 60


def resident_mb(collector: CollectorProcess) -> float:
    with open(f"/proc/{collector.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def test_an_oversized_request_is_refused_before_it_is_read(collector: CollectorProcess) -> None:
    """Over HTTP because of its Content-Length, over gRPC by gRPC itself."""
    with socket.create_connection(("127.0.0.1", collector.http_port), timeout=60) as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {10**9}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    with pytest.raises(grpc.RpcError) as caught:
        collector.export(b"\x0a" * (17 * 2**20))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_slow_clients_do_not_hold_up_others(collector: CollectorProcess, backend: Backend) -> None:
    """Two hundred connections send half a request each, and an exporter is still served."""
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: 1000\r\n\r\n".encode()
    slow = [socket.create_connection(("127.0.0.1", collector.http_port), timeout=60) for _ in range(200)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(head[: 20 + number])
        trace = a_rag_trace()
        assert post(collector, a_request(*trace).SerializeToString())[0] == 200
        eventually(lambda: trace[1].span_id in backend.ids())
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.slow(reason="waits for the time limit of calls that send nothing, which it is about")
def test_calls_that_send_no_body_do_not_hold_up_others(tmp_path: Path) -> None:
    """The maximum number of calls have begun and send nothing. A further call is still accepted."""
    places = 4
    with (
        a_backend() as backend,
        a_collector(tmp_path, "--backend", backend.address, "--set", "max_request_bytes=60000000") as collector,
        grpc.insecure_channel(collector.grpc_address) as channel,
    ):
        ended = threading.Event()

        def nothing() -> Iterator[bytes]:
            ended.wait(60)
            return
            yield b""

        export = channel.stream_unary(f"/{SERVICE}/Export")
        calls = [export.future(nothing(), timeout=60) for _ in range(places)]
        try:
            taken = a_span(b"\x77" * 16, "taken")
            collector.export(a_request(taken, scope="http"))
            eventually(lambda: taken.span_id in backend.ids())
            codes = {call.code() for call in calls}  # waits for their ends
            assert codes == {grpc.StatusCode.UNAVAILABLE}
            assert collector.metric("refused_requests_total", reason="too_many_requests") == places
        finally:
            ended.set()


def test_malformed_spans_are_a_partial_success(collector: CollectorProcess, backend: Backend) -> None:
    """They are counted in the response, and the others are forwarded."""
    good = a_span(b"\x07" * 16, "good neighbour")
    bad = [a_span(b"short", "bad"), a_span(bytes(16), "bad"), a_span(b"\x07" * 16, "bad", span_id=b"\x01")]
    status, body = post(collector, a_request(good, *bad).SerializeToString())
    answer = ExportTraceServiceResponse.FromString(body)
    assert (status, answer.partial_success.rejected_spans) == (200, 3)
    assert "trace_id" in answer.partial_success.error_message
    assert ExportTraceServiceResponse.FromString(collector.export(a_request(*bad))).partial_success.rejected_spans == 3
    eventually(lambda: backend.attributes("good neighbour"))
    assert not backend.attributes("bad")
    assert collector.metric("rejected_spans_total") >= 6


def test_probes_and_metrics(collector: CollectorProcess) -> None:
    """The endpoints for liveness, readiness and metrics."""
    assert collector.get("/healthz") == (200, "ok\n")
    assert collector.get("/readyz") == (200, "ready\n")
    assert collector.get("/nothing")[0] == 404
    assert collector.get("/v1/traces")[0] == 405
    assert "# TYPE rag_otel_collector_requests_total counter" in collector.get("/metrics")[1]


def test_late_spans_go_on_at_once_and_are_not_evaluated_again(collector: CollectorProcess, backend: Backend) -> None:
    """A span of a released trace is counted with its delay and forwarded unchanged."""
    trace = a_rag_trace()
    collector.export(a_request(*trace))
    eventually(lambda: trace[1].span_id in backend.ids())
    late_before = collector.metric("passed_spans_total", reason="late")
    again = a_rag_trace(trace[0].trace_id)
    again[1].name = "late answer"
    collector.export(a_request(*again))
    (attributes,) = eventually(lambda: backend.attributes("late answer"))
    assert SCORE not in attributes
    assert collector.metric("passed_spans_total", reason="late") == late_before + 2


def test_what_is_no_rag_goes_on_unmarked(collector: CollectorProcess, backend: Backend) -> None:
    """Spans of a web server, of evaluators, and of an application that evaluates in process."""
    web = a_span(b"\x21" * 16, "GET /")
    evaluator = a_span(b"\x22" * 16, "evaluator", attributes={semconv.SPAN_KIND: semconv.KIND_EVALUATOR})
    collector.export(a_request(web, scope="http"))
    collector.export(a_request(evaluator))
    own = a_rag_trace()
    own[1].name = "evaluated in process"
    own[1].attributes.add(key=semconv.STATUS).value.string_value = "evaluated"
    collector.export(a_request(*own))
    for name in ("GET /", "evaluator", "evaluated in process"):
        (attributes,) = eventually(lambda name=name: backend.attributes(name))  # type: ignore[misc]
        assert SCORE not in attributes
        assert semconv.SAMPLING_REASON not in attributes


def test_what_an_evaluator_does_is_no_traffic(collector: CollectorProcess, backend: Backend) -> None:
    """A judge's span is forwarded at once. The chain and the retrieval below it, as a judge with tools has them, go on
    unmarked."""
    chain = a_rag_trace()
    judge = a_span(chain[0].trace_id, "judge", attributes={semconv.SPAN_KIND: semconv.KIND_EVALUATOR})
    chain[1].parent_span_id = judge.span_id
    chain[1].name = "below a judge"
    collector.export(a_request(judge, scope="phoenix.server"))
    collector.export(a_request(*chain))
    (attributes,) = eventually(lambda: backend.attributes("below a judge"))
    assert SCORE not in attributes
    assert semconv.STATUS not in attributes


def test_a_web_servers_span_ends_the_trace(collector: CollectorProcess, backend: Backend) -> None:
    """The chain's parent is not part of the RAG trace: it is forwarded at once, and the trace is complete without a
    timeout."""
    chain = a_rag_trace()
    server = a_span(chain[0].trace_id, "POST /ask")
    chain[1].parent_span_id = server.span_id
    chain[1].name = "asked over HTTP"
    request = a_request(*chain)
    request.resource_spans.extend(a_request(server, scope="opentelemetry.instrumentation.asgi").resource_spans)
    collector.export(request)
    (attributes,) = eventually(lambda: backend.attributes("asked over HTTP"))
    assert attributes[SCORE] == 1.0


def test_an_unevaluable_trace_says_why(collector: CollectorProcess, backend: Backend) -> None:
    """Its target has a status and a reason, and no score."""
    trace = a_rag_trace(answer="")
    trace[1].name = "no answer"
    collector.export(a_request(*trace))
    (attributes,) = eventually(lambda: backend.attributes("no answer"))
    assert attributes[semconv.STATUS] == "skipped"
    assert attributes[semconv.STATUS_REASON] == "no_response"
    assert SCORE not in attributes


def test_a_trace_without_a_root_is_released_when_idle(collector: CollectorProcess, backend: Backend) -> None:
    """Its parent never arrives. After the idle time it is evaluated."""
    trace = a_rag_trace()
    trace[1].parent_span_id = b"\x01" * 8
    trace[1].name = "orphan"
    collector.export(a_request(*trace))
    (attributes,) = eventually(lambda: backend.attributes("orphan"))
    assert attributes[SCORE] == 1.0
    assert collector.metric("released_traces_total", cause="idle") >= 1
