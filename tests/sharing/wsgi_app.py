"""A WSGI application whose answers get a score by their name: `/ask/good`, `/ask/bad`. Run by gunicorn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.model import Chunk, Evaluation


class ByWord:
    """`good` answers score 1, others .4."""

    name, judge_name, version = "faithfulness", "function", "1"

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        return Evaluation(name=self.name, score=1.0 if "good" in response else 0.4, evaluator="ByWord", version="1")


@rag_otel.observe
def ask(question: str, number: str) -> dict[str, object]:
    """The application."""
    return {"answer": f"A {question} answer.", "contexts": [f"The moon orbits the earth. {number}"]}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    _, _, question, number = environ["PATH_INFO"].split("/")
    ask(question, number)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]


if "RAG_TEST_HOOK" in os.environ:
    rag_otel.instrument(
        TracerProvider(),
        metrics=[],
        evaluators=[ByWord()],
        alerts=rag_otel.AlertSettings(webhook_url=os.environ["RAG_TEST_HOOK"], rules=["score<0"], digest=0),
        state_folder=os.environ["RAG_TEST_STATE"],
        telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=os.environ["RAG_TEST_METRICS"]),
        evaluations_per_minute=1e6,
        drift=rag_otel.DriftSettings(baseline_count=100, judge_watch=False),
        spans=rag_otel.SpanSettings(annotations=False),
    )
