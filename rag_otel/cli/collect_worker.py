"""An evaluation process of `rag-otel collect`; started by it, not by hand."""

from __future__ import annotations

import dataclasses
from typing import Final

from rag_otel import privacy
from rag_otel.composition import EMBEDDED_PER_MINUTE, Parts, compose_attributes, compose_pipeline
from rag_otel.settings import Settings
from rag_otel.writers.attributes import status_attributes
from rag_otel_collectors.otlp.evaluation import TraceEvaluator
from rag_otel_collectors.otlp.worker import serve

_UNCAPPED: Final = frozenset({"embedded"})
"""Judges that cost nothing but the time of this process."""


def build(setup: tuple[Settings, int]) -> TraceEvaluator:
    """The evaluator of (settings, number of processes): each process has its share of the cap."""
    settings, processes = setup
    privacy.configure(capture_content=settings.capture_content)
    cap = settings.evaluations_per_minute
    if cap is None and settings.judge not in _UNCAPPED:
        cap = EMBEDDED_PER_MINUTE
    if cap is not None:
        settings = dataclasses.replace(settings, evaluations_per_minute=cap / processes)
    return TraceEvaluator(
        pipeline=compose_pipeline(settings, Parts(), default_cap=None),
        attributes=compose_attributes(settings),
        status_attributes=status_attributes,
        hold_s=settings.hold,
    )


if __name__ == "__main__":
    serve(build)
