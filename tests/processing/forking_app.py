"""An application that is served by forked workers: its tracing is set up where the module is imported.

Run as a WSGI application by gunicorn (`/ask/<name>` makes an observed call of that name), and used by the tests of
fork and spawn. RAG_TEST_SINK is the address of the OTLP receiver.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from rag_otel.processing.attach import attach
from tests.processing.kit import Bench, observed


class App:
    """Provider, exporter over real HTTP, judge."""

    def __init__(self, sink: str, **settings: Any) -> None:
        self.bench = Bench(settings=settings)
        self.provider = TracerProvider()
        # Exports only when flushed or shut down: what a process must not lose is then all there at once.
        self.provider.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{sink}/v1/traces"), schedule_delay_millis=600_000)
        )
        self.attachment = attach(self.provider, self.bench.runtime)

    def ask(self, name: str) -> None:
        """One observed call, in the process that it says."""
        with observed(self.provider, name, tags={"x": "y"}) as span:
            span.set_attribute("pid", os.getpid())

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.ask(environ["PATH_INFO"].removeprefix("/ask/"))
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]


def answer_in_a_child(sink: str, name: str) -> None:
    """The target of a spawned process."""
    app = App(sink)
    app.ask(name)
    app.provider.shutdown()


if "RAG_TEST_SINK" in os.environ:
    application = App(os.environ["RAG_TEST_SINK"])
    application.ask("at import")
