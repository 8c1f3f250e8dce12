"""An evaluation process of `rag-otel collect`; started by it, not by hand."""

from __future__ import annotations

import dataclasses
from typing import Final

from rag_otel.composition import Parts, compose_attributes, compose_pipeline
from rag_otel.safety import privacy
from rag_otel.settings import Settings
from rag_otel.writers.attributes import status_attributes
from rag_otel_collectors.otlp.evaluation.trace_evaluator import TraceEvaluator
from rag_otel_collectors.otlp.evaluation.worker_process import serve
from rag_otel_evaluators.cooperative import time_slice

_SLICE_S: Final = 0.005
"""Nobody is waiting in this process but other traces and the clock."""


def build(setup: tuple[Settings, int]) -> TraceEvaluator:
    """The evaluator of (settings, number of processes): each process has its share of the cap."""
    settings, processes = setup
    privacy.configure(capture_content=settings.capture_content)
    if settings.evaluations_per_minute is not None:
        settings = dataclasses.replace(settings, evaluations_per_minute=settings.evaluations_per_minute / processes)
    return TraceEvaluator(
        pipeline=compose_pipeline(settings, Parts(), default_cap=None),
        attributes=compose_attributes(settings),
        status_attributes=status_attributes,
        hold_s=settings.hold,
    )


if __name__ == "__main__":
    with time_slice(_SLICE_S):
        serve(build)
