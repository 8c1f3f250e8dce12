"""An application with real provider and exporter; its guards judge with the embedded judge, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Sampler

import rag_otel
from rag_otel.model import EvaluatedTrace
from testkit.settings import grouped
from tests.processing.kit import Results

PASSAGE = "The Eiffel Tower was completed in 1889. It is 330 metres tall."
GOOD = "The Eiffel Tower was completed in 1889."
BAD = "It was sold to a circus in Nevada in 1999."
ALSO_GOOD = "It is 330 metres tall."
ANSWER = f"{GOOD} {BAD} {ALSO_GOOD}"
PATIENT_S = 60.0
"""A deadline that no judge of these tests misses."""


class App:
    """What an application has: its provider, and what has left it."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.results = Results()
        self.provider = TracerProvider()

    def instrument(self, sampler: Sampler = DEFAULT_ON, **settings: Any) -> None:
        self.provider = TracerProvider(sampler=sampler)
        self.provider.add_span_processor(BatchSpanProcessor(self.exporter))
        rag_otel.instrument(self.provider, writers=[self.results], **grouped(**settings))

    def spans(self) -> list[dict[str, Any]]:
        """The attributes of every span, once all is evaluated, with its name as `name`."""
        assert rag_otel.flush(timeout=60, evaluate=True)
        finished = [*self.exporter.get_finished_spans()]
        self.exporter.clear()
        return [{"name": span.name, **(span.attributes or {})} for span in finished]

    def span(self) -> dict[str, Any]:
        """The attributes of the one span."""
        (span,) = self.spans()
        return span

    def evaluated(self) -> list[EvaluatedTrace]:
        """Every result that was delivered."""
        assert rag_otel.flush(timeout=60, evaluate=True)
        return self.results.all


@pytest.fixture
def app(uninstrumented: None) -> App:
    """An application without a set-up yet."""
    return App()


@pytest.fixture
def answering() -> Callable[..., Callable[..., Any]]:
    """A decorated function that answers with what it is given: `answering(guard=...)(ANSWER)`."""

    def make(**options: Any) -> Callable[..., Any]:
        @rag_otel.observe(**options)
        def answer(text: str, question: str = "How tall is the tower?") -> dict[str, Any]:
            return {"answer": text, "documents": [PASSAGE]}

        return answer

    return make
