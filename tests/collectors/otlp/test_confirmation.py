"""A backend that responds before it stores, like Phoenix: spans are kept until the backend has stored them."""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel import semconv
from rag_otel.cli.demo.phoenix_server import start_phoenix
from testkit.collector import CollectorProcess, a_collector
from testkit.otlp_requests import a_request, a_span
from testkit.polling import eventually
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.server


class Queueing:
    """What a Phoenix does on the wire: spans wait in its memory, are stored while `storing` is set, and can be asked
    for. `end` is its death."""

    def __init__(self, port: int = 0) -> None:
        self.waiting: list[bytes] = []
        self.stored: list[bytes] = []
        self.taken = 0
        """Requests."""
        self.storing = True
        self.asked_status = 200
        self.refused: bytes | None = None
        """A span that it can never store."""
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def end(self) -> None:
        """Safe to call twice."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(backend) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = 200, b""
                if self.path == "/v1/traces":
                    backend._take(body)
                else:
                    status, answer = backend.asked_status, backend._answer(body)
                self.send_response(status)
                self.send_header("x-phoenix-server-version", "20.0.0")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        self.waiting += [s.span_id for r in request.resource_spans for c in r.scope_spans for s in c.spans]
        self.taken += 1

    def _answer(self, question: bytes) -> bytes:
        if self.storing:
            self.stored += [each for each in self.waiting if each not in (*self.stored, self.refused)]
            self.waiting.clear()
        asked = re.findall(r'(s\d+): getSpanByOtelId\(spanId: "(\w+)"\)', json.loads(question)["query"])
        has = {name: {"id": "x"} if bytes.fromhex(span) in self.stored else None for name, span in asked}
        return json.dumps({"data": has}).encode()


@contextmanager
def queueing(port: int = 0) -> Iterator[Queueing]:
    """Such a backend on loopback."""
    backend = Queueing(port)
    try:
        yield backend
    finally:
        backend.end()


def send(collector: CollectorProcess, backend: Queueing, spans: int) -> list[bytes]:
    """Sends spans that are not evaluated, one batch each. Returns the ids of acknowledged spans."""
    sent = []
    for number in range(spans):
        span = a_span(os.urandom(16), f"span {number}")
        before = backend.taken
        collector.export(a_request(span, scope="http"))
        eventually(lambda: backend.taken > before)  # noqa: B023 - called in this turn of the loop
        sent.append(span.span_id)
    return sent


def test_what_waits_in_the_backends_memory_is_kept(tmp_path: Path) -> None:
    """Accepted but not stored spans are not delivered when the collector ends. The next process sends them again."""
    with queueing() as backend:
        backend.storing = False
        arguments = ("--backend", backend.url, "--set", "drain_timeout=2")
        with a_collector(tmp_path, *arguments) as collector:
            spans = send(collector, backend, 2)
            eventually(lambda: collector.metric("unconfirmed_batches") == 2)
            assert collector.stop() == 1
        backend.waiting.clear()  # as if killed
        backend.storing = True
        with a_collector(tmp_path, *arguments) as collector:
            eventually(lambda: backend.stored == spans)
            assert collector.stop() == 0


def test_what_a_restart_has_forgotten_is_sent_again(tmp_path: Path) -> None:
    """However long they waited there, and although no new spans come."""
    with queueing() as first:
        first.storing = False
        with a_collector(tmp_path, "--backend", first.url) as collector:
            spans = send(collector, first, 3)
            first.end()
            eventually(lambda: collector.metric("backends_in_trouble") == 1)
            with queueing(first.port) as second:
                eventually(lambda: second.stored == spans)
                eventually(lambda: collector.metric("unconfirmed_batches") == 0)
                assert collector.metric("resent_batches_total") >= 3


def test_what_later_spans_have_overtaken_is_sent_again(tmp_path: Path) -> None:
    """An unnoticed restart: later spans are stored and earlier ones are not, so these are sent again."""
    with queueing() as backend, a_collector(tmp_path, "--backend", backend.url) as collector:
        backend.storing = False
        spans = send(collector, backend, 1)
        backend.waiting.clear()
        spans += send(collector, backend, 1)
        backend.storing = True
        eventually(lambda: sorted(backend.stored) == sorted(spans))
        eventually(lambda: collector.metric("unconfirmed_batches") == 0)


@pytest.mark.slow(reason="the collector gives a batch up only after several tries")
def test_what_can_never_be_stored_is_given_up(tmp_path: Path) -> None:
    """A span that never appears is sent several times, does not block the others, and is counted."""
    with queueing() as backend, a_collector(tmp_path, "--backend", backend.url) as collector:
        first = a_span(os.urandom(16), "never stored")
        backend.refused = first.span_id
        collector.export(a_request(first, scope="http"))
        eventually(lambda: backend.taken == 1)
        others = send(collector, backend, 1)
        eventually(lambda: collector.metric("unconfirmed_batches_total") == 1)
        assert backend.stored == others
        assert collector.metric("resent_batches_total") == 3 * 2
        assert collector.stop() == 0


def test_a_backend_that_cannot_be_asked_is_given_time(tmp_path: Path) -> None:
    """If a backend cannot be queried, it still gets everything, and sent spans are not kept forever."""
    with queueing() as backend:
        backend.asked_status = 404
        with a_collector(tmp_path, "--backend", backend.url) as collector:
            spans = send(collector, backend, 1)
            eventually(lambda: any("does not say what it has stored" in line for line in collector.lines))
            eventually(lambda: set(backend.waiting) == set(spans))
            assert collector.stop() == 0


@pytest.mark.long  # two starts of Phoenix, 40 s of CPU; the tests above do the same with a backend that is a script
@pytest.mark.phoenix
def test_a_phoenix_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Phoenix is killed with acknowledged spans in its memory. After its restart all of them are stored."""
    project = f"killed-{uuid.uuid4().hex[:8]}"
    wanted: set[str] = set()
    first = start_phoenix(tmp_path / "phoenix")
    with first, a_collector(tmp_path / "collector", "--backend", first.base_url) as collector:

        def more() -> bool:
            request = a_request(*(a_span(os.urandom(16), "work", attributes={"text": "x" * 1000}) for _ in range(200)))
            request.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
            collector.export(request)
            wanted.update(span.span_id.hex() for span in request.resource_spans[0].scope_spans[0].spans)
            return collector.metric("unconfirmed_batches") >= 1

        eventually(more)
        os.kill(first.pid, 9)
        first.wait()
        taken = collector.metric("sent_requests_total")
        with start_phoenix(tmp_path / "phoenix", port=first.port) as second:
            api = PhoenixApi(second.base_url)

            def stored() -> list[str]:
                return [span["context"]["span_id"] for span in api.spans(project)]

            # Asked of the collector, which asks seldom: reading all spans again and again keeps Phoenix from storing.
            eventually(lambda: collector.metric("sent_requests_total") > taken, within_s=120)
            eventually(lambda: collector.metric("unconfirmed_batches") == 0, within_s=240)
            eventually(lambda: len(stored()) >= len(wanted), within_s=400)
            assert sorted(stored()) == sorted(wanted)
            assert collector.stop() == 0
