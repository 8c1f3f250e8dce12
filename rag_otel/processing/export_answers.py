"""What the backend said to the last request of an application's OTLP exporter.

An exporter tells success or failure, not whether sending again is any use, and nothing of a partial success. The answer
itself is looked at where the exporter's parts let us: at the requests session of the HTTP exporter, at the stub of the
gRPC one. All private parts of exporters that are touched are touched here. Of any other exporter nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.sdk.trace.export import SpanExporter

from rag_otel.delivery import otlp_answer
from rag_otel.safety.guard import guarded


class ExportAnswers:
    """Listens to one exporter, which exports one batch at a time."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.refusal: str | None = None
        """What the backend said when it refused the last request for good."""
        self.rejected = 0
        """How many spans of the last request, which succeeded, it rejected."""
        self.reason = ""
        """Why."""
        self._undo: Callable[[], None] = _nothing
        with guarded("export_answers.listen"):
            self._listen(exporter)

    def forget(self) -> None:
        """A new request begins."""
        self.refusal, self.rejected, self.reason = None, 0, ""

    def close(self) -> None:
        """Listen no more. Safe to call twice."""
        undo, self._undo = self._undo, _nothing
        undo()

    def _listen(self, exporter: Any) -> None:
        client = getattr(exporter, "_client", None)
        session = getattr(exporter, "_session", None) or getattr(getattr(client, "_transport", None), "_session", None)
        hooks = getattr(session, "hooks", None)
        if isinstance(hooks, dict):
            hooks.setdefault("response", []).append(self._answered)
            self._undo = lambda: hooks["response"].remove(self._answered)
        elif callable(make := getattr(exporter, "_stub", None)) and hasattr(client, "Export"):
            # The exporter makes its stub anew when it connects again.
            exporter._stub = lambda channel: _ListeningStub(make(channel), self)
            exporter._client = _ListeningStub(client, self)

            def undo() -> None:
                exporter._stub, exporter._client = make, getattr(exporter._client, "stub", exporter._client)

            self._undo = undo

    def _answered(self, response: Any, *_: Any, **__: Any) -> None:
        """The hook of requests: every response, those of retries too; the last one counts."""
        with guarded("export_answers.http"):
            self.forget()
            if response.status_code in otlp_answer.HTTP_REFUSALS:
                self.refusal = otlp_answer.http_failure(response.status_code, response.content)
            elif response.ok:
                self.rejected, self.reason = otlp_answer.rejected_spans(response.content)

    def failed(self, error: Any) -> None:
        """The gRPC call raised."""
        with guarded("export_answers.grpc"):
            self.forget()
            if otlp_answer.grpc_refusal(error.code().name, error.details()):
                self.refusal = f"{error.code().name}: {error.details()}"

    def succeeded(self, answer: Any) -> None:
        """The gRPC call returned."""
        with guarded("export_answers.grpc"):
            self.forget()
            partial = answer.partial_success
            self.rejected, self.reason = int(partial.rejected_spans), str(partial.error_message)


class _ListeningStub:
    """The stub of the gRPC exporter."""

    def __init__(self, stub: Any, answers: ExportAnswers) -> None:
        self.stub = stub
        self._answers = answers

    def Export(self, *given: Any, **named: Any) -> Any:  # noqa: N802 - the method of the service
        try:
            answer = self.stub.Export(*given, **named)
        except Exception as error:
            self._answers.failed(error)
            raise
        self._answers.succeeded(answer)
        return answer


def _nothing() -> None:
    pass
